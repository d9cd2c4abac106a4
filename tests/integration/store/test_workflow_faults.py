"""Attacks on the workflows' patience: an activity that fails at once must not be asked again a
hundred times a second, what will fail for ever must not end a conversation, and nothing ends the
sweeper. The rows are real, and so is Temporal; only the failing activity is not the product's."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.messages import ActionRef, StepRef
from activities.think import Think
from domain import ids
from llm.answers import ModelAnswer
from llm.client import ClaudeClient
from store import ringing
from store.ringing import Bell, Ring
from tests.integration.store.kit import CHARGE, World
from workflows import options, sweeper
from workflows import ringing as ringing_room
from workflows.pending_action import PendingActionWorkflow
from workflows.turn import TurnWorkflow
from workflows.workers import conversation_activities, sandbox


class FailsAtOnce:
    """Stands for a worker that cannot even reach the database."""

    def __init__(self) -> None:
        self.times = 0

    @activity.defn(name="execute")
    async def run(self, _ref: ActionRef) -> None:
        """Count and fail."""
        self.times += 1
        raise ApplicationError("no database here")


@asynccontextmanager
async def working(
    client: Client, world: World, executions: Sequence[Callable[..., Any]]
) -> AsyncIterator[None]:
    """The product's conversation worker, and another one's executions."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            Worker(
                client,
                task_queue=options.CONVERSATIONS,
                workflows=[TurnWorkflow, PendingActionWorkflow],
                activities=conversation_activities(world.deps),
                workflow_runner=sandbox(),
            )
        )
        await stack.enter_async_context(
            Worker(client, task_queue=options.EXECUTIONS, activities=executions)
        )
        yield


async def test_an_execution_that_fails_at_once_is_not_asked_hot(
    world: World, temporal_env: WorkflowEnvironment
) -> None:
    """For as long as the action is fresh the worker fails before it can open an attempt: a handful
    of tries with growing pauses, not thousands, and the history stays short."""
    action = await world.executing()
    broken = FailsAtOnce()
    async with working(temporal_env.client, world, [broken.run]):
        handle = await temporal_env.client.start_workflow(
            PendingActionWorkflow.run,
            ActionRef(action_id=action),
            id=ids.action_workflow_id(action),
            task_queue=options.CONVERSATIONS,
        )
        await asyncio.sleep(5)
        assert 2 <= broken.times <= 5
        await world.move(seconds=121)
        for _ in range(200):
            if (await world.row(action))["status"] == "failed":
                break
            await asyncio.sleep(0.1)
        await handle.terminate("the channel of this test is away")
    assert (await world.row(action))["reason"] == "not_sent"
    events = [event async for event in handle.fetch_history_events()]
    assert len(events) < 150


@pytest.mark.parametrize("fault", ["no gateway", "tool raises"])
async def test_what_always_fails_ends_the_turn_and_not_the_conversation(
    world: World, fault: str
) -> None:
    """An account without its gateway, a tool with a fault: *propose* says so for good, so that the
    turn ends by a template instead of being tried for ever."""
    turn = await world.turn()
    ref = await world.think(turn, "create_pix_charge", CHARGE)
    if fault == "no gateway":
        await world.pool.execute("UPDATE accounts SET gateway = NULL")
    else:
        ref = await world.think(turn, "add_to_wallet", {"text": "a"}, step=1)
        world.wallet.prepare_raises = RuntimeError("a fault")
    with pytest.raises(ApplicationError) as raised:
        await world.propose(ref)
    assert raised.value.non_retryable
    assert "fault" not in str(raised.value), "its words may quote a person"


@pytest.mark.parametrize("text", ["nul \x00", "half a pair \ud83d"])
async def test_an_answer_that_no_column_holds_is_paid_once(
    world: World, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """The model may be made to say anything: *think* ends the turn instead of asking, and paying,
    again and again for what cannot be stored."""
    calls = 0

    async def ask(*_args: object, **_fields: object) -> ModelAnswer:
        nonlocal calls
        calls += 1
        return ModelAnswer(
            stop_reason="end_turn",
            blocks=({"type": "text", "text": text},),
            usage={},
            request_id=None,
            model="by hand",
            latency_ms=1,
        )

    monkeypatch.setattr(ClaudeClient, "ask", ask)
    turn = await world.turn()
    with pytest.raises(ApplicationError) as raised:
        await Think(world.deps).run(StepRef(turn_id=turn, step=0))
    assert raised.value.non_retryable
    assert calls == 1


async def test_a_database_that_is_away_is_tried_again(world: World) -> None:
    """What may pass is no fault for good."""
    turn = await world.turn()
    ref = await world.think(turn, "add_to_wallet", {"text": "a"})
    world.wallet.prepare_raises = ConnectionResetError("away")
    with pytest.raises(ConnectionResetError):
        await world.propose(ref)


async def test_an_outage_of_temporal_does_not_push_the_rows_on(
    world: World, temporal_env: WorkflowEnvironment
) -> None:
    """Nobody hears: the rows keep their first moment, and are rung for as soon as somebody does."""
    await world.conversation()
    await world.move(seconds=6)
    before = await world.pool.fetchrow("SELECT ring_at, rings FROM inbox")
    away = await Client.connect("127.0.0.1:1", lazy=True)
    assert await sweeper.sweep_once(world.pool, away) == 0
    assert await world.pool.fetchrow("SELECT ring_at, rings FROM inbox") == before
    assert await sweeper.sweep_once(world.pool, temporal_env.client) == 1
    conversation = await world.pool.fetchval("SELECT id FROM conversations")
    handle = temporal_env.client.get_workflow_handle(ids.turn_workflow_id(conversation))
    await handle.terminate("the test is over")


@pytest.mark.parametrize("heard", [True, False])
async def test_rings_go_fifty_at_a_time(
    temporal_env: WorkflowEnvironment, monkeypatch: pytest.MonkeyPatch, heard: bool
) -> None:
    """After an outage all that is due is rung for, but never so much at once that a bell waits for
    the others beyond its second; where nobody hears the first fifty, the rest is not tried."""
    now = most = rung = 0

    async def signal(_client: Client, _ring: Ring) -> None:
        nonlocal now, most, rung
        now, rung = now + 1, rung + 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        if not heard:
            raise TimeoutError

    monkeypatch.setattr(ringing_room, "_signal_with_start", signal)
    rings = [Ring(Bell.WAKE, action_id=uuid.uuid4().hex) for _ in range(300)]
    count = await ringing_room.ring_all(temporal_env.client, rings)
    assert (count, rung, most) == ((300, 300, 50) if heard else (0, 50, 50))


async def test_no_fault_ends_the_sweeper(
    world: World, temporal_env: WorkflowEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of any kind in one sweep: the next one sweeps."""
    sweeps = 0

    async def faulty(*_args: object, **_fields: object) -> list[ringing.Ring]:
        nonlocal sweeps
        sweeps += 1
        raise AssertionError("a ring needs a target")

    monkeypatch.setattr(ringing, "sweep", faulty)
    monkeypatch.setattr(sweeper, "SWEEP_EVERY_S", 0.01)
    task = asyncio.create_task(sweeper.sweep_for_ever(world.pool, temporal_env.client))
    await asyncio.sleep(0.2)
    assert not task.done()
    assert sweeps > 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
