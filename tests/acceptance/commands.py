"""Starts `aval` as a newcomer does: a process with an environment and a folder of its own."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def open_folder() -> Iterator[Path]:
    """An empty folder that `pgserver` can reach where tests run as root; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="aval-acceptance-", dir="/var/tmp")).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def start(
    folder: Path, *argv: str, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """`aval ...` in `folder`, its output into the file `out` there."""
    with (folder / "out").open("w", encoding="utf-8") as out:
        return subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "cli.main", *argv],
            cwd=folder,
            env={**_clean(), "PYTHONPATH": str(ROOT), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
        )


def _clean() -> dict[str, str]:
    """This process's environment without what other tests may have set in it."""
    ours = ("AVAL_", "ANTHROPIC_", "TEMPORAL_", "SIM_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def said(folder: Path) -> str:
    """What the last command in `folder` has printed."""
    return (folder / "out").read_text(encoding="utf-8")


def wait_for(process: subprocess.Popen[str], folder: Path, words: str, *, seconds: float) -> None:
    """Wait until the command has printed these words; fail if it ends before."""
    until = time.monotonic() + seconds
    while words not in said(folder):
        assert process.poll() is None, said(folder)
        assert time.monotonic() < until, f"no {words!r} within {seconds} s: {said(folder)}"
        time.sleep(0.05)


def interrupt(process: subprocess.Popen[str]) -> int:
    """Press Ctrl-C, and the exit code."""
    process.send_signal(signal.SIGINT)
    return process.wait(timeout=40)
