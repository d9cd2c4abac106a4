"""Attacks on what goes out: WhatsApp has no idempotency key, so a copy is claimed once, a crash is
repeated by purpose and at most once, and statuses come in any order, doubled, or too early."""

import asyncio
from itertools import permutations

import pytest

from domain.inbound import DeliveryStatus
from store import outbox
from store.outbox import NewMessage
from tests.integration.store.kit import World

S, D, R, F = (
    DeliveryStatus.SENT,
    DeliveryStatus.DELIVERED,
    DeliveryStatus.READ,
    DeliveryStatus.FAILED,
)


async def waiting(world: World, purpose: str) -> str:
    """The key of a message that waits: a prompt of a pending action, or any other purpose."""
    action = await world.pending()
    if purpose == "prompt":
        return f"action:{action}:prompt"
    row = await world.row(action)
    key = f"action:{action}:{purpose}"
    async with world.pool.acquire() as connection:
        await outbox.enqueue(
            connection,
            conversation=row["conversation_id"],
            action=action,
            message=NewMessage(key=key, purpose=purpose, message={"type": "text", "text": "oi"}),
        )
    return key


async def test_a_copy_is_claimed_by_one_of_twenty(world: World) -> None:
    """The returned row is the right to send: twenty workers, one copy."""
    key = await waiting(world, "receipt")
    claims = await asyncio.gather(*(world.claim(key) for _ in range(20)))
    assert sum(claim is not None for claim in claims) == 1
    assert (await world.message(key))["copies"] == 1


async def test_a_repetition_is_claimed_by_one_of_twenty(world: World) -> None:
    """The same after a crash: the second copy has one sender too."""
    key = await waiting(world, "receipt")
    assert await world.claim(key) is not None
    await world.move(seconds=61)
    claims = await asyncio.gather(*(world.claim(key) for _ in range(20)))
    assert sum(claim is not None for claim in claims) == 1
    assert (await world.message(key))["copies"] == 2


@pytest.mark.parametrize(
    ("purpose", "copies"),
    [("prompt", 5), ("receipt", 5), ("reply", 1), ("notice", 1), ("reminder", 1)],
)
async def test_a_crash_while_sending_is_repeated_by_purpose(
    world: World, purpose: str, copies: int
) -> None:
    """Killed in mid-send, again and again: prompts and receipts go out five times at most, replies
    and notices once; within 60 s nothing is repeated, and in the end the row is done."""
    key = await waiting(world, purpose)
    sent = 0
    for _ in range(6):
        sent += await world.claim(key) is not None
        assert await world.claim(key) is None, "its status may still come"
        await world.move(seconds=61)
    assert sent == copies
    row = await world.message(key)
    assert (row["copies"], row["ring_at"]) == (copies, None)
    assert row["done_at"] is not None


@pytest.mark.parametrize(("ends_after", "copies"), [(None, 5), (2, 2)])
async def test_verifying_is_repeated_while_its_action_executes(
    world: World, ends_after: int | None, copies: int
) -> None:
    """The only word a person has of a stuck action: in doubt again and again, it goes out five
    times at most, each after a minute's wait; and no more once the action has ended."""
    action = await world.executing()
    key = f"action:{action}:verifying"
    async with world.pool.acquire() as connection:
        await outbox.enqueue(
            connection,
            conversation=(await world.row(action))["conversation_id"],
            action=action,
            message=NewMessage(key=key, purpose="verifying", message={"type": "text"}),
        )
    sent = 0
    for n in range(8):
        if n == ends_after:
            await world.pool.execute("UPDATE actions SET status = 'failed' WHERE id = $1", action)
        sent += await world.claim(key) is not None
        assert await world.claim(key) is None, "its status may still come"
        await world.move(seconds=61)
    assert sent == copies
    row = await world.message(key)
    assert (row["state"], row["ring_at"]) == ("unknown", None)
    assert row["done_at"] is not None


async def test_a_repetition_says_that_it_is_one(world: World) -> None:
    """Also when the repetition itself was given back once: an earlier copy may have arrived."""
    key = await waiting(world, "receipt")
    first = await world.claim(key)
    assert first is not None
    assert not first.repeated
    await world.out(outbox.unknown, key, reason="lost")
    await world.move(seconds=61)
    second = await world.claim(key)
    assert second is not None
    assert second.repeated
    await world.out(outbox.not_sent, key, ring_in_s=1, reason="throttled")
    third = await world.claim(key)
    assert third is not None
    assert third.repeated
    for _ in range(3):  # to the fifth: what was given back was none
        await world.move(seconds=61)
        assert await world.claim(key) is not None
    await world.move(seconds=61)
    assert await world.claim(key) is None, "five copies may have left: never a sixth"


async def test_a_copy_that_certainly_did_not_go_out_costs_nothing(world: World) -> None:
    """Given back as often as it takes: the count of copies does not move."""
    key = await waiting(world, "prompt")
    for _ in range(5):
        assert await world.claim(key) is not None
        await world.out(outbox.not_sent, key, ring_in_s=1, reason="no connection")
    row = await world.message(key)
    assert (row["state"], row["copies"]) == ("waiting", 0)


async def test_an_unknown_prompt_is_not_repeated_once_its_action_is_closed(world: World) -> None:
    """A prompt needs its action pending: a late copy would ask about something that is over."""
    key = await waiting(world, "prompt")
    action = key.split(":")[1]
    await world.claim(key)
    await world.click(action, "cancel")
    await world.decide(action)
    await world.move(seconds=61)
    assert await world.claim(key) is None
    assert (await world.message(key))["ring_at"] is None


async def test_a_prompt_in_doubt_to_the_last_copy_did_not_certainly_fail(world: World) -> None:
    """Any of its five copies may have arrived: the action stays pending and its buttons work."""
    key = await waiting(world, "prompt")
    action = key.split(":")[1]
    for _ in range(6):
        await world.claim(key)
        await world.move(seconds=61)
    assert (await world.message(key))["done_at"] is not None
    assert (await world.decide(action)).status == "pending"
    await world.click(action)
    assert (await world.decide(action)).status == "executing"


async def test_statuses_move_forward_in_every_order(world: World) -> None:
    """Sent, delivered and read in all six orders, each twice: read stands, delivery is known from
    the channel's clock, and the row is done once."""
    for n, order in enumerate(permutations((S, D, R))):
        key = f"reply:{n}"
        conversation = await world.conversation()
        async with world.pool.acquire() as connection:
            await outbox.enqueue(
                connection,
                conversation=conversation,
                message=NewMessage(key=key, purpose="reply", message={"type": "text", "text": "o"}),
            )
        await world.claim(key)
        for status in order:
            for _ in range(2):
                await world.status(status, wamid=f"w{n}", key=key, after=(S, D, R).index(status))
        row = await world.message(key)
        assert (row["status"], row["state"], row["wamid"]) == ("read", "accepted", f"w{n}")
        assert row["delivered_at"] is not None
    assert await world.pool.fetchval("SELECT count(*) FROM statuses") == 18


async def test_a_status_before_the_answer_settles_the_send(world: World) -> None:
    """The status brings our key before the send's answer is read: accepted, and neither the answer
    nor its loss changes that."""
    key = await waiting(world, "receipt")
    await world.claim(key)
    await world.status(D, wamid="w", key=key)
    await world.out(outbox.unknown, key, reason="answer lost")
    await world.out(outbox.not_sent, key, ring_in_s=1, reason="nonsense")
    await world.out(outbox.refused, key, error_code=1, reason="nonsense")
    row = await world.message(key)
    assert (row["state"], row["status"], row["copies"]) == ("accepted", "delivered", 1)
    await world.move(seconds=61)
    assert await world.claim(key) is None


async def test_a_status_without_our_key_is_applied_when_the_wamid_is_known(world: World) -> None:
    """It came first and without callback data: kept, applied when the answer names the wamid."""
    key = await waiting(world, "prompt")
    await world.claim(key)
    await world.status(D, wamid="w")
    assert (await world.message(key))["status"] is None
    await world.out(outbox.accepted, key, wamid="w")
    assert (await world.message(key))["status"] == "delivered"


async def test_the_status_of_an_unknown_message_is_kept(world: World) -> None:
    """Normal: another system may send from the number. Stored, nothing raised, nothing rung."""
    assert await world.status(D, wamid="foreign", key="foreign") == []
    assert await world.pool.fetchval("SELECT count(*) FROM statuses") == 1


@pytest.mark.parametrize("how", ["refused", "status", "early status", "both copies"])
async def test_a_prompt_that_certainly_failed_closes_its_action(world: World, how: str) -> None:
    """However the failure shows, *decide* closes the action, the person hears nothing of it, and
    the action is rung for within seconds though every bell is lost."""
    key = await waiting(world, "prompt")
    action = key.split(":")[1]
    await world.decide(action)  # as its workflow does at the start: the ring is at the deadline
    await world.claim(key)
    if how == "refused":
        await world.out(outbox.refused, key, error_code=131047, reason="window")
    elif how == "status":
        await world.out(outbox.accepted, key, wamid="w")
        await world.status(F, wamid="w", error_code=131026)
    elif how == "early status":
        await world.status(F, wamid="w", error_code=131026)
        await world.out(outbox.accepted, key, wamid="w")
    else:
        await world.out(outbox.unknown, key, reason="lost")
        await world.move(seconds=61)
        await world.claim(key)
        await world.status(F, wamid="w1", key=key)
        assert (await world.decide(action)).status == "pending", "the other copy may have arrived"
        await world.status(F, wamid="w2", key=key)
    soon = await world.pool.fetchval(
        "SELECT ring_at < clock_timestamp() + interval '6 seconds' FROM actions WHERE id = $1",
        action,
    )
    assert soon, "with its bell lost the action would wait for its deadline"
    for _ in range(2):
        assert (await world.decide(action)).status == "failed"
    assert (await world.row(action))["reason"] == "prompt_failed"
    assert await world.messages(action) == ["prompt"]


async def test_a_refused_repetition_leaves_the_first_copy_in_doubt(world: World) -> None:
    """The first copy may have arrived: its buttons work, and its own failure still closes."""
    key = await waiting(world, "prompt")
    action = key.split(":")[1]
    await world.claim(key)
    await world.move(seconds=61)
    await world.claim(key)
    await world.out(outbox.refused, key, error_code=131047, reason="window")
    row = await world.message(key)
    assert (row["state"], row["ring_at"]) == ("unknown", None)
    assert (await world.decide(action)).status == "pending"
    await world.move(seconds=61)
    assert await world.claim(key) is None, "refused for good: no further copy"
    await world.status(F, wamid="w1", key=key)
    assert (await world.decide(action)).status == "failed"


async def test_a_refused_repetition_does_not_undo_a_delivery(world: World) -> None:
    """The first copy's delivery is reported while the second is under way."""
    key = await waiting(world, "prompt")
    await world.claim(key)
    await world.move(seconds=61)
    await world.claim(key)
    await world.status(D, wamid="w1", key=key)
    await world.out(outbox.refused, key, error_code=131047, reason="window")
    row = await world.message(key)
    assert (row["state"], row["status"]) == ("accepted", "delivered")


async def test_a_key_is_said_once(world: World) -> None:
    """The same message enqueued by twenty at once, and again after it was sent: one row."""
    key = await waiting(world, "receipt")
    row = await world.message(key)

    async def again() -> bool:
        async with world.pool.acquire() as connection:
            return await outbox.enqueue(
                connection,
                conversation=row["conversation_id"],
                message=NewMessage(
                    key=key, purpose="receipt", message={"type": "text", "text": ""}
                ),
            )

    assert not any(await asyncio.gather(*(again() for _ in range(20))))
    assert (await world.message(key))["message"] == row["message"]


async def test_a_message_older_than_the_window_is_dropped(world: World) -> None:
    """After 24 hours a free message is refused anyway: dropped, done, never rung again."""
    key = await waiting(world, "receipt")
    await world.move(hours=25)
    assert await world.claim(key) is None
    row = await world.message(key)
    assert (row["state"], row["reason"], row["ring_at"]) == ("dropped", "too_old", None)


async def test_an_accepted_message_and_a_click_do_not_deadlock(world: World) -> None:
    """One webhook holds the click's lock on the action and waits for the prompt's row, while the
    send's answer holds that row and wants the action's."""
    key = await waiting(world, "prompt")
    action = key.split(":")[1]
    await world.claim(key)
    async with world.pool.acquire() as mine, mine.transaction():
        await world.receive(world.click_item(action, "confirm"), on=mine)
        await asyncio.wait_for(world.out(outbox.accepted, key, wamid="w"), 1)
