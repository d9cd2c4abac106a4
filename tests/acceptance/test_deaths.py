"""The worker is killed or stalls at every named point between a message and its feedback.

Real worker processes; everything is counted at the far side. Never sent means done after the
restart; sent and unknown means settled by look-up, or visible as executing; never two effects.
"""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from domain import ids
from store import outbox
from tests.acceptance.test_running import environment
from tests.chaos.points import How, Orders, Point
from tests.chaos.processes import Worker, wait_reached, with_moved_clock
from tests.harness.databases import Databases
from tests.harness.scenes import PIX, heard, model_calls, prompts
from tests.harness.stack import Stack, running_stack

RESTART_AFTER_S = 1.1  # a supervisor's restart
STATUS_WAIT = timedelta(seconds=outbox.STATUS_WAIT_S + 1)
FRESH_IS_OVER = timedelta(seconds=121)
PATIENCE_S = 90
"""A stalled process keeps its open polls: each may swallow one task until that task's timeout."""

Say = Callable[[str], None]


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


@pytest.fixture
async def deaths(
    databases: Databases, temporal_env: WorkflowEnvironment, tmp_path: Path
) -> AsyncIterator[Scene]:
    """A stack whose workers obey orders."""
    async with scene(databases, temporal_env, tmp_path) as made:
        yield made


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Prints past pytest's capture: times are measured and shown, never gated."""

    def line(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n  {text}")

    return line


# ---------------------------------------------------------------- killed before the click


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", [Point.TAKE, Point.THOUGHT, Point.PROPOSE, Point.DECIDE, Point.PROMPTED]
)
async def test_killed_before_the_click(deaths: Scene, say: Say, point: Point) -> None:
    """Killed while the proposal is made or prompted → after the restart one action, one call of the
    model, one prompt; its click makes one effect."""
    worker = await deaths.start_worker()
    deaths.orders.give(point, How.KILL)
    await deaths.stack.whatsapp.send_text("maria", PIX)
    died_at = await deaths.killed_at(worker, point)
    await deaths.stack.whatsapp.wait_prompt("maria", timeout_seconds=PATIENCE_S)
    say(f"killed at {point}: prompt after {time.time() - died_at:.1f} s")
    action = await deaths.stack.latest_action()
    await deaths.stack.whatsapp.press("maria", "confirm")
    await deaths.stack.wait_status(action["id"], "executed", seconds=PATIENCE_S)
    await deaths.stack.quiet()
    assert await deaths.stack.charges() == await deaths.codes() == 1
    assert len(await prompts(deaths.stack, "maria")) == 1
    assert await model_calls(deaths.stack) == 1
    assert await deaths.stack.pool.fetchval("SELECT count(*) FROM actions") == 1


@pytest.mark.slow
async def test_killed_between_the_prompts_fence_and_the_wire(deaths: Scene) -> None:
    """WhatsApp has no key, so a prompt that may have gone out waits a minute for its status; then
    it is repeated while its action is pending, and its click makes one effect."""
    worker = await deaths.start_worker()
    deaths.orders.give(Point.BEFORE_PROMPT, How.KILL)
    await deaths.stack.whatsapp.send_text("maria", PIX)
    await deaths.killed_at(worker, Point.BEFORE_PROMPT)
    assert await prompts(deaths.stack, "maria") == []
    await deaths.move_database_clock(STATUS_WAIT)
    await deaths.stack.whatsapp.wait_prompt("maria", timeout_seconds=PATIENCE_S)
    action = await deaths.stack.latest_action()
    await deaths.stack.whatsapp.press("maria", "confirm")
    await deaths.stack.wait_status(action["id"], "executed", seconds=PATIENCE_S)
    await deaths.stack.quiet()
    assert await deaths.stack.charges() == 1
    assert len(await prompts(deaths.stack, "maria")) == 1


# ---------------------------------------------------------------- killed after the click


@pytest.mark.slow
@pytest.mark.parametrize(
    "point",
    [
        Point.CHECKED,
        Point.DECIDE,
        Point.BEFORE_CLAIM,
        Point.CLAIMED,
        Point.ACTED,
        Point.RECORDED,
        Point.ANNOUNCING,
        Point.FED_BACK,
    ],
)
async def test_killed_after_the_click(deaths: Scene, say: Say, point: Point) -> None:
    """Killed before the fence → done after the restart; killed after the provider acted → found by
    look-up, not sent again. One effect, one write at the provider, one feedback with its code."""
    worker = await deaths.start_worker()
    action_id = await deaths.propose()
    deaths.orders.give(point, How.KILL)
    await deaths.stack.whatsapp.press("maria", "confirm")
    died_at = await deaths.killed_at(worker, point)
    await deaths.stack.whatsapp.wait_message(
        "maria", contains="br.gov.bcb.pix", timeout_seconds=PATIENCE_S
    )
    say(f"killed at {point}: feedback after {time.time() - died_at:.1f} s")
    await deaths.stack.wait_status(action_id, "executed")
    await deaths.stack.quiet()
    assert await deaths.stack.charges() == await deaths.writes() == await deaths.codes() == 1


@pytest.mark.slow
async def test_killed_between_the_feedbacks_fence_and_the_wire(deaths: Scene, say: Say) -> None:
    """The effect is done and recorded; its feedback may have gone out, so it waits a minute for a
    status, then is repeated once. One effect, one feedback."""
    worker = await deaths.start_worker()
    action_id = await deaths.propose()
    deaths.orders.give(Point.BEFORE_FEEDBACK, How.KILL)
    await deaths.stack.whatsapp.press("maria", "confirm")
    died_at = await deaths.killed_at(worker, Point.BEFORE_FEEDBACK)
    assert (await deaths.stack.action(action_id))["status"] == "executed"
    await deaths.move_database_clock(STATUS_WAIT)
    await deaths.stack.whatsapp.wait_message(
        "maria", contains=action_id[:4], timeout_seconds=PATIENCE_S
    )
    passed = time.time() - died_at + STATUS_WAIT.total_seconds()
    say(f"killed at {Point.BEFORE_FEEDBACK}: feedback after {passed:.1f} s, a minute of it moved")
    await deaths.stack.quiet()
    assert await deaths.stack.charges() == await deaths.codes() == 1
    assert len(await heard(deaths.stack)) == 2


@pytest.mark.slow
async def test_killed_after_the_fence_is_visible_and_never_sent_again(
    deaths: Scene, say: Say
) -> None:
    """Fenced, then killed: it may have been sent, and nobody can know → looked up, visible as
    executing, the person told once that it is verified; no machine sends again."""
    worker = await deaths.start_worker()
    action_id = await deaths.propose()
    deaths.orders.give(Point.FENCED, How.KILL)
    await deaths.stack.whatsapp.press("maria", "confirm")
    died_at = await deaths.killed_at(worker, Point.FENCED)
    await deaths.stack.whatsapp.wait_message(
        "maria", contains="verificando", timeout_seconds=PATIENCE_S
    )
    say(f"killed at {Point.FENCED}: told of the verification after {time.time() - died_at:.1f} s")
    await deaths.move_database_clock(FRESH_IS_OVER)
    await asyncio.sleep(6)
    action = await deaths.stack.action(action_id)
    assert (action["status"], action["ring_at"] is not None) == ("executing", True)
    assert await deaths.writes() == await deaths.stack.charges() == 0
    assert len(await heard(deaths.stack)) == 1


# ---------------------------------------------------------------- stalled and awake again


@pytest.mark.slow
async def test_an_attempt_that_stalled_before_the_fence_meets_its_rerun(deaths: Scene) -> None:
    """SIGSTOP between claim and fence: another worker makes the next attempt, which revokes the
    stalled one; awake again it sends nothing more."""
    await deaths.start_worker()
    action_id = await deaths.propose()
    deaths.orders.give(Point.CLAIMED, How.STOP)
    await deaths.stack.whatsapp.press("maria", "confirm")
    await deaths.stalled_at(Point.CLAIMED)
    await deaths.start_worker()
    await deaths.stack.wait_status(action_id, "executed", seconds=PATIENCE_S)
    deaths.workers[0].send(signal.SIGCONT)
    await asyncio.sleep(2)
    await deaths.stack.quiet()
    assert (await deaths.stack.action(action_id))["attempt"] == 2
    assert await deaths.stack.charges() == await deaths.writes() == await deaths.codes() == 1


@pytest.mark.slow
async def test_an_attempt_that_stalled_after_the_fence_gives_its_send_back(deaths: Scene) -> None:
    """SIGSTOP between fence and wire, for longer than the two seconds: meanwhile it is an unknown
    that nobody sends again; awake it proves that nothing was sent, and the next attempt acts."""
    await deaths.start_worker()
    action_id = await deaths.propose()
    deaths.orders.give(Point.FENCED, How.STOP)
    await deaths.stack.whatsapp.press("maria", "confirm")
    await deaths.stalled_at(Point.FENCED)
    await deaths.start_worker()
    await deaths.stack.whatsapp.wait_message(
        "maria", contains="verificando", timeout_seconds=PATIENCE_S
    )
    assert await deaths.writes() == 0
    deaths.workers[0].send(signal.SIGCONT)
    await deaths.stack.wait_status(action_id, "executed", seconds=PATIENCE_S)
    await deaths.stack.quiet()
    sends = await deaths.stack.pool.fetch("SELECT outcome FROM sends ORDER BY n")
    assert [row["outcome"] for row in sends] == ["not_sent", "created"]
    assert await deaths.stack.charges() == await deaths.writes() == await deaths.codes() == 1


@pytest.mark.slow
async def test_an_attempt_that_stalled_before_the_fence_until_it_is_too_late(
    deaths: Scene,
) -> None:
    """SIGSTOP between claim and fence for 120 s: closed as failed, "nada foi feito"; the attempt
    that wakes afterwards must not make that false."""
    await deaths.start_worker()
    action_id = await deaths.propose()
    deaths.orders.give(Point.CLAIMED, How.STOP)
    await deaths.stack.whatsapp.press("maria", "confirm")
    await deaths.stalled_at(Point.CLAIMED)
    await deaths.move_database_clock(FRESH_IS_OVER)
    await deaths.start_worker()
    await deaths.stack.wait_status(action_id, "failed", seconds=PATIENCE_S)
    await deaths.stack.whatsapp.wait_message(
        "maria", contains="ada foi feito", timeout_seconds=PATIENCE_S
    )
    deaths.workers[0].send(signal.SIGCONT)
    await asyncio.sleep(3)
    await deaths.stack.quiet()
    assert (await deaths.stack.action(action_id))["reason"] == "not_sent"
    assert await deaths.stack.charges() == await deaths.writes() == 0
    assert len(await heard(deaths.stack)) == 1


@pytest.mark.slow
async def test_an_attempt_that_stalled_after_the_fence_until_it_is_too_late(
    deaths: Scene,
) -> None:
    """SIGSTOP between fence and wire for 120 s: never "failed" while it may have been sent; awake
    it proves that nothing was, and only then the person hears "nada foi feito"."""
    await deaths.start_worker()
    action_id = await deaths.propose()
    deaths.orders.give(Point.FENCED, How.STOP)
    await deaths.stack.whatsapp.press("maria", "confirm")
    await deaths.stalled_at(Point.FENCED)
    await deaths.move_database_clock(FRESH_IS_OVER)
    await deaths.start_worker()
    await deaths.stack.whatsapp.wait_message(
        "maria", contains="verificando", timeout_seconds=PATIENCE_S
    )
    assert (await deaths.stack.action(action_id))["status"] == "executing"
    deaths.workers[0].send(signal.SIGCONT)
    await deaths.stack.wait_status(action_id, "failed", seconds=PATIENCE_S)
    await deaths.stack.whatsapp.wait_message(
        "maria", contains="ada foi feito", timeout_seconds=PATIENCE_S
    )
    await deaths.stack.quiet()
    assert await deaths.stack.charges() == await deaths.writes() == 0


# ---------------------------------------------------------------- terminated by hand


@pytest.mark.slow
async def test_terminated_while_pending_is_brought_to_its_end_by_the_sweeper(
    deaths: Scene,
) -> None:
    """Nobody clicks and the workflow is gone: at the deadline the sweeper starts it again, and the
    action expires."""
    await deaths.start_worker()
    action_id = await deaths.propose()
    handle = deaths.stack.temporal.get_workflow_handle(ids.action_workflow_id(action_id))
    await handle.terminate("by hand")
    await deaths.move_database_clock(timedelta(minutes=10, seconds=6))
    await deaths.stack.wait_status(action_id, "expired", seconds=20)


@pytest.mark.slow
async def test_terminated_while_executing_is_brought_to_its_end_by_the_sweeper(
    deaths: Scene,
) -> None:
    """The worker dies between claim and fence, and the workflow is terminated: the sweeper alone
    rings, and the action is executed once."""
    worker = await deaths.start_worker()
    action_id = await deaths.propose()
    deaths.orders.give(Point.CLAIMED, How.KILL)
    await deaths.stack.whatsapp.press("maria", "confirm")
    await wait_reached(deaths.orders, Point.CLAIMED)
    await worker.died()
    handle = deaths.stack.temporal.get_workflow_handle(ids.action_workflow_id(action_id))
    await handle.terminate("by hand")
    await worker.start()
    await deaths.stack.wait_status(action_id, "executed", seconds=PATIENCE_S)
    await deaths.stack.quiet()
    assert await deaths.stack.charges() == await deaths.writes() == await deaths.codes() == 1
