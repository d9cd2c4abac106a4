"""Strikes the blows of a batch and keeps the processes alive as a supervisor would: what died is
started again, what was stopped is woken."""

import asyncio
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import asyncpg
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError

from tests.chaos.bounds import TooLongError, within
from tests.chaos.operators import Operators
from tests.chaos.points import How
from tests.chaos.schedule import Batch, Blow, TimedBlow
from tests.chaos.world import World

RESTART_AFTER_S = 0.3
LOOK_EVERY_S = 0.1
MOST_DEATHS = 20
"""By itself, one after the other: each takes a second or two, so no server is away so long."""
LEAP_S = 121.0  # beyond the 120 s in which a confirmed action may be sent
STRIKE_WITHIN_S = 80.0
"""A blow: the longest is a server that does not stop (12 s) and starts again (30 s), behind
another's."""
WORKFLOWS_AT_ONCE = 4  # terminated or reset by one blow


@dataclass
class Driver:
    """One batch's blows. `struck` counts them."""

    world: World
    batch: Batch
    operators: Operators
    struck: dict[str, int] = field(default_factory=dict)
    _woken: int = 0
    _deaths: Counter[int] = field(default_factory=Counter)
    _healed: asyncio.Event = field(default_factory=asyncio.Event)
    _shift: asyncio.Task[None] | None = None
    _sleepers: set[asyncio.Task[None]] = field(default_factory=set)
    _busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def strike_all(self, begun: float) -> None:
        """Give the orders and strike the blows at their seconds after `begun` (monotonic)."""
        if self.batch.blind:
            await self.world.payments.add_fault("lookup_503", times=self.batch.blind)
        await asyncio.gather(self._give_orders(begun), self._strike_in_turn(begun))

    async def _give_orders(self, begun: float) -> None:
        for order in self.batch.orders:
            await _until(begun + order.at_s)
            self.world.orders.give(order.point, order.how, nth=order.nth)

    async def _strike_in_turn(self, begun: float) -> None:
        for one in self.batch.blows:
            await _until(begun + one.at_s)
            async with within(STRIKE_WITHIN_S, f"the blow {one.blow}"):
                await self._strike(one)
            self.struck[one.blow] = self.struck.get(one.blow, 0) + 1

    async def _strike(self, one: TimedBlow) -> None:
        world = self.world
        worker = world.workers[one.target % len(world.workers)]
        match one.blow:
            case Blow.KILL_WORKER:
                worker.send(signal.SIGKILL)
            case Blow.STOP_WORKER:
                worker.send(signal.SIGSTOP)
                self._later(worker.process.pid, one.seconds)
            case Blow.KILL_API:
                await asyncio.to_thread(world.api.kill)
            case Blow.STOP_API:
                os.kill(world.api.pid, signal.SIGSTOP)
                self._later(world.api.pid, one.seconds)
            case Blow.RESTART_POSTGRES:
                async with self._busy:
                    await world.restart_postgres()
            case Blow.RESTART_TEMPORAL | Blow.LOSE_TEMPORAL:
                async with self._busy:
                    await world.restart_temporal(lose=one.blow is Blow.LOSE_TEMPORAL)
            case Blow.LEAP:
                with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TooLongError):
                    await world.leap(LEAP_S)
            case Blow.TERMINATE | Blow.RESET:
                await self._by_hand(one)
            case Blow.OPERATORS:
                self._shift = asyncio.create_task(self.operators.work_until(self._healed))

    async def _by_hand(self, one: TimedBlow) -> None:
        """On some workflows, as an operator might in the UI."""
        client = await self.world.temporal_client()
        with suppress(RPCError, RuntimeError, TimeoutError):
            async with asyncio.timeout(5):
                count = 0
                async for found in client.list_workflows("ExecutionStatus = 'Running'"):
                    if one.blow is Blow.TERMINATE:
                        await client.get_workflow_handle(found.id).terminate("chaos")
                    else:
                        await _reset(client, found.id, found.run_id)
                    if (count := count + 1) >= WORKFLOWS_AT_ONCE:
                        break

    def _later(self, pid: int, seconds: float) -> None:
        async def wake() -> None:
            await asyncio.sleep(seconds)
            _wake(pid)

        task = asyncio.create_task(wake())
        self._sleepers.add(task)
        task.add_done_callback(self._sleepers.discard)

    async def supervise(self) -> None:
        """For ever: start again what died, wake what stalled at a point."""
        while True:
            await asyncio.gather(*(self._revive(n) for n in range(len(self.world.workers))))
            if self.world.api.exit_code is not None:
                self.world.api.spawn()
            self._wake_stalled()
            await asyncio.sleep(LOOK_EVERY_S)

    async def _revive(self, n: int) -> None:
        worker = self.world.workers[n]
        if worker.alive:
            return
        by_itself = (worker.process.returncode or 0) > 0  # not by a signal
        self._deaths[n] = self._deaths[n] + 1 if by_itself else 0
        if self._deaths[n] > MOST_DEATHS:
            raise RuntimeError(f"worker {n} does not come up again: {worker.last_words()}")
        await asyncio.sleep(RESTART_AFTER_S)
        await worker.start(ready=False)

    def _wake_stalled(self) -> None:
        reached = self.world.orders.reached()
        for one in reached[self._woken :]:
            if one.how is How.STOP:
                seconds = [o.wake_s for o in self.batch.orders if o.point is one.point]
                self._later(one.pid, max(seconds, default=1.0))
        self._woken = len(reached)

    def skip_reached(self) -> None:
        """What earlier batches reached is no business of this one."""
        self._woken = len(self.world.orders.reached())

    async def heal(self) -> None:
        """No further faults; everybody awake and running."""
        self.world.orders.withdraw()
        for task in list(self._sleepers):
            task.cancel()
        for worker in self.world.workers:
            worker.send(signal.SIGCONT)
        if self.world.api.exit_code is None:
            _wake(self.world.api.pid)
        await self.world.whatsapp.clear_plans()
        await self.world.claude.clear_faults()
        self._healed.set()

    async def reconcile_rest(self) -> None:
        """The operators' last round, once nothing is broken any more; only where they came."""
        if self._shift is not None:
            await self._shift
            await self.operators.settle_rest()

    def leave(self) -> None:
        """Nothing of ours goes on."""
        for task in (*self._sleepers, *([self._shift] if self._shift else [])):
            task.cancel()


async def _reset(client: Client, workflow: str, run: str | None) -> None:
    """To the end of the first workflow task: everything after it runs again."""
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow, run_id=run or ""),
            reason="chaos",
            workflow_task_finish_event_id=4,
            request_id=os.urandom(8).hex(),
        )
    )


def _wake(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


async def _until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - time.monotonic()))
