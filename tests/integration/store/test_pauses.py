"""Pauses, step by step: what was thought before one is not said in it, the longest holds, and
whoever ends one rings."""

import asyncio
import uuid
from datetime import timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.closing import Answer, Apologise
from activities.messages import ConversationRef, ProposalOutcome, Route, StepRef, Taken
from activities.take import Take
from activities.think import Think
from store import pauses, turns
from store.pauses import Cause, Pause
from tests.integration.store.kit import CHARGE, MARIA, World, waits_for_a_lock

HOUR = timedelta(hours=1)


async def begin(
    world: World,
    conversation: uuid.UUID,
    *,
    cause: Cause = Cause.ECHO,
    lasts: timedelta = HOUR,
    **fields: Any,
) -> Pause | None:
    """Begin a pause in a transaction of its own."""
    async with world.pool.acquire() as connection, connection.transaction():
        return await pauses.begin(connection, conversation, cause=cause, lasts=lasts, **fields)


async def end(world: World, conversation: uuid.UUID) -> Pause | None:
    """An operator ends it."""
    async with world.pool.acquire() as connection:
        return await pauses.end(connection, conversation, operator="Rita")


async def replied(world: World, turn: uuid.UUID, text: str) -> StepRef:
    """Write the model's answer: a text, thought on the facts of now."""
    async with world.pool.acquire() as connection:
        facts = (await turns.read(connection, turn)).facts_seq
        await turns.store_answer(
            connection,
            turn=turn,
            step=0,
            model="by hand",
            facts_seq=facts,
            stop_reason="end_turn",
            content=[{"type": "text", "text": text}],
            usage={},
            request_id=None,
            latency_ms=1,
        )
    return StepRef(turn_id=turn, step=0)


async def conversation_of(world: World, turn: uuid.UUID) -> uuid.UUID:
    """Whose turn it is."""
    found: uuid.UUID = await world.pool.fetchval(
        "SELECT conversation_id FROM turns WHERE id = $1", turn
    )
    return found


async def take(world: World, conversation: uuid.UUID) -> Taken:
    """Run *take*."""
    return await Take(world.deps).run(ConversationRef(conversation_id=conversation))


async def test_a_reply_that_was_thought_before_is_not_sent(world: World) -> None:
    """Neither in the pause nor after it: the facts moved. The turn goes on to its next step, and
    stops there while the pause lasts."""
    turn = await world.turn()
    ref = await replied(world, turn, "Seu saldo é de R$ 10,00.")
    conversation = await conversation_of(world, turn)
    await begin(world, conversation)
    assert not await Answer(world.deps).run(ref)
    assert (await Think(world.deps).run(StepRef(turn_id=turn, step=1))).route is Route.PAUSED
    await end(world, conversation)
    assert not await Answer(world.deps).run(ref)
    assert await world.pool.fetchval("SELECT count(*) FROM outbox") == 0


async def test_a_proposal_that_was_thought_before_is_not_made(world: World) -> None:
    """Nobody is shown a prompt while a human talks to him."""
    turn = await world.turn()
    ref = await world.think(turn, "create_pix_charge", CHARGE)
    await begin(world, await conversation_of(world, turn))
    assert (await world.propose(ref)).outcome is ProposalOutcome.STALE
    assert await world.pool.fetchval("SELECT count(*) FROM actions") == 0


async def test_a_template_waits_too(world: World) -> None:
    """No model, or nothing that can be read, when a human has the conversation: the turn is not
    over, so that its messages are not lost."""
    turn = await world.turn()
    await begin(world, await conversation_of(world, turn))
    with pytest.raises(ApplicationError) as raised:
        await Apologise(world.deps).run(turn)
    assert (raised.value.type, raised.value.non_retryable) == ("paused", True)
    assert await world.pool.fetchval("SELECT count(*) FROM outbox") == 0


async def test_take_leaves_everything_where_it_is(world: World) -> None:
    """A new message and an open turn's: not taken, rung for at the pause's end and not before; a
    second *take* changes nothing; afterwards the open turn comes first."""
    turn = await world.turn()
    conversation = await world.conversation(text="e aí?")
    pause = await begin(world, conversation)
    assert pause is not None
    for _ in range(2):
        assert await take(world, conversation) == Taken()
    rows = await world.pool.fetch("SELECT ring_at, rings FROM inbox WHERE done_at IS NULL")
    assert [tuple(row) for row in rows] == [(pause.until, 0)] * 2
    await world.move(hours=1)
    assert (await take(world, conversation)).turn_id == turn


async def test_the_longest_holds_and_an_operator_says_how_long(world: World) -> None:
    """An echo makes a pause longer, never shorter; an operator's word begins a new one, even a
    shorter one; each is kept with who ended it."""
    conversation = await world.conversation()
    first = await begin(world, conversation, lasts=4 * HOUR)
    assert await begin(world, conversation, lasts=2 * HOUR) == first
    longer = await begin(world, conversation, lasts=6 * HOUR)
    assert first is not None
    assert longer is not None
    assert (longer.since, longer.until > first.until) == (first.since, True)
    short = await begin(world, conversation, cause=Cause.OPERATOR, operator="Rita", lasts=HOUR)
    assert short is not None
    assert short.until < first.until
    await world.move(hours=2)
    await begin(world, conversation)
    rows = await world.pool.fetch("SELECT cause, ended_by, ended_at FROM pauses ORDER BY id")
    told = [(row["cause"], row["ended_by"], row["ended_at"] == short.until) for row in rows]
    assert told == [("echo", "Rita", False), ("operator", None, True), ("echo", None, False)]


async def test_a_pause_that_would_be_over_does_not_begin(world: World) -> None:
    """Of an echo that comes hours late, whatever its clock: one of the future lasts no longer than
    one of now."""
    conversation = await world.conversation()
    now = await world.pool.fetchval("SELECT clock_timestamp()")
    assert await begin(world, conversation, began=now - HOUR) is None
    future = await begin(world, conversation, began=now + 10 * HOUR)
    assert future is not None
    assert future.until - now < HOUR + timedelta(minutes=1)


async def test_whoever_ends_a_pause_rings_at_once(world: World) -> None:
    """And ends it once: a second operator is told that there is none."""
    conversation = await world.conversation(MARIA)
    await begin(world, conversation)
    await take(world, conversation)
    assert await end(world, conversation) is not None
    assert await end(world, conversation) is None
    due = await world.pool.fetchval("SELECT count(*) FROM inbox WHERE ring_at <= clock_timestamp()")
    assert due == 1
    assert (await take(world, conversation)).turn_id is not None


async def test_a_step_that_meets_the_pauses_end_goes_on(world: World) -> None:
    """An operator ends the pause in the moment in which a step has seen it: the step goes on, and
    the bells that he rang for are not pushed away again."""
    turn = await world.turn()
    conversation = await conversation_of(world, turn)
    await replied(world, turn, "oi")
    await begin(world, conversation)
    async with world.pool.acquire() as mine, mine.transaction():
        await pauses.end(mine, conversation, operator="Rita")
        thinking = asyncio.create_task(Think(world.deps).run(StepRef(turn_id=turn, step=0)))
        await waits_for_a_lock(world.pool)
    assert (await thinking).route is Route.REPLY
    due = await world.pool.fetchval("SELECT count(*) FROM inbox WHERE ring_at <= clock_timestamp()")
    assert due == 1
