"""The test's worker as a process that can be killed, stalled and woken."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.chaos.points import Orders, Point, Reached

ROOT = Path(__file__).parents[2]
READY = b"worker ready"
CLOCK = "search_path=fake%2Cpg_catalog%2Cpublic"
"""Put into a DSN: the process sees the clock that the test moves (harness/databases.py)."""


def with_moved_clock(dsn: str) -> str:
    """The same database, seen with the clock of the schema `fake`."""
    return f"{dsn}{'&' if '?' in dsn else '?'}{CLOCK}"


class Worker:
    """One worker process. `log` keeps what it says, over restarts too."""

    def __init__(self, environment: Mapping[str, str], *, orders: Orders, log: Path) -> None:
        self._environment = {**environment, "CHAOS_FOLDER": str(orders.folder)}
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The process. Raises LookupError before the start."""
        if self._process is None:
            raise LookupError("the worker is not started")
        return self._process

    @property
    def alive(self) -> bool:
        """Whether it runs; one that is stopped by a signal does."""
        return self._process is not None and self._process.returncode is None

    async def start(self, *, ready: bool = True, within_s: float = 40) -> None:
        """Start it, and wait until it works. Raises AssertionError with its last words."""
        begin = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tests.chaos.worker",
                cwd=ROOT,
                env=dict(self._environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        if ready:
            await self._wait_ready(begin, within_s)

    async def _wait_ready(self, begin: int, within_s: float) -> None:
        async with asyncio.timeout(within_s):
            while READY not in (said := self._log.read_bytes()[begin:]):
                assert self.alive, f"the worker ended: {said[-2000:].decode(errors='replace')}"
                await asyncio.sleep(0.02)

    def last_words(self) -> str:
        """The end of what it wrote, over all its lives."""
        written = self._log.read_bytes() if self._log.exists() else b""
        return written[-2000:].decode(errors="replace")

    def send(self, number: signal.Signals) -> None:
        """Send a signal if it runs."""
        if self.alive:
            self.process.send_signal(number)

    async def died(self, *, within_s: float = 30) -> None:
        """Wait until it is gone."""
        await asyncio.wait_for(self.process.wait(), within_s)

    async def stop(self) -> None:
        """End it: woken, asked, and killed if it does not go."""
        if not self.alive:
            return
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            await self.died(within_s=10)
        except TimeoutError:
            await self.end()

    async def end(self) -> None:
        """End it without warning."""
        if self.alive:
            self.send(signal.SIGKILL)
            await self.died()


@asynccontextmanager
async def working(
    environment: Mapping[str, str], *, orders: Orders, log: Path
) -> AsyncIterator[Worker]:
    """A worker that works until the block ends."""
    worker = Worker(environment, orders=orders, log=log)
    await worker.start()
    try:
        yield worker
    finally:
        await worker.stop()


async def wait_reached(orders: Orders, point: Point, *, within_s: float = 30) -> Reached:
    """Wait until the last order for this point was obeyed."""
    async with asyncio.timeout(within_s):
        while True:
            found = [one for one in orders.reached() if one.point is point]
            if found:
                return found[-1]
            await asyncio.sleep(0.01)
