"""Who may confirm: the table of the facts, one test a row, through the webhook's own door and
*decide*. To whoever may not, a click leaves a refused decision or none, and never a word."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from channels.whatsapp.buttons import button_id
from domain.inbound import InboundKind
from domain.people import Person
from store import outbox
from tests.integration.store.kit import MARIA, OTHER_NUMBER, World

PHONE = "5511900001111"
WITHOUT_NINTH = "551100001111"
BY_PHONE = Person(wa_id=PHONE)
BY_BOTH = Person(user_id="BR.55", wa_id=PHONE)
SOMEBODY_ELSE = Person(user_id="BR.66", wa_id=PHONE)


@dataclass(frozen=True, kw_only=True)
class Row:
    """`frozen` asked and was shown the prompt; `clicks` presses Confirm. `refusal`: of the stored
    decision; `recorded`: why there is none."""

    says: str
    frozen: Person
    clicks: Person
    allowed: bool = False
    refusal: str | None = None
    recorded: str | None = None
    item: dict[str, Any] = field(default_factory=dict)


WRONG = "wrong_person"
ROWS = [
    Row(says="both user ids, equal", frozen=BY_BOTH, clicks=BY_BOTH, allowed=True),
    Row(
        says="both user ids, equal, the phone is missing",
        frozen=BY_BOTH,
        clicks=Person(user_id="BR.55"),
        allowed=True,
    ),
    Row(
        says="both user ids, equal, the phone has another form",
        frozen=BY_BOTH,
        clicks=Person(user_id="BR.55", wa_id=WITHOUT_NINTH),
        allowed=True,
    ),
    Row(
        says="both user ids, different, the phone matches",
        frozen=BY_BOTH,
        clicks=SOMEBODY_ELSE,
        refusal=WRONG,
    ),
    Row(
        says="the action has a user id, the click has none",
        frozen=BY_BOTH,
        clicks=BY_PHONE,
        refusal=WRONG,
    ),
    Row(
        says="the action has none, the click has one, the phone is equal",
        frozen=BY_PHONE,
        clicks=BY_BOTH,
        allowed=True,
    ),
    Row(says="only phones, equal", frozen=BY_PHONE, clicks=BY_PHONE, allowed=True),
    Row(
        says="only phones, equal but for the ninth digit",
        frozen=BY_PHONE,
        clicks=Person(wa_id=WITHOUT_NINTH),
        refusal=WRONG,
    ),
    Row(
        says="in a group",
        frozen=BY_BOTH,
        clicks=BY_BOTH,
        item={"group_id": "g1"},
        recorded="group",
    ),
    Row(
        says="forwarded",
        frozen=BY_BOTH,
        clicks=BY_BOTH,
        item={"forwarded": True},
        recorded="forwarded_button",
    ),
    *(
        Row(
            says=f"{kind.value} that says yes",
            frozen=BY_BOTH,
            clicks=BY_BOTH,
            item={"kind": kind, "text": "sim"},
            recorded=recorded,
        )
        for kind, recorded in (
            (InboundKind.REACTION, "not_input: reaction"),
            (InboundKind.EDITED, "not_input: edited"),
            (InboundKind.TEXT, None),
            (InboundKind.AUDIO, None),
            (InboundKind.ECHO, "not_input: echo"),
            (InboundKind.STANDBY, "not_input: standby"),
        )
    ),
    Row(
        says="it names another message than the prompt",
        frozen=BY_BOTH,
        clicks=BY_BOTH,
        item={"quoted_id": "wamid.foreign"},
        refusal="foreign_prompt",
    ),
    Row(
        says="it names the prompt",
        frozen=BY_BOTH,
        clicks=BY_BOTH,
        item={"quoted_id": "wamid.prompt"},
        allowed=True,
    ),
    Row(
        says="another business number that is not ours",
        frozen=BY_BOTH,
        clicks=BY_BOTH,
        item={"phone_number_id": OTHER_NUMBER},
        recorded="number_not_served",
    ),
]


async def asked(world: World, person: Person) -> str:
    """The pending action of a member who is known by what `person` says, its prompt sent."""
    await world.pool.execute(
        "INSERT INTO members (account_id, user_id, wa_id, name, role)"
        " VALUES ('demo', $1, $2, 'Ivo Reis', 'owner')",
        person.user_id,
        person.wa_id,
    )
    action = await world.pending(person=person)
    await sent(world, action, wamid="wamid.prompt")
    return action


async def sent(world: World, action: str, *, wamid: str | None) -> None:
    """The prompt went out; without `wamid` its answer was lost."""
    key = f"action:{action}:prompt"
    assert await world.claim(key) is not None
    if wamid is None:
        await world.out(outbox.unknown, key, reason="lost")
    else:
        await world.out(outbox.accepted, key, wamid=wamid)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.says)
async def test_the_table_of_who_may_confirm(world: World, row: Row) -> None:
    """Allowed: the action executes. Denied: it stays pending, and the sender hears nothing, as for
    an id that nobody knows."""
    action = await asked(world, row.frozen)
    fields = {"kind": InboundKind.BUTTON, "button_id": button_id("confirm", action), **row.item}
    await world.receive(world.item(row.clicks, **fields))
    status = (await world.decide(action)).status
    assert status == ("executing" if row.allowed else "pending")
    refused = [one for one in await world.refusals(action) if one]
    assert refused == ([row.refusal] if row.refusal else [])
    newest = await world.pool.fetchrow("SELECT reason FROM inbox ORDER BY seq DESC LIMIT 1")
    assert newest is not None
    if not row.allowed and row.refusal is None:
        assert newest["reason"] == row.recorded
        assert await world.pool.fetchval("SELECT count(*) FROM decisions") == 0
    assert await world.messages(action) == ["prompt"]
    if not row.allowed:
        await world.click(action, "confirm", row.frozen)
        assert (await world.decide(action)).status == "executing", "the right one still may"


@pytest.mark.parametrize("status", ["executed", "cancelled"])
async def test_a_denied_click_on_a_closed_action_is_silent_too(world: World, status: str) -> None:
    """The right person would be answered; whoever is not, or presses under a foreign message, is
    not, and learns nothing."""
    action = await asked(world, BY_BOTH)
    await world.click(action, "cancel", BY_BOTH)
    await world.decide(action)
    before = await world.messages(action)
    await world.click(action, "confirm", SOMEBODY_ELSE)
    await world.click(action, "confirm", BY_BOTH, quoted_id="wamid.foreign")
    await world.decide(action)
    assert await world.messages(action) == before
    assert (await world.refusals(action))[1:] == ["wrong_person", "foreign_prompt"]
    assert await world.unanswered(action) == 0


async def test_a_click_on_a_copy_that_nobody_told_us_of_is_followed(world: World) -> None:
    """The answer to the prompt's send was lost, so its id is unknown: the click names a message
    that we cannot know, and it is the prompt."""
    await world.pool.execute(
        "INSERT INTO members (account_id, user_id, name, role)"
        " VALUES ('demo', 'BR.55', 'Ivo Reis', 'owner')"
    )
    action = await world.pending(person=BY_BOTH)
    await sent(world, action, wamid=None)
    await world.click(action, "confirm", BY_BOTH, quoted_id="wamid.of-the-lost-answer")
    assert (await world.decide(action)).status == "executing"


async def test_a_click_on_another_prompt_of_ours_is_foreign_even_then(world: World) -> None:
    """A message whose id we know is not a copy that nobody told us of."""
    first = await asked(world, BY_BOTH)
    other = await world.pending(person=MARIA)
    await sent(world, other, wamid=None)
    await world.click(other, "confirm", MARIA, quoted_id="wamid.prompt")
    assert (await world.decide(other)).status == "pending"
    assert await world.refusals(other) == ["foreign_prompt"]
    assert (await world.decide(first)).status == "pending"


async def test_the_first_user_id_that_a_phone_shows_is_bound(world: World) -> None:
    """Allowed, and recorded: the conversation has it, and another user id with the same phone is
    somebody else from then on, for a click on the old action too."""
    action = await asked(world, BY_PHONE)
    await world.conversation(BY_BOTH)
    await world.click(action, "confirm", SOMEBODY_ELSE)
    await world.click(action, "confirm", BY_PHONE)
    assert (await world.decide(action)).status == "pending"
    assert await world.refusals(action) == ["wrong_person", "wrong_person"]
    await world.click(action, "confirm", BY_BOTH)
    assert (await world.decide(action)).status == "executing"


async def test_another_business_number_of_ours_is_another_conversation(world: World) -> None:
    """The right person on the wrong one of two numbers of the same account."""
    await world.pool.execute("INSERT INTO business_numbers VALUES ($1, 'demo')", OTHER_NUMBER)
    action = await asked(world, BY_BOTH)
    await world.click(action, "confirm", BY_BOTH, phone_number_id=OTHER_NUMBER)
    assert (await world.decide(action)).status == "pending"
    assert await world.refusals(action) == [WRONG]


def test_the_page_tells_the_table() -> None:
    """docs/identity.md has each row, in this order, with what happens."""
    page = (Path(__file__).parents[3] / "docs" / "identity.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    told = [(says, happens.split(";")[0]) for says, happens in rows[1:]]
    assert told == [(row.says, _happens(row)) for row in ROWS]


def _happens(row: Row) -> str:
    if row.allowed:
        return "followed"
    return "refused" if row.refusal else "no decision"
