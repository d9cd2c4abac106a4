"""Child processes that start, are waited for, and end with whoever started them.

Each runs in its own session: Ctrl-C reaches only the parent, which then stops the parts in the
right order. A parent that is killed without warning takes its children along where the system can
(Linux); otherwise they would hold the ports of the next start.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from cli.stack.errors import PartError, StackError

POLL_S = 0.02  # how long a part that is ready waits to be noticed
KILL_AFTER_S = 12.0  # longer than the API's ten seconds for requests under way
LOG_LINES = 8  # of a dead part's log: the reason stands in its last lines
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True, kw_only=True)
class SystemUser:
    """The user that a child runs as."""

    name: str
    uid: int
    gid: int


class Child:
    """One process. Start it from a thread that lives as long as the child may: on Linux the child
    gets `stop_signal` when that thread ends."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        environment: Mapping[str, str],
        ready: Callable[["Child"], bool],
        folder: Path | None = None,
        user: SystemUser | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        """`ready` is asked again and again until it says yes; `folder` is the working directory."""
        self.name = name
        self.log = log
        self._command = [str(part) for part in command]
        self._environment = dict(environment)
        self._ready = ready
        self._folder = folder
        self._user = user
        self._stop_signal = stop_signal
        self._log_from = 0
        self._process: subprocess.Popen[bytes] | None = None

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

    @property
    def pid(self) -> int:
        """The process id. Raises LookupError before the start."""
        if self._process is None:
            raise LookupError(f"{self.name!r} is not started")
        return self._process.pid

    @property
    def started(self) -> bool:
        """Whether it was ever started."""
        return self._process is not None

    @property
    def exit_code(self) -> int | None:
        """How it ended (minus the signal's number if by one), None while it runs."""
        return None if self._process is None else self._process.poll()

    def start(self, *, within_s: float = 30.0) -> None:
        """Start it and wait until it is ready. Raises PartError if it dies or takes longer than
        `within_s` seconds; it is stopped then."""
        try:
            self.spawn()
            self.wait_ready(within_s=within_s)
        except BaseException:
            self.stop()
            raise

    def spawn(self) -> None:
        """Start it without waiting. Raises StackError if the program cannot be run."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._log_from = log.tell()
            try:
                self._process = self._popen(log.fileno())
            except OSError as error:
                raise StackError(f"{self.name}: {self._command[0]!r}: {error.strerror}") from error

    def _popen(self, log: int) -> subprocess.Popen[bytes]:
        who = self._user
        return subprocess.Popen(  # noqa: S603 - no shell; the commands are the stack's own
            self._command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            umask=0o077,  # what a part writes is for its own user alone
            user=who.uid if who else None,
            group=who.gid if who else None,
            extra_groups=[] if who else None,
            preexec_fn=self._end_with_parent if _libc else None,
        )

    def _end_with_parent(self) -> None:
        assert _libc is not None
        _libc.prctl(_PR_SET_PDEATHSIG, int(self._stop_signal))

    def wait_ready(self, *, within_s: float = 30.0) -> None:
        """Wait until it is ready. Raises PartError if it dies or takes longer."""
        until = time.monotonic() + within_s
        while not self._ready(self):
            if self.exit_code is not None:
                raise PartError(self.obituary())
            if time.monotonic() > until:
                raise PartError(
                    f"{self.name} was not ready within {within_s:.0f} s; its log ends:\n"
                    f"{self.last_lines()}"
                )
            time.sleep(POLL_S)

    def stop(self) -> None:
        """Ask it to end, wait, kill it if it does not. Nothing if it does not run."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(self._stop_signal)
        try:
            self._process.wait(KILL_AFTER_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it and whatever it started, without warning."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def said(self) -> str:
        """What it has written to its log since this start."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as log:
            log.seek(self._log_from)
            return log.read().decode(errors="replace")

    def last_lines(self) -> str:
        """The last lines of what it has written since this start, indented."""
        return "\n".join(f"  {line}" for line in self.said().splitlines()[-LOG_LINES:])

    def obituary(self) -> str:
        """That it ended, how, and its last lines."""
        return (
            f"{self.name} ended by itself (exit code {self.exit_code}); its log {self.log} ends:\n"
            f"{self.last_lines()}"
        )


Ready = Callable[[Child], bool]


def answers(url: str) -> Ready:
    """Ready as soon as this URL answers 200."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ready(_child: Child) -> bool:
        try:
            with opener.open(url, timeout=2) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    return ready


def says(words: str) -> Ready:
    """Ready as soon as the child has written these words."""
    return lambda child: words in child.said()
