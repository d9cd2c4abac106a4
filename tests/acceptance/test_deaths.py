"""The worker is killed at every named point between a message and its feedback.

Real worker processes; everything is counted at the far side. Never sent means done after the
restart; sent and unknown means settled by look-up, or visible as executing; never two effects.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from store import outbox
from tests.chaos.points import How, Point
from tests.chaos.scene import PATIENCE_S, Scene, scene
from tests.harness.databases import Databases
from tests.harness.scenes import PIX, heard, model_calls, prompts

STATUS_WAIT = timedelta(seconds=outbox.STATUS_WAIT_S + 1)
FRESH_IS_OVER = timedelta(seconds=121)

Say = Callable[[str], None]


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
