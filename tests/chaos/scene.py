"""A stack whose workers are processes that obey orders, for the tests of deaths and of stalls."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio.testing import WorkflowEnvironment

from tests.acceptance.test_running import environment
from tests.chaos.points import Orders, Point
from tests.chaos.processes import Worker, wait_reached, with_moved_clock
from tests.harness.databases import Databases
from tests.harness.scenes import PIX, heard
from tests.harness.stack import Stack, running_stack

RESTART_AFTER_S = 1.1  # a supervisor's restart
PATIENCE_S = 90
"""A stalled process keeps its open polls: each may swallow one task until that task's timeout."""


@dataclass
class Scene:
    """A stack whose workers are processes that obey orders."""

    stack: Stack
    orders: Orders
    folder: Path
    workers: list[Worker]

    async def start_worker(self) -> Worker:
        """One more worker process."""
        dsn = with_moved_clock(self.stack.settings.database_url.get_secret_value())
        worker = Worker(
            {**environment(self.stack), "AVAL_DATABASE_URL": dsn},
            orders=self.orders,
            log=self.folder / f"worker{len(self.workers)}.log",
        )
        self.workers.append(worker)
        await worker.start()
        return worker

    async def propose(self) -> str:
        """Maria asks for a Pix charge and gets its prompt; the action's id."""
        await self.stack.whatsapp.send_text("maria", PIX)
        await self.stack.whatsapp.wait_prompt("maria", timeout_seconds=PATIENCE_S)
        action_id: str = (await self.stack.latest_action())["id"]
        return action_id

    async def killed_at(self, worker: Worker, point: Point) -> float:
        """Wait for the death, and start the worker again after a moment; when it died."""
        died_at = (await wait_reached(self.orders, point)).at
        await worker.died()
        await asyncio.sleep(RESTART_AFTER_S)
        await worker.start()
        return died_at

    async def stalled_at(self, point: Point) -> None:
        """Wait until a worker stands still at the point."""
        await wait_reached(self.orders, point)

    async def writes(self) -> int:
        """How many requests that create something reached the provider."""
        return sum(one["method"] == "POST" for one in await self.stack.payments.journal())

    async def move_database_clock(self, by: timedelta) -> None:
        """Move PostgreSQL's clock alone: what waits for a row's time is due."""
        self.stack.skew += by.total_seconds()
        await self.stack.pool.execute("UPDATE fake.skew SET seconds = $1", self.stack.skew)

    async def codes(self) -> int:
        """How often Maria was sent a Pix code."""
        return sum("br.gov.bcb.pix" in text for text in await heard(self.stack))


@asynccontextmanager
async def scene(
    databases: Databases, temporal_env: WorkflowEnvironment, folder: Path
) -> AsyncIterator[Scene]:
    """A stack without a worker in this process."""
    async with running_stack(databases, temporal_env, start_worker=False) as stack:
        orders_folder = folder / "orders"
        orders_folder.mkdir()
        made = Scene(stack, Orders(orders_folder), folder, [])
        try:
            yield made
        finally:
            await asyncio.gather(*(worker.stop() for worker in made.workers))
