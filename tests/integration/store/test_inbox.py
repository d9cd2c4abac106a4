"""Attacks on the receipt: the same item twice, batches that cross, items that no table can hold,
buttons that are not ours, and persons who are not who their phone says."""

import asyncio
import time
from typing import Any

import asyncpg
import pytest

from activities.messages import ConversationRef
from activities.take import Take
from channels.whatsapp.buttons import button_id
from domain.inbound import InboundItem, InboundKind
from domain.people import Person
from store import turns
from store.ringing import Bell
from tests.integration.store.kit import CARLOS, MARIA, OTHER_NUMBER, World, waits_for_a_lock

PHONE_ONLY = Person(wa_id="5511900001111")
SAME_WITH_ID = Person(user_id="BR.55", wa_id="5511900001111")
OTHER_WITH_ID = Person(user_id="BR.66", wa_id="5511900001111")


async def rows(world: World) -> list[dict[str, Any]]:
    """All inbox rows, in the order received."""
    return [dict(row) for row in await world.pool.fetch("SELECT * FROM inbox ORDER BY seq")]


async def conversations(world: World) -> list[dict[str, Any]]:
    """All conversations, in the order made."""
    found = await world.pool.fetch("SELECT * FROM conversations ORDER BY created_at")
    return [dict(row) for row in found]


# -- once


async def test_the_same_message_twenty_times_at_once_is_one_row(world: World) -> None:
    """Meta delivers again and in parallel: one row, one conversation, one bell."""
    item = world.item(MARIA, text="oi")
    rings = await asyncio.gather(*(world.receive(item) for _ in range(20)))
    assert len(await rows(world)) == 1
    assert len(await conversations(world)) == 1
    assert sum(len(one) for one in rings) == 1


async def test_the_same_click_twenty_times_at_once_is_one_decision(world: World) -> None:
    """A redelivered click is the same click, also within one batch."""
    action = await world.pending()
    item = world.click_item(action, "confirm")
    await asyncio.gather(*(world.receive(item, item) for _ in range(20)))
    assert await world.pool.fetchval("SELECT count(*) FROM decisions") == 1


async def test_a_click_whose_first_delivery_was_rolled_back_is_stored_by_the_second(
    world: World,
) -> None:
    """The second delivery waited for the first, which failed: the click is not lost."""
    action = await world.pending()
    item = world.click_item(action, "confirm")
    async with world.pool.acquire() as mine:
        transaction = mine.transaction()
        await transaction.start()
        await world.receive(item, on=mine)
        second = asyncio.create_task(world.receive(item))
        await waits_for_a_lock(world.pool)
        await transaction.rollback()
        assert [ring.bell for ring in await second] == [Bell.CONFIRM]
    assert (await world.decide(action)).status == "executing"


async def test_batches_that_cross_lose_nothing(world: World) -> None:
    """Two batches hold the same items in opposite order: one of them is rolled back whole, by an
    error that its caller sees, and comes again; nothing is quarantined."""
    await world.conversation()
    a, b = world.item(MARIA, text="a"), world.item(MARIA, text="b")
    both_hold = asyncio.Barrier(2)

    async def deliver(first: InboundItem, second: InboundItem) -> bool:
        try:
            async with world.pool.acquire() as mine, mine.transaction():
                await world.receive(first, on=mine)
                await both_hold.wait()
                await world.receive(second, on=mine)
        except asyncpg.DeadlockDetectedError:
            return False
        return True

    stored = await asyncio.gather(deliver(a, b), deliver(b, a))
    assert sorted(stored) == [False, True]
    await world.receive(a, b)
    texts = [row["text"] for row in await rows(world) if row["done_at"] is None]
    assert sorted(texts) == ["a", "b", "oi"]


async def test_a_thousand_items_are_stored_within_the_webhooks_time(world: World) -> None:
    """Meta batches up to 1,000: each a row, all in one transaction, far below the ten seconds that
    the webhook allows itself."""
    persons = [Person(user_id=f"BR.{n % 50}a", wa_id=f"55119{n % 50:08}") for n in range(1000)]
    items = [world.item(person, text=f"mensagem {n}") for n, person in enumerate(persons)]
    began = time.monotonic()
    rings = await world.receive(*items)
    seconds = time.monotonic() - began
    assert len(await rows(world)) == 1000
    assert len(rings) == 50, "one bell a conversation"
    assert seconds < 10, f"took {seconds:.1f} s"


async def test_what_was_received_stays_in_its_order(world: World) -> None:
    """A burst is read by the channel's clock, then by receipt."""
    items = [world.item(MARIA, text=text) for text in "abc"]
    late = items[0].model_copy(update={"sent_at": None, "key": "late", "text": "d"})
    await world.receive(items[1], items[0], items[2], late)
    conversation = (await conversations(world))[0]["id"]
    taken = await Take(world.deps).run(ConversationRef(conversation_id=conversation))
    assert taken.turn_id is not None
    async with world.pool.acquire() as connection:
        turn = await turns.read(connection, taken.turn_id)
    assert [message.text for message in turn.messages] == ["a", "b", "c", "d"]


# -- what no table can hold


@pytest.mark.parametrize(
    "bad",
    [
        {"text": "nul \x00 inside"},
        {"text": "half a pair \ud83d"},
        {"text": "x" * 70_001},
        {"key": "nul\x00"},
        {"key": "k" * 1025},
        {"quoted_id": "\udfff"},
        {"phone_number_id": "10020030040050\x000"},
        {"phone_number_id": "\ud800"},
        {"phone_number_id": "1" * 70},
    ],
    ids=lambda bad: f"{next(iter(bad))}: {ascii(next(iter(bad.values())))[:20]}",
)
async def test_a_bad_item_is_a_row_and_not_a_lost_batch(world: World, bad: dict[str, Any]) -> None:
    """Quarantined with its bytes, its neighbours are stored and rung for; delivered again it stays
    one row."""
    before, after = world.item(MARIA, text="antes"), world.item(MARIA, text="depois")
    broken = world.item(MARIA, **({"text": "x"} | bad))
    for _ in range(2):
        await world.receive(before, broken, after)
    found = await rows(world)
    assert [row["text"] for row in found if row["done_at"] is None] == ["antes", "depois"]
    bad_rows = [row for row in found if row["done_at"] is not None]
    assert len(bad_rows) == 1
    assert bad_rows[0]["raw"] == broken.raw


# -- buttons


async def test_a_button_of_an_unknown_action_is_recorded_and_silent(world: World) -> None:
    """No decision, no bell, no answer."""
    assert await world.receive(world.click_item("0" * 32, "confirm")) == []
    row = (await rows(world))[0]
    assert row["reason"] == "unknown_action"
    assert row["done_at"] is not None
    assert await world.pool.fetchval("SELECT count(*) FROM decisions") == 0


@pytest.mark.parametrize(
    "pressed",
    ["pa:confirm:XYZ", "pa:approve:{id}", "PA:CONFIRM:{id}", "pa:confirm:{id} ", "menu-1", None],
)
async def test_a_malformed_button_decides_nothing(world: World, pressed: str | None) -> None:
    """Our ids are exact; anything else is recorded and silent."""
    action = await world.pending()
    pressed = pressed.format(id=action) if pressed else None
    assert await world.receive(world.item(MARIA, kind=InboundKind.BUTTON, button_id=pressed)) == []
    assert (await rows(world))[-1]["reason"] == "foreign_button"
    assert (await world.decide(action)).status == "pending"


@pytest.mark.parametrize(
    "kind",
    [kind for kind in InboundKind if kind is not InboundKind.BUTTON],
)
async def test_only_a_button_is_a_click(world: World, kind: InboundKind) -> None:
    """Whatever else carries our button's id (a list reply, an edit, an echo, a reaction): it
    decides nothing."""
    action = await world.pending()
    pressed = button_id("confirm", action)
    await world.receive(world.item(MARIA, kind=kind, button_id=pressed, text="Confirmar"))
    assert await world.pool.fetchval("SELECT count(*) FROM decisions") == 0
    assert (await world.decide(action)).status in {"pending", "cancelled"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"group_id": "g1"}, "group"),
        ({"forwarded": True}, "forwarded_button"),
        ({"phone_number_id": OTHER_NUMBER}, "number_not_served"),
        ({"phone_number_id": None}, "number_not_served"),
    ],
)
async def test_a_button_from_the_wrong_place_decides_nothing(
    world: World, fields: dict[str, Any], reason: str
) -> None:
    """Groups, forwarded buttons and numbers that are not ours: recorded and silent."""
    action = await world.pending()
    assert await world.click(action, **fields) == []
    assert (await rows(world))[-1]["reason"] == reason
    assert await world.pool.fetchval("SELECT count(*) FROM decisions") == 0


async def test_a_message_to_a_foreign_number_starts_nothing(world: World) -> None:
    """Stored and done: no conversation, no bell."""
    assert await world.receive(world.item(MARIA, text="oi", phone_number_id="999")) == []
    assert await conversations(world) == []
    assert (await rows(world))[0]["done_at"] is not None


# -- who


async def test_a_phone_only_conversation_is_bound_to_its_first_user_id(world: World) -> None:
    """First by phone, then with a user id, then with the user id alone: one conversation."""
    for person in (PHONE_ONLY, SAME_WITH_ID, Person(user_id="BR.55")):
        await world.receive(world.item(person, text="oi"))
    found = await conversations(world)
    assert [(row["user_id"], row["wa_id"]) for row in found] == [("BR.55", PHONE_ONLY.wa_id)]


async def test_twenty_first_messages_bind_one_conversation(world: World) -> None:
    """The first shows of a user id, at once: one binds, the others find it, none is lost."""
    await world.receive(world.item(PHONE_ONLY, text="oi"))
    await asyncio.gather(
        *(world.receive(world.item(SAME_WITH_ID, text=f"oi {n}")) for n in range(20))
    )
    assert len(await conversations(world)) == 1
    assert {row["done_at"] for row in await rows(world)} == {None}


async def test_the_same_phone_with_another_user_id_is_another_person(world: World) -> None:
    """A new conversation, without the role that the phone's former owner has."""
    await world.receive(world.item(MARIA, text="oi"))
    imposter = Person(user_id="BR.666", wa_id=MARIA.wa_id)
    await world.receive(world.item(imposter, text="oi"))
    first, second = await conversations(world)
    assert first["id"] != second["id"]
    async with world.pool.acquire() as connection:
        roles = [
            await turns.role_of(connection, account_id="demo", person=person)
            for person in (MARIA, imposter)
        ]
    assert roles == ["owner", "public"]


async def test_a_phone_without_the_user_id_that_we_know_is_another_conversation(
    world: World,
) -> None:
    """The conversation has a user id, the message shows none: not the same person for sure."""
    await world.receive(world.item(SAME_WITH_ID, text="oi"))
    await world.receive(world.item(PHONE_ONLY, text="oi"))
    assert len(await conversations(world)) == 2


async def test_a_member_registered_twice_does_not_end_his_conversation(world: World) -> None:
    """Once by user id and once by phone: *take* binds what it can and goes on."""
    await world.pool.execute(
        "INSERT INTO members (account_id, user_id, name, role)"
        " VALUES ('demo', 'BR.55', 'A', 'staff')"
    )
    await world.pool.execute(
        "INSERT INTO members (account_id, wa_id, name, role) VALUES ('demo', $1, 'A', 'owner')",
        PHONE_ONLY.wa_id,
    )
    await world.turn(SAME_WITH_ID)
    async with world.pool.acquire() as connection:
        assert await turns.role_of(connection, account_id="demo", person=SAME_WITH_ID) == "staff"


async def test_a_member_registered_by_phone_is_bound_to_his_first_user_id(world: World) -> None:
    """Afterwards another user id with the same phone has no role."""
    await world.pool.execute(
        "INSERT INTO members (account_id, wa_id, name, role) VALUES ('demo', $1, 'A', 'staff')",
        PHONE_ONLY.wa_id,
    )
    await world.turn(SAME_WITH_ID)
    async with world.pool.acquire() as connection:
        roles = [
            await turns.role_of(connection, account_id="demo", person=person)
            for person in (SAME_WITH_ID, OTHER_WITH_ID)
        ]
    assert roles == ["staff", "public"]


async def test_a_change_of_identity_finds_the_right_one_of_two(world: World) -> None:
    """Two conversations share a phone: the change is of the user id that it names, though the other
    conversation is older."""
    await world.receive(world.item(SAME_WITH_ID, text="oi"))
    await world.close(await world.turn(OTHER_WITH_ID), "reply")
    await world.identity_change(OTHER_WITH_ID)
    changed = (await rows(world))[-1]
    owner = await world.pool.fetchval(
        "SELECT user_id FROM conversations WHERE id = $1", changed["conversation_id"]
    )
    assert owner == OTHER_WITH_ID.user_id


async def test_a_change_of_identity_that_waits_for_decide_changes_nothing_done(
    world: World,
) -> None:
    """Stored after the click was decided: the action goes on; it was the right person's."""
    action = await world.executing()
    await world.identity_change(MARIA)
    assert (await world.decide(action)).status == "executing"


async def test_a_change_of_identity_of_somebody_else_is_no_hindrance(world: World) -> None:
    """Only the action's own conversation counts."""
    await world.conversation(CARLOS)
    action = await world.pending()
    await world.identity_change(CARLOS)
    await world.click(action)
    assert (await world.decide(action)).status == "executing"
