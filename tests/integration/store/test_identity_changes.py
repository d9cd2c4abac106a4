"""When somebody becomes somebody else: what ends, what stays, what never passes on with a phone."""

import pytest

from domain.inbound import IdentityChange, InboundKind
from domain.people import Person
from store import turns
from tests.integration.store.kit import NUMBER, World
from tests.integration.store.test_identity_table import (
    BY_BOTH,
    BY_PHONE,
    PHONE,
    SOMEBODY_ELSE,
    WITHOUT_NINTH,
    asked,
)


async def change(world: World, kind: str, *, sender: Person, **named: str) -> None:
    """A system message about somebody, as the parser reads it."""
    await world.receive(
        world.item(
            sender,
            kind=InboundKind.IDENTITY_CHANGED,
            identity=IdentityChange(change=kind, **named),
        )
    )


async def role(world: World, person: Person) -> str:
    """What the person is to the account now, after his first message."""
    await world.close(await world.turn(person), "reply")
    async with world.pool.acquire() as connection:
        return await turns.role_of(connection, account_id="demo", person=person)


async def test_a_changed_number_cancels_and_carries_no_role_over(world: World) -> None:
    """Known by user id and phone: the new user id is nobody, on the new number and on the old."""
    action = await asked(world, BY_BOTH)
    await change(
        world,
        "user_changed_number",
        sender=BY_PHONE,
        previous_user_id="BR.55",
        previous_wa_id=PHONE,
        new_user_id="BR.77",
        new_wa_id="5511922223333",
    )
    await world.click(action, "confirm", BY_BOTH)
    assert (await world.decide(action)).status == "cancelled"
    assert await role(world, Person(user_id="BR.77", wa_id="5511922223333")) == "public"
    assert await role(world, Person(user_id="BR.88", wa_id=PHONE)) == "public"


@pytest.mark.parametrize("kind", ["user_changed_number", "user_changed_user_id"])
async def test_a_registration_by_phone_alone_ends_with_the_number(world: World, kind: str) -> None:
    """Member and customer known by nothing but the phone: whoever has it next is a stranger, in a
    new conversation, until an operator registers him again."""
    action = await asked(world, BY_PHONE)
    await world.pool.execute(
        "INSERT INTO customer_links (account_id, customer_id, wa_id)"
        " SELECT 'demo', id, $1 FROM customers WHERE name = 'Ana Prado'",
        PHONE,
    )
    await change(world, kind, sender=BY_PHONE, new_user_id="BR.77")
    assert (await world.decide(action)).status == "cancelled"
    heir = Person(user_id="BR.88", wa_id=PHONE)
    assert await role(world, heir) == "public"
    assert (
        await world.pool.fetchval("SELECT count(*) FROM customer_links WHERE wa_id = $1", PHONE)
        == 0
    )
    rows = await world.pool.fetch("SELECT user_id, closed_at IS NULL AS open FROM conversations")
    assert {(row["user_id"], row["open"]) for row in rows} == {(None, False), ("BR.88", True)}
    await world.pool.execute(
        "INSERT INTO members (account_id, user_id, name, role)"
        " VALUES ('demo', 'BR.88', 'Ivo Reis', 'staff')"
    )
    assert await role(world, heir) == "staff"


async def test_a_registration_by_phone_is_bound_before_the_number_is_handed_on(
    world: World,
) -> None:
    """A customer known by phone alone who has shown his user id: another user id with that phone
    finds nothing of his."""
    await world.pool.execute(
        "INSERT INTO customer_links (account_id, customer_id, wa_id)"
        " SELECT 'demo', id, $1 FROM customers WHERE name = 'Ana Prado'",
        PHONE,
    )
    await world.close(await world.turn(BY_BOTH), "reply")
    links = await world.pool.fetch("SELECT user_id FROM customer_links WHERE wa_id = $1", PHONE)
    assert [row["user_id"] for row in links] == ["BR.55"]


async def test_a_phone_alone_is_about_everybody_who_may_be_meant(world: World) -> None:
    """A change that names only a phone, which two conversations share: the actions of both are
    cancelled. Which of them is meant cannot be told, and asking again is all that it costs."""
    first, second = await asked(world, BY_BOTH), await _as_member(world, SOMEBODY_ELSE)
    await change(world, "customer_identity_changed", sender=BY_PHONE, previous_wa_id=PHONE)
    for action, person in ((first, BY_BOTH), (second, SOMEBODY_ELSE)):
        await world.click(action, "confirm", person)
        assert (await world.decide(action)).status == "cancelled"


async def test_a_named_user_id_is_about_nobody_else_with_that_phone(world: World) -> None:
    """Two conversations share a phone, the change names one user id: the other goes on."""
    first, second = await asked(world, BY_BOTH), await _as_member(world, SOMEBODY_ELSE)
    await change(
        world,
        "user_changed_user_id",
        sender=BY_PHONE,
        previous_user_id="BR.55",
        new_user_id="BR.77",
    )
    assert (await world.decide(first)).status == "cancelled"
    await world.click(second, "confirm", SOMEBODY_ELSE)
    assert (await world.decide(second)).status == "executing"


@pytest.mark.parametrize("named", [{"previous_user_id": "BR.55"}, {}])
async def test_the_new_identity_is_not_the_changed_one(world: World, named: dict[str, str]) -> None:
    """He has written under the new user id before the news of the change comes, whether or not it
    names the one of before: that conversation, and what is pending in it, stand."""
    first, second = await asked(world, BY_BOTH), await _as_member(world, SOMEBODY_ELSE)
    await change(world, "user_changed_user_id", sender=BY_PHONE, new_user_id="BR.66", **named)
    assert (await world.decide(first)).status == "cancelled"
    assert (await world.decide(second)).status == "pending"
    closed = await world.pool.fetch("SELECT user_id FROM conversations WHERE closed_at IS NOT NULL")
    assert [row["user_id"] for row in closed] == ["BR.55"]


async def test_the_same_person_on_a_new_device_keeps_his_role(world: World) -> None:
    """Re-registered: number and user id are his own still. What was pending ends, no more."""
    action = await asked(world, BY_PHONE)
    await change(world, "customer_identity_changed", sender=BY_PHONE, previous_wa_id=PHONE)
    assert (await world.decide(action)).status == "cancelled"
    assert await role(world, BY_PHONE) == "owner"
    assert await world.pool.fetchval("SELECT count(*) FROM conversations") == 1


async def _as_member(world: World, person: Person) -> str:
    await world.pool.execute(
        "INSERT INTO members (account_id, user_id, name, role)"
        " VALUES ('demo', $1, 'Eva Reis', 'owner')",
        person.user_id,
    )
    return await world.pending(
        person=person, arguments={"customer": "João Silva", "amount_cents": 25000}
    )


async def test_numbers_with_and_without_the_ninth_digit_are_two_people(world: World) -> None:
    """Registered with it, written from without it: no role, another conversation, and each stored
    to the byte."""
    await world.pool.execute(
        "INSERT INTO members (account_id, wa_id, name, role) VALUES ('demo', $1, 'A', 'owner')",
        PHONE,
    )
    assert await role(world, Person(wa_id=WITHOUT_NINTH)) == "public"
    assert await role(world, BY_PHONE) == "owner"
    rows = await world.pool.fetch(
        "SELECT wa_id FROM conversations WHERE phone_number_id = $1", NUMBER
    )
    assert sorted(row["wa_id"] for row in rows) == [WITHOUT_NINTH, PHONE]
