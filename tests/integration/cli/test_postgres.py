"""Embedded PostgreSQL: durable, private, and as root nobody's folder is opened."""

import signal
import stat
import subprocess
from pathlib import Path
from typing import NoReturn

import asyncpg
import pytest

from cli.stack import reach
from cli.stack.errors import StackError
from cli.stack.postgres import MAJOR, EmbeddedPostgres, _installed

as_root = pytest.mark.skipif(
    not reach.is_root(), reason="PostgreSQL changes its user only for root"
)


def _modes(folder: Path) -> dict[Path, int]:
    return {parent: parent.stat().st_mode for parent in folder.parents}


async def test_a_commit_is_durable_and_survives_a_stop(open_folder: Path) -> None:
    """What was committed is there at the next start; `synchronous_commit` is on."""
    with EmbeddedPostgres(open_folder / "pg") as server:
        connection = await asyncpg.connect(server.dsn())
        assert await connection.fetchval("SHOW synchronous_commit") == "on"
        assert await connection.fetchval("SHOW fsync") == "on"
        assert (
            await connection.fetchval("SELECT current_setting('server_version_num')::int / 10000")
            == MAJOR
        )
        await connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
        await connection.close()
    async with EmbeddedPostgres(open_folder / "pg") as server:
        connection = await asyncpg.connect(server.dsn())
        assert await connection.fetchval("SELECT one FROM kept") == 1
        await connection.close()


async def test_letters_are_compared_alike_on_every_machine(open_folder: Path) -> None:
    """Without the caller's locale: `João` is found in any case."""
    with EmbeddedPostgres(open_folder / "pg", fsync=False) as server:
        connection = await asyncpg.connect(server.dsn())
        assert await connection.fetchval("SELECT lower('JOÃO')") == "joão"
        await connection.close()


def test_no_other_user_gets_in_and_no_parent_is_opened(open_folder: Path) -> None:
    """The folder is private, no port is open, and every folder above keeps its mode."""
    before = _modes(open_folder / "pg") | _modes(_installed() / "bin")
    with EmbeddedPostgres(open_folder / "pg", fsync=False) as server:
        assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(server.socket_folder.stat().st_mode) == 0o700
        assert "listen_addresses=" in server.child._command
    assert {path: path.stat().st_mode for path in before} == before


def test_a_long_path_gets_a_short_socket(open_folder: Path) -> None:
    """A Unix socket's path may have 104 bytes; a deep clone must work all the same."""
    folder = open_folder / ("long" * 30)
    with EmbeddedPostgres(folder / "pg", fsync=False) as server:
        assert not server.socket_folder.is_relative_to(folder)
        assert stat.S_IMODE(server.socket_folder.stat().st_mode) == 0o700
    assert not server.socket_folder.exists()


def test_an_interrupted_first_start_is_made_good(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the first second leaves half a database, which the next start must not take."""

    def interrupted(command: list[str], **_options: object) -> NoReturn:
        folder = Path(next(part for part in command if "--pgdata=" in part).partition("=")[2])
        folder.mkdir(exist_ok=True)
        (folder / "PG_VERSION").write_text(f"{MAJOR}\n", encoding="ascii")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            EmbeddedPostgres(open_folder / "pg").start()
    with EmbeddedPostgres(open_folder / "pg", fsync=False) as server:
        assert server.child.exit_code is None


def test_data_of_another_major_version_is_refused(open_folder: Path) -> None:
    """The server would not start on it; the message says what to do."""
    with EmbeddedPostgres(open_folder / "pg", fsync=False):
        pass
    (open_folder / "pg" / "data" / "PG_VERSION").write_text("12\n", encoding="ascii")
    with pytest.raises(StackError, match=r"made by PostgreSQL 12.*pg_dump"):
        EmbeddedPostgres(open_folder / "pg").start()


@as_root
def test_a_closed_parent_is_refused_and_left_closed(open_folder: Path) -> None:
    """As root: a private home above the data stays private."""
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    (home / "repo").mkdir()
    with pytest.raises(StackError, match=rf"may not enter {home}.*AVAL_DATA"):
        EmbeddedPostgres(home / "repo" / "pg").start()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert not (home / "repo" / "pg").exists()


@as_root
def test_data_below_a_closed_home_goes_to_a_system_folder(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root in a private home `aval up` still starts, each data folder with its own place."""
    monkeypatch.setattr(reach, "SYSTEM_FOLDER", open_folder / "system")
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    first, second = (reach.data_folder(home / name) for name in ("one", "two"))
    assert first.is_relative_to(open_folder / "system")
    assert first != second
    assert reach.data_folder(open_folder / "open") == open_folder / "open" / "postgres"
    (home / "one" / "postgres").mkdir(parents=True)
    assert reach.data_folder(home / "one") == home / "one" / "postgres", "an ordinary user's data"


@as_root
def test_unreachable_binaries_are_copied_not_opened(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root with `.venv` in a private home: the server runs from a copy."""
    monkeypatch.setattr(reach, "SYSTEM_FOLDER", open_folder / "system")
    monkeypatch.setattr(reach, "_all_open", lambda _installed: False)
    installed = _installed()
    copy = reach.reachable_binaries(installed)
    assert copy.is_relative_to(open_folder / "system")
    assert reach.reachable_binaries(installed) == copy
    with EmbeddedPostgres(open_folder / "pg", fsync=False) as server:
        assert server.psql().startswith(str(copy))


@as_root
def test_another_users_data_is_not_taken_over(open_folder: Path) -> None:
    """After a run as an ordinary user, root must not turn the data into `pgserver`'s."""
    (open_folder / "pg").mkdir(mode=0o700)
    with pytest.raises(StackError, match=r"belongs to user 0, not"):
        EmbeddedPostgres(open_folder / "pg").start()


def test_a_server_that_still_runs_is_waited_for_then_named(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two servers never share a folder; one that is stopping only delays the next start."""
    monkeypatch.setattr("cli.stack.postgres._OLDER_STOPS_WITHIN_S", 0.2)
    with EmbeddedPostgres(open_folder / "pg", fsync=False) as first:
        with pytest.raises(StackError, match=rf"another PostgreSQL \(process {first.child.pid}\)"):
            EmbeddedPostgres(open_folder / "pg", fsync=False).start()
        monkeypatch.setattr("cli.stack.postgres._OLDER_STOPS_WITHIN_S", 10.0)
        first.child._process.send_signal(signal.SIGINT)  # type: ignore[union-attr]  # it runs
        with EmbeddedPostgres(open_folder / "pg", fsync=False) as second:
            assert second.child.exit_code is None
