"""Attacks on the sweeper: back-off, several sweepers, what is done, and the plan at 20,000 rows."""

import asyncio
import json
import uuid

import pytest

from store import outbox, ringing
from store.connection import Connection, open_pool
from store.ringing import Bell, Ring
from tests.integration.store.kit import MARIA, World

TABLES = ["inbox", "decisions", "outbox", "actions"]


async def sweep(world: World, *, most: int = 200) -> list[Ring]:
    """One sweep."""
    async with world.pool.acquire() as connection:
        return await ringing.sweep(connection, most=most)


async def fill(connection: Connection, *, rows: int, due: int) -> None:
    """Messages of one conversation that are not done; `due` of them are due."""
    webhook = await connection.fetchval(
        "INSERT INTO webhooks (id, received_at, body, items, statuses)"
        " VALUES (gen_random_uuid(), now(), '', 0, 0) RETURNING id"
    )
    await connection.execute(
        """
        INSERT INTO inbox (id, webhook_id, phone_number_id, key, kind, conversation_id, received_at,
            raw, ring_at)
        SELECT gen_random_uuid(), $1, '1', n::text, 'text', $2, now(), '',
            now() + CASE WHEN n <= $4 THEN interval '-1 second' ELSE interval '1 hour' END
        FROM generate_series(1, $3) n
        """,
        webhook,
        await connection.fetchval("SELECT id FROM conversations LIMIT 1"),
        rows,
        due,
    )


async def test_a_row_is_rung_after_5_seconds_and_then_ever_more_rarely(world: World) -> None:
    """First 5 s after it was written, then after 5, 10, 20 … at most 600 s: a day of a stuck row is
    about 150 rings."""
    await world.conversation()
    assert await sweep(world) == []
    waits: list[int] = []
    for _ in range(10):
        waits.append(round(await _seconds_to_ring(world)))
        await world.move(seconds=waits[-1] - 1)
        assert await sweep(world) == []
        await world.move(seconds=2)
        assert [ring.bell for ring in await sweep(world)] == [Bell.MESSAGE]
    assert waits == [5, 5, 10, 20, 40, 80, 160, 320, 600, 600]


async def _seconds_to_ring(world: World) -> float:
    seconds: float = await world.pool.fetchval(
        "SELECT extract(epoch FROM ring_at - clock_timestamp())::float8 FROM inbox"
    )
    return seconds


async def test_two_sweepers_share_the_rows(world: World) -> None:
    """1,000 due rows of 1,000 conversations, two sweepers at once, again and again: each row
    is rung once."""
    await world.conversation()
    async with world.pool.acquire() as connection:
        await fill(connection, rows=1000, due=1000)
        await connection.execute(
            "INSERT INTO conversations (id, account_id, phone_number_id, user_id)"
            " SELECT id, 'demo', $1, 'BR.' || key FROM inbox WHERE phone_number_id = '1'",
            "100200300400500",
        )
        await connection.execute(
            "UPDATE inbox SET conversation_id = id WHERE phone_number_id = '1'"
        )
    heard: list[uuid.UUID] = []
    while True:
        both = await asyncio.gather(sweep(world), sweep(world))
        rings = [ring for one in both for ring in one]
        if not rings:
            break
        heard += [ring.conversation_id for ring in rings if ring.conversation_id]
    assert len(heard) == 1000
    assert len(set(heard)) == 1000


async def test_a_second_sweeper_does_not_wait_for_the_first(world: World) -> None:
    """SKIP LOCKED: rows that another sweeper holds are his; the sweep comes back at once."""
    await world.conversation()
    await world.move(seconds=6)
    async with world.pool.acquire() as mine, mine.transaction():
        assert len(await ringing.sweep(mine)) == 1
        assert await asyncio.wait_for(sweep(world), 1) == []


async def test_one_sweep_takes_at_most_so_many_rows_and_rings_a_target_once(world: World) -> None:
    """300 due messages of one conversation: two sweeps of 200, one bell each."""
    await world.conversation()
    async with world.pool.acquire() as connection:
        await fill(connection, rows=300, due=300)
    for _ in range(2):
        assert len(await sweep(world)) == 1
    assert await sweep(world) == []


async def test_what_is_done_is_never_rung(world: World) -> None:
    """A whole life: message, prompt, click, effect, feedback. Afterwards nothing rings, ever."""
    action = await world.executing()
    await world.execute(action)
    assert (await world.decide(action)).do == "end"
    keys = await world.pool.fetch("SELECT key FROM outbox ORDER BY seq")
    for row in keys:
        if await world.claim(row["key"]) is not None:
            await world.out(outbox.accepted, row["key"], wamid=f"w-{row['key']}")
    await world.move(hours=48)
    assert await sweep(world) == []
    for table in TABLES:
        assert await world.pool.fetchval(f"SELECT count(ring_at) FROM {table}") == 0


async def test_every_row_with_work_left_rings_for_its_own_workflow(world: World) -> None:
    """A message for its turn, a decision, an unsent prompt and an undecided action for theirs:
    with every bell lost, one sweep after the deadline wakes all of them."""
    action = await world.pending()
    await world.click(action, "cancel")
    await world.receive(world.item(MARIA, text="oi"))
    await world.move(minutes=11)
    rings = {(ring.bell, ring.action_id) for ring in await sweep(world)}
    assert rings == {
        (Bell.MESSAGE, None),
        (Bell.CANCEL, action),
        (Bell.WAKE, action),
    }


async def test_a_cancel_that_waits_for_the_outcome_does_not_ring_hot(world: World) -> None:
    """Left unanswered while its action executes: its rings back off like any other's, however often
    *decide* looks at it."""
    action = await world.executing()
    await world.click(action, "cancel")
    rings = 0
    for _ in range(60):
        await world.move(seconds=1)
        rings += any(ring.bell is Bell.CANCEL for ring in await sweep(world))
        await world.decide(action)
    assert rings <= 5, "5, 10, 20 and 40 s after it was stored"


async def test_an_action_is_rung_for_after_the_time_of_its_next_step(world: World) -> None:
    """Pending: after the deadline; executing: within seconds; done: never."""
    action = await world.pending()
    await world.decide(action)
    assert 600 <= await _action_ring(world, action) <= 606
    await world.click(action)
    await world.decide(action)
    assert 4 <= await _action_ring(world, action) <= 6
    await world.execute(action)
    await world.decide(action)
    assert (await world.row(action))["ring_at"] is None


async def _action_ring(world: World, action: str) -> float:
    seconds: float = await world.pool.fetchval(
        "SELECT extract(epoch FROM ring_at - clock_timestamp())::float8 FROM actions WHERE id = $1",
        action,
    )
    return seconds


@pytest.mark.parametrize("due", [0, 20])
async def test_the_sweep_uses_its_partial_index(world: World, due: int) -> None:
    """20,000 rows that are not done, few or none of them due: the index is walked, the table is not
    read. On the product's own search path, since a shadowed clock has a plan of its own."""
    await world.conversation()
    pool = await open_pool(world.dsn)
    try:
        async with pool.acquire() as connection:
            await fill(connection, rows=20_000, due=due)
            await connection.execute("ANALYZE inbox")
            plan = await explain(connection, ringing._SWEEPS["inbox"], 200)
    finally:
        await pool.close()
    assert "inbox_ring" in plan
    assert "Seq Scan" not in plan


async def test_hot_questions_do_not_read_whole_tables(world: World) -> None:
    """Asked on every click and reply, at 20,000 rows: is a change of identity stored, what of a
    conversation is unsent."""
    await world.conversation()
    pool = await open_pool(world.dsn)
    try:
        async with pool.acquire() as connection:
            await fill(connection, rows=20_000, due=0)
            await connection.execute(
                "INSERT INTO outbox (key, conversation_id, purpose, message, state, created_at,"
                " done_at) SELECT key, conversation_id, 'reply', '{}', 'accepted', now(), now()"
                " FROM inbox WHERE phone_number_id = '1'"
            )
            await connection.execute(
                "INSERT INTO identity_changes SELECT id, conversation_id, received_at FROM inbox"
                " WHERE phone_number_id = '1'"
            )
            for table in ("inbox", "outbox", "identity_changes"):
                await connection.execute(f"ANALYZE {table}")
            conversation = await connection.fetchval("SELECT id FROM conversations LIMIT 1")
            identity = await explain(
                connection,
                "SELECT 1 FROM identity_changes WHERE conversation_id = $1"
                " AND received_at >= now() LIMIT 1",
                conversation,
            )
            unsent = await explain(
                connection,
                "SELECT key FROM outbox o WHERE done_at IS NULL AND ((NULL::text IS NOT NULL"
                " AND action_id = NULL) OR ($1::uuid IS NOT NULL AND conversation_id = $1"
                " AND action_id IS NULL)) ORDER BY seq",
                conversation,
            )
    finally:
        await pool.close()
    assert "identity_changes_conversation" in identity
    assert "outbox_unsent" in unsent


async def explain(connection: Connection, query: str, *values: object) -> str:
    """The plan, as text."""
    plan = await connection.fetchval(f"EXPLAIN (FORMAT JSON) {query}", *values)
    return json.dumps(plan)
