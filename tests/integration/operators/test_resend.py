"""`resend`: exactly one further send, with its number, on an operator's word that is young."""

import asyncio

from domain.actions import Verdict
from store import resending
from store.operators import NotAllowedError
from tests.integration.operators.desk import LAG_S, Desk
from tests.integration.store.kit import World, waits_for_a_lock


async def allowed(desk: Desk) -> str:
    """A stuck action whose second send an operator has just allowed."""
    action = await desk.stuck("drop")
    await desk.absent(action)
    await desk.say(action, Verdict.RESEND, as_send=2)
    return action


async def test_a_resend_is_made_once_by_the_workflow(world: World, desk: Desk) -> None:
    """The decision rings, *decide* says execute, send 2 goes under the same key and is told once;
    a further execute sends nothing."""
    action = await desk.stuck("drop")
    await desk.absent(action)
    assert (await world.decide(action)).do == "settle"
    await desk.say(action, Verdict.RESEND, as_send=2)
    assert await world.unanswered(action) == 1
    assert (await world.decide(action)).do == "execute"
    await world.execute(action)
    await world.execute(action)
    assert await world.sends(action) == ["unknown", "created"]
    assert await world.charges() == 1
    assert (await world.row(action))["status"] == "executed"
    assert await world.messages(action, "feedback%") == ["feedback", "feedback1"]
    assert await world.unanswered(action) == 0
    writes = [one for one in await world.payments.journal() if one["method"] == "POST"]
    assert len({one["key"] for one in writes}) == 1


async def test_two_operators_send_once(world: World, desk: Desk) -> None:
    """Both want send 2 in the same moment: one is allowed, the other hears who was first; after it
    was made, it is refused by its number."""
    action = await desk.stuck("drop")
    await desk.absent(action)
    async with world.pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT 1 FROM actions WHERE id = $1 FOR UPDATE", action)
        both = [
            asyncio.create_task(desk.say(action, Verdict.RESEND, as_send=2, operator=name))
            for name in ("Ana", "Rui")
        ]
        await waits_for_a_lock(world.pool, sessions=2)
    done = await asyncio.gather(*both, return_exceptions=True)
    refused = [one for one in done if isinstance(one, NotAllowedError)]
    assert len(refused) == 1
    assert "was first and asked for send 2" in str(refused[0])
    await world.payments.add_fault("drop")
    await world.execute(action)
    again = await desk.refused(action, Verdict.RESEND, as_send=2)
    assert "send 2 was made" in again
    assert await world.sends(action) == ["unknown", "unknown"]


async def test_two_attempts_share_one_right(world: World, desk: Desk) -> None:
    """A stalled attempt and its rerun, both opened on the right: the later one sends, the earlier
    is revoked, and the right is used up."""
    action = await allowed(desk)
    first = await world.open_attempt(action)
    second = await world.open_attempt(action)
    assert first is not None
    assert second is not None
    assert await world.fence(action, first) is None
    assert await world.fence(action, second) == 2
    assert await world.fence(action, second) is None
    assert await world.open_attempt(action) is None
    assert await world.sends(action) == ["unknown", None]


async def test_a_right_that_nobody_used_ends(world: World, desk: Desk) -> None:
    """No worker for two minutes: nothing is sent later, the row is answered, and the same number
    may be asked for again."""
    action = await allowed(desk)
    attempt = await world.open_attempt(action)
    assert attempt is not None
    await world.move(seconds=121)
    assert await world.fence(action, attempt) is None
    assert await world.open_attempt(action) is None
    assert (await world.decide(action)).do == "settle"
    assert await world.unanswered(action) == 0
    assert "resend_not_made" in await world.events(action)
    await desk.say(action, Verdict.RESEND, as_send=2)
    await world.execute(action)
    assert await world.charges() == 1


async def test_a_resend_ends_when_the_action_is_settled(world: World, desk: Desk) -> None:
    """Another operator says executed before a worker came: nothing is sent any more."""
    action = await allowed(desk)
    attempt = await world.open_attempt(action)
    assert attempt is not None
    await desk.say(action, Verdict.EXECUTED, operator="Rui")
    assert await world.fence(action, attempt) is None
    assert (await world.decide(action)).do == "end"
    assert await world.unanswered(action) == 0
    assert await world.sends(action) == ["unknown"]


async def test_a_resend_whose_world_moved_is_not_made(world: World, desk: Desk) -> None:
    """Revalidation refuses: not sent, not failed either, since send 1 is in doubt; the right
    ends at once instead of trying for two minutes."""
    action = await allowed(desk)
    await world.pool.execute("UPDATE customers SET name = 'Outro Nome'")
    await world.execute(action)
    assert await world.sends(action) == ["unknown"]
    assert (await world.row(action))["status"] == "executing"
    assert await world.unanswered(action) == 0
    assert (await world.decide(action)).do == "settle"


async def test_a_resend_that_certainly_did_not_leave_is_not_repeated(
    world: World, desk: Desk
) -> None:
    """The right is for one send: NOT_SENT uses it up too; send 3 needs a word of its own."""
    action = await allowed(desk)
    await world.payments.add_fault("throttle")
    await world.execute(action)
    assert await world.sends(action) == ["unknown", "not_sent"]
    assert (await world.decide(action)).do == "settle"
    assert "next is 3" in await desk.refused(action, Verdict.RESEND, as_send=2)
    await desk.say(action, Verdict.RESEND, as_send=3)
    await world.execute(action)
    assert await world.charges() == 1


async def test_transfers_and_old_clicks_are_not_resent(world: World, desk: Desk) -> None:
    """The provider promises nothing for transfers; after half an hour nobody counts on it."""
    transfer = await desk.stuck("drop", tool="transfer_balance", arguments={"amount_cents": 100})
    assert "not promise" in await desk.refused(transfer, Verdict.RESEND, as_send=2)
    charge = await desk.stuck("drop")
    await desk.absent(charge)
    await world.move(minutes=30)
    assert "over 30 minutes" in await desk.refused(charge, Verdict.RESEND, as_send=2)


async def test_a_right_for_another_number_opens_nothing(world: World, desk: Desk) -> None:
    """Send 2 came into being otherwise: the right to send 2 is worth nothing."""
    action = await allowed(desk)
    await world.pool.execute(
        "INSERT INTO sends (action_id, n, attempt, fenced_at) VALUES ($1, 2, 1, now())", action
    )
    await world.move(seconds=LAG_S)
    async with world.pool.acquire() as connection:
        assert not await resending.is_open(connection, action)
    assert await world.open_attempt(action) is None
