"""A worker stalls at the wire and wakes beside its rerun, and workflows are terminated by hand.

What wakes after somebody else has gone on must not send: the claim revokes it, the fence stops it,
and what it finds out is written all the same.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from domain import ids
from tests.chaos.points import How, Point
from tests.chaos.processes import wait_reached
from tests.chaos.scene import PATIENCE_S, Scene, scene
from tests.harness.databases import Databases
from tests.harness.scenes import heard

FRESH_IS_OVER = timedelta(seconds=121)


@pytest.fixture
async def deaths(
    databases: Databases, temporal_env: WorkflowEnvironment, tmp_path: Path
) -> AsyncIterator[Scene]:
    """A stack whose workers obey orders."""
    async with scene(databases, temporal_env, tmp_path) as made:
        yield made


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
