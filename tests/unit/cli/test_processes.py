"""Children start, are waited for, and never outlive whoever started them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.stack.errors import PartError, StackError
from cli.stack.processes import Child, says

ROOT = Path(__file__).parents[3]


def _child(tmp_path: Path, code: str, *, ready: str = "here") -> Child:
    return Child(
        "Part",
        [sys.executable, "-u", "-c", code],
        log=tmp_path / "part.log",
        environment={},
        ready=says(ready),
    )


def test_a_child_that_dies_is_named_with_its_last_words(tmp_path: Path) -> None:
    """Whoever started it is told which part, how it ended, and why."""
    child = _child(tmp_path, "print('no such table'); raise SystemExit(3)")
    with pytest.raises(PartError, match=r"(?s)Part ended .*exit code 3.*no such table"):
        child.start()


def test_a_child_that_is_never_ready_is_stopped(tmp_path: Path) -> None:
    """A part that hangs at its start is not left behind."""
    child = _child(tmp_path, "import time; print('waiting'); time.sleep(60)")
    with pytest.raises(PartError, match=r"(?s)not ready within.*waiting"):
        child.start(within_s=0.5)
    assert child.exit_code is not None


def test_a_child_that_does_not_obey_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopping ends, whatever the child does with the signal."""
    monkeypatch.setattr("cli.stack.processes.KILL_AFTER_S", 0.3)
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('here'); time.sleep(60)"
    child = _child(tmp_path, code)
    child.start()
    child.stop()
    assert child.exit_code == -signal.SIGKILL


def test_an_older_run_s_words_do_not_make_a_child_ready(tmp_path: Path) -> None:
    """The log goes on over restarts; only what this start wrote counts."""
    with _child(tmp_path, "import time; print('here'); time.sleep(60)"):
        pass
    with pytest.raises(PartError):
        _child(tmp_path, "print('gone')").start()


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    """Not found is said as one sentence, without a traceback."""
    child = Child(
        "Part",
        ["/nonexistent/program"],
        log=tmp_path / "log",
        environment={},
        ready=says("x"),
    )
    with pytest.raises(StackError, match=r"Part: '/nonexistent/program': No such file"):
        child.start()


def test_what_a_child_writes_is_for_its_own_user_alone(tmp_path: Path) -> None:
    """Files of simulators and servers hold what people wrote."""
    code = (
        f"open({str(tmp_path / 'made')!r}, 'w').close(); print('here'); import time; time.sleep(9)"
    )
    with _child(tmp_path, code):
        assert (tmp_path / "made").stat().st_mode & 0o077 == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tie a child to its parent")
def test_a_killed_parent_takes_its_children_along(tmp_path: Path) -> None:
    """After SIGKILL of `aval up` no part holds a port or a folder."""
    parent = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-u", "-c", _PARENT, str(tmp_path / "log")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    until = time.monotonic() + 5
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _runs(child)


_PARENT = """
import sys, time
from pathlib import Path
from cli.stack.processes import Child, says
code = "import time; print('here'); time.sleep(60)"
child = Child("Part", [sys.executable, "-u", "-c", code], log=Path(sys.argv[1]), environment={},
              ready=says("here"))
child.start()
print(child.pid)
time.sleep(60)
"""


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")
