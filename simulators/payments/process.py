"""Starts and kills the simulator as a process of its own, for tests and scripts."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Self

_START_SECONDS = 20.0
_ROOT = Path(__file__).resolve().parents[2]


class PaymentsSimulatorProcess:
    """One running simulator. `url` is where it listens."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        """Take a process that listens at `url`."""
        self._process = process
        self.url = url

    @classmethod
    async def start(
        cls, *, api_key: str, admin_secret: str, state: Path | None = None, port: int = 0
    ) -> Self:
        """Start a simulator and wait until it listens. Raises RuntimeError if it does not."""
        command = [sys.executable, "-m", "simulators.payments", "--port", str(port)]
        environment = {
            **os.environ,
            "SIM_PAYMENTS_API_KEY": api_key,
            "SIM_PAYMENTS_ADMIN_SECRET": admin_secret,
            "SIM_PAYMENTS_STATE": str(state or ""),
        }
        process = await asyncio.create_subprocess_exec(
            *command, cwd=_ROOT, env=environment, stdout=asyncio.subprocess.PIPE
        )
        if process.stdout is None:
            raise RuntimeError("bug: the simulator's stdout is no pipe")
        line = await asyncio.wait_for(process.stdout.readline(), _START_SECONDS)
        prefix = b"listening on "
        if not line.startswith(prefix):
            raise RuntimeError(f"the simulator did not start: {line!r}")
        return cls(process, line.removeprefix(prefix).decode("ascii").strip())

    async def stop(self) -> None:
        """Ask it to end and wait."""
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """End it without warning (SIGKILL) and wait."""
        await self._end(signal.SIGKILL)

    async def _end(self, how: signal.Signals) -> None:
        if self._process.returncode is None:
            self._process.send_signal(how)
        await self._process.communicate()
