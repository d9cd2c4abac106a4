"""Attacks on the history: what happens in mid-turn waits for the boundary, repeats change nothing,
positions have no gap, whoever writes at the same moment."""

import asyncio
import uuid
from typing import Any

from store import history, turns
from tests.integration.store.kit import CHARGE, MARIA, World


async def placed(world: World) -> list[tuple[int, str]]:
    """Positions and slots of the placed entries, without ids."""
    rows = await world.pool.fetch(
        "SELECT position, slot FROM history WHERE position IS NOT NULL ORDER BY position"
    )
    return [(row["position"], row["slot"].split(":")[-1]) for row in rows]


async def waiting(world: World) -> list[str]:
    """Slots of the entries that wait for a boundary, without ids."""
    rows = await world.pool.fetch("SELECT slot FROM history WHERE position IS NULL ORDER BY id")
    return [row["slot"].split(":")[-1] for row in rows]


async def add_event(world: World, action: str, slot: str) -> None:
    """An event of an action, under the conversation's lock, as every writer does it."""
    conversation: uuid.UUID = (await world.row(action))["conversation_id"]
    async with world.pool.acquire() as connection, connection.transaction():
        await turns.lock_conversation(connection, conversation)
        await history.append_event(
            connection,
            conversation=conversation,
            action=action,
            slot=slot,
            kind="action_event",
            content={"text": slot},
        )


async def test_a_proposal_and_its_click_stand_in_order(world: World) -> None:
    """Input, call, result, the prompt's exact text; then the click and what came of it."""
    action = await world.pending()
    await world.click(action)
    await world.decide(action)
    await world.execute(action)
    assert await placed(world) == list(
        enumerate(["input", "calls", "results", "prompt", "decision", "feedback", "feedback1"])
    )


async def test_what_happens_in_mid_turn_waits_for_the_boundary(world: World) -> None:
    """A click while the model thinks: a tool_use and its result are never parted, and the prefix
    that the model's cache knows does not change."""
    first = await world.pending()
    before = await placed(world)
    turn = await world.turn()
    await world.click(first, "cancel")
    await world.decide(first)
    assert await waiting(world) == ["decision", "feedback"]
    ref = await world.think(turn, "create_pix_charge", {**CHARGE, "amount_cents": 5})
    await world.propose(ref)
    assert await waiting(world) == ["decision", "feedback"]
    await world.close(turn)
    after = await placed(world)
    assert after[: len(before)] == before
    assert [slot for _, slot in after[len(before) :]] == [
        "input",
        "calls",
        "results",
        "prompt",
        "decision",
        "feedback",
    ]
    assert [position for position, _ in after] == list(range(len(after)))


async def test_a_repeat_of_every_step_changes_nothing(world: World) -> None:
    """*take*, *propose*, *decide* and *close* run again after a kill: the same rows."""
    action = await world.pending()
    await world.click(action, "cancel")
    await world.decide(action)
    before = await rows(world)
    turn = await world.pool.fetchval("SELECT id FROM turns")
    await world.decide(action)
    await world.close(turn)
    await world.close(turn, "reply")
    await add_event(world, action, f"action:{action}:decision")
    assert await rows(world) == before


async def rows(world: World) -> list[dict[str, Any]]:
    """The whole history."""
    return [dict(row) for row in await world.pool.fetch("SELECT * FROM history ORDER BY id")]


async def test_positions_are_gapless_whoever_writes_at_once(world: World) -> None:
    """Thirty writers, half of them repeating the other half, with no turn open: fifteen
    entries in a row."""
    action = await world.pending()
    start = len(await placed(world))
    await asyncio.gather(*(add_event(world, action, f"event:{n % 15}") for n in range(30)))
    positions = [position for position, _ in await placed(world)]
    assert positions == list(range(start + 15))
    assert await waiting(world) == []


async def test_closing_beside_events_leaves_none_waiting(world: World) -> None:
    """A turn closes while events are written: each is placed by its writer or by the boundary."""
    action = await world.pending()
    for n in range(5):
        turn = await world.turn()
        await asyncio.gather(
            world.close(turn, "reply"),
            *(add_event(world, action, f"round:{n}:{m}") for m in range(4)),
        )
        assert await waiting(world) == []
    positions = [position for position, _ in await placed(world)]
    assert positions == list(range(len(positions)))


async def test_a_rolled_back_entry_leaves_no_gap(world: World) -> None:
    """The position is counted in the same transaction: an aborted writer takes none with it."""
    action = await world.pending()
    conversation: uuid.UUID = (await world.row(action))["conversation_id"]
    async with world.pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await turns.lock_conversation(connection, conversation)
        await history.append_event(
            connection,
            conversation=conversation,
            action=action,
            slot="lost",
            kind="action_event",
            content={"text": "lost"},
        )
        await transaction.rollback()
    await add_event(world, action, "kept")
    positions = [position for position, _ in await placed(world)]
    assert positions == list(range(len(positions)))


async def test_an_open_turn_comes_first_with_exactly_its_own_messages(world: World) -> None:
    """*take* runs again while more messages came in: the same turn, the same messages; the others
    are the next turn's."""
    turn = await world.turn()
    await world.receive(world.item(MARIA, text="mais"))
    again = await asyncio.gather(*(_take(world, turn) for _ in range(5)))
    assert set(again) == {turn}
    count = await world.pool.fetchval("SELECT count(*) FROM inbox WHERE turn_id = $1", turn)
    assert count == 1
    assert await world.close(turn, "reply") is True, "more is waiting"
    following = await _take(world, turn)
    assert following not in {None, turn}


async def _take(world: World, turn: uuid.UUID) -> uuid.UUID | None:
    conversation: uuid.UUID = await world.pool.fetchval(
        "SELECT conversation_id FROM turns WHERE id = $1", turn
    )
    async with world.pool.acquire() as connection, connection.transaction():
        return await turns.take(connection, conversation)
