"""Attacks on the typed yes: everything that must make an ordinary message of it, one thing at a
time, through the product's own doors; and that it is a decision like a click, once."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from activities.messages import ConversationRef, Taken
from activities.take import Take
from domain.inbound import DeliveryStatus, InboundItem, InboundKind, StatusUpdate
from domain.people import Person
from store import outbox, turns, typed_yes
from store.outbox import NewMessage
from tests.integration.store.kit import CARLOS, MARIA, NUMBER, World, waits_for_a_lock

BOOKING: dict[str, Any] = {
    "customer": "João Silva",
    "professional": "Bruno Reis",
    "starts_at": "2099-03-11T14:00:00-03:00",
}
LATER = timedelta(seconds=2)


async def booking(world: World, person: Person = MARIA) -> str:
    """A pending action that a typed yes may confirm."""
    return await world.pending("create_booking", BOOKING, person)


async def delivered(world: World, action: str, *, at: datetime | None = None) -> datetime:
    """Send the prompt and have it delivered; the channel's whole second of it."""
    key = f"action:{action}:prompt"
    assert await world.claim(key) is not None
    await world.out(outbox.accepted, key, wamid=f"wamid.{action}")
    second = (at or datetime.now(UTC)).replace(microsecond=0)
    await world.receive(
        statuses=[
            StatusUpdate(
                phone_number_id=NUMBER,
                wamid=f"wamid.{action}",
                status=DeliveryStatus.DELIVERED,
                at=second,
                callback_data=key,
                raw=b"{}",
            )
        ]
    )
    return second


async def conversation_of(world: World, action: str) -> uuid.UUID:
    """The action's conversation."""
    found: uuid.UUID = (await world.row(action))["conversation_id"]
    return found


async def take(world: World, action: str) -> Taken:
    """Run *take* on the action's conversation."""
    conversation = await conversation_of(world, action)
    return await Take(world.deps).run(ConversationRef(conversation_id=conversation))


async def decisions(world: World) -> list[dict[str, Any]]:
    """All decisions, in the order stored."""
    return [dict(row) for row in await world.pool.fetch("SELECT * FROM decisions ORDER BY seq")]


async def ready(world: World) -> tuple[str, datetime]:
    """A pending booking whose prompt was delivered, and when a yes may be sent."""
    action = await booking(world)
    return action, await delivered(world, action) + LATER


async def test_a_yes_is_a_decision_like_a_click(world: World) -> None:
    """Typed, of the person, received when the message was; the message is done and no turn's; the
    action executes, and its evidence holds the item as it was signed."""
    action, later = await ready(world)
    await world.receive(world.item(MARIA, text="Sim.", sent_at=later, raw=b'{"signed": "sim"}'))
    taken = await take(world, action)
    assert taken.turn_id is None
    assert taken.confirmed is not None
    assert taken.confirmed.action_id == action

    (decision,) = await decisions(world)
    message = dict(await world.pool.fetchrow("SELECT * FROM inbox ORDER BY seq DESC LIMIT 1") or {})
    assert (decision["source"], decision["verdict"]) == ("typed", "confirm")
    assert decision["user_id"] == MARIA.user_id
    assert decision["inbox_id"] == message["id"]
    assert decision["received_at"] == message["received_at"]
    assert (message["reason"], message["turn_id"]) == ("typed_yes", None)
    assert message["done_at"] is not None

    assert (await world.decide(action)).status == "executing"
    history = await world.pool.fetch("SELECT content FROM history WHERE kind = 'action_event'")
    assert len(history) == 1
    evidence = await world.pool.fetchval(
        "SELECT detail FROM audit_events WHERE action_id = $1 AND event = 'executing'", action
    )
    assert evidence["signed_item"] == '{"signed": "sim"}'
    assert await world.messages(action, "reminder") == []


Attack = Callable[[World, str, datetime], Awaitable[list[InboundItem]]]


def only(**fields: Any) -> Attack:
    """One message that differs from a yes in these fields."""

    async def attack(world: World, action: str, later: datetime) -> list[InboundItem]:
        return [world.item(MARIA, **{"text": "sim", "sent_at": later, **fields})]

    return attack


async def in_two_messages(world: World, action: str, later: datetime) -> list[InboundItem]:
    """`sim`, and `mas muda pra 200` in the same burst."""
    first = world.item(MARIA, text="sim", sent_at=later)
    return [first, world.item(MARIA, text="mas muda pra 200", sent_at=later)]


async def twice(world: World, action: str, later: datetime) -> list[InboundItem]:
    """Two yeses in one burst are not one message."""
    return [world.item(MARIA, text="sim", sent_at=later) for _ in range(2)]


async def in_the_prompts_second(world: World, action: str, later: datetime) -> list[InboundItem]:
    """Whole seconds: it may have been written before."""
    return [world.item(MARIA, text="sim", sent_at=later - LATER)]


async def after_a_question(world: World, action: str, later: datetime) -> list[InboundItem]:
    """The agent asked something else meanwhile: the yes may be for that."""
    await say(world, action, "Quer que eu avise o cliente?")
    return [world.item(MARIA, text="sim", sent_at=later)]


async def after_a_question_in_doubt(
    world: World, action: str, later: datetime
) -> list[InboundItem]:
    """A message that may have gone out counts as sent."""
    key = await say(world, action, "Quer que eu avise o cliente?", send=False)
    assert await world.claim(key) is not None
    return [world.item(MARIA, text="sim", sent_at=later)]


async def after_an_older_question_that_came_late(
    world: World, action: str, later: datetime
) -> list[InboundItem]:
    """A message that was sent before the prompt and delivered after it stands below it."""
    key = await say(world, action, "Quer que eu avise o cliente?")
    await world.pool.execute(
        "UPDATE outbox SET fenced_at = created_at - interval '1 hour', delivered_at = $2"
        " WHERE key = $1",
        key,
        later,
    )
    return [world.item(MARIA, text="sim", sent_at=later)]


def after(**fields: Any) -> Attack:
    """Something else of the person came between, and was handled."""

    async def attack(world: World, action: str, later: datetime) -> list[InboundItem]:
        await world.receive(world.item(MARIA, **fields))
        await world.pool.execute(
            "UPDATE inbox SET done_at = clock_timestamp(), ring_at = NULL WHERE done_at IS NULL"
        )
        return [world.item(MARIA, text="sim", sent_at=later)]

    return attack


async def say(world: World, action: str, text: str, *, send: bool = True) -> str:
    """A reply of the agent in the action's conversation; its key."""
    key = f"turn:{uuid.uuid4()}:reply:0"
    async with world.pool.acquire() as connection:
        await outbox.enqueue(
            connection,
            conversation=await conversation_of(world, action),
            message=NewMessage(key=key, purpose="reply", message={"type": "text", "text": text}),
        )
    if send:
        assert await world.claim(key) is not None
        await world.out(outbox.accepted, key, wamid=f"wamid.{key}")
    return key


MESSAGES: dict[str, Attack] = {
    "siiim": only(text="siiim"),
    "pode mandar": only(text="pode mandar"),
    "sim?": only(text="sim?"),
    "ok?": only(text="ok?"),
    "s-i-m": only(text="s-i-m"),
    "sim mas muda pra 200": only(text="sim mas muda pra 200"),
    "sim, pode cancelar": only(text="sim, pode cancelar"),
    "two lines": only(text="sim\nmas muda pra 200"),
    "an emoji": only(text="👍"),
    "a yes with an emoji": only(text="sim 👍"),
    "quoted": only(quoted_id="wamid.of.the.prompt"),
    "forwarded": only(forwarded=True),
    "a voice message": only(kind=InboundKind.AUDIO, text=None),
    "a transcript of a voice message": only(kind=InboundKind.AUDIO),
    "a list reply": only(kind=InboundKind.LIST_REPLY),
    "a caption": only(kind=InboundKind.IMAGE),
    "without a time": only(sent_at=None),
    "in the prompt's second": in_the_prompts_second,
    "a burst of two": in_two_messages,
    "twice": twice,
}

SITUATIONS: dict[str, Attack] = {
    "after a question": after_a_question,
    "after a question in doubt": after_a_question_in_doubt,
    "after an older question that came late": after_an_older_question_that_came_late,
    "after a message": after(text="deixa eu ver"),
    "after a foreign button": after(kind=InboundKind.BUTTON, button_id="menu:1"),
    "after a reaction": after(kind=InboundKind.REACTION, text="👎"),
    "after an edit": after(kind=InboundKind.EDITED, text="muda pra 200"),
}


async def attacked(world: World, attack: Attack) -> str:
    """No decision; the message goes to a turn, with one reminder to press the button; and the
    action, which is returned, still waits for its click."""
    action, later = await ready(world)
    before = len(await decisions(world))
    await world.receive(*await attack(world, action, later))
    taken = await take(world, action)
    assert len(await decisions(world)) == before
    assert taken.confirmed is None
    assert taken.turn_id is not None
    assert await world.messages(action, "reminder") == ["reminder"]
    assert taken.reminded is not None
    assert (await world.decide(action)).status == "pending"
    await world.close(taken.turn_id, "reply")
    return action


async def test_messages_that_are_no_exact_yes_confirm_nothing(world: World) -> None:
    """Each of the table is an ordinary message; a plain yes at the end still confirms, so it was
    the message and not what had come before."""
    for attack in MESSAGES.values():
        action = await attacked(world, attack)
        await world.click(action, "cancel")
        assert (await world.decide(action)).status == "cancelled"
    action, later = await ready(world)
    await world.receive(world.item(MARIA, text="sim", sent_at=later))
    assert (await take(world, action)).confirmed is not None


@pytest.mark.parametrize("attack", SITUATIONS.values(), ids=SITUATIONS.keys())
async def test_a_yes_after_anything_else_is_an_ordinary_message(
    world: World, attack: Attack
) -> None:
    """What it answers may be the other thing; the button still decides."""
    action = await attacked(world, attack)
    await world.click(action)
    assert (await world.decide(action)).status == "executing"


async def test_money_needs_the_button(world: World) -> None:
    """A tool whose policy is `button`: no typed yes, one reminder."""
    action = await world.pending()
    later = await delivered(world, action) + LATER
    await world.receive(world.item(MARIA, text="sim", sent_at=later))
    taken = await take(world, action)
    assert taken.confirmed is None
    assert await decisions(world) == []
    assert await world.messages(action, "reminder") == ["reminder"]


async def test_a_prompt_that_is_not_known_to_have_arrived_cannot_be_answered_by_word(
    world: World,
) -> None:
    """Not sent, in doubt, accepted only, or failed after all: the button on it is the proof. Once
    it is delivered, the same yes counts."""
    action = await booking(world)
    key = f"action:{action}:prompt"
    soon = datetime.now(UTC) + timedelta(minutes=1)

    async def confirms() -> bool:
        async with world.pool.acquire() as mine:
            transaction = mine.transaction()
            await transaction.start()
            await turns.lock_conversation(mine, await conversation_of(world, action))
            found = await typed_yes.take_yes(mine, await conversation_of(world, action))
            await transaction.rollback()
        return found is not None

    await world.receive(world.item(MARIA, text="sim", sent_at=soon))
    assert not await confirms(), "not sent"
    assert await world.claim(key) is not None
    assert not await confirms(), "under way"
    await world.out(outbox.unknown, key, reason="no answer")
    assert not await confirms(), "in doubt"
    await world.out(outbox.accepted, key, wamid="wamid.p")
    assert not await confirms(), "accepted only"
    await world.status(DeliveryStatus.SENT, wamid="wamid.p", key=key, after=-86400)
    assert not await confirms(), "sent only"
    await world.status(DeliveryStatus.DELIVERED, wamid="wamid.p", key=key, after=-86400)
    assert await confirms(), "delivered"
    await world.status(DeliveryStatus.FAILED, wamid="wamid.p", key=key)
    assert not await confirms(), "failed after all"


async def test_without_a_pending_action_a_yes_is_a_message(world: World) -> None:
    """Nothing waits: no decision, no reminder. The same for another person's action."""
    action, later = await ready(world)
    conversation = await world.conversation(CARLOS, "sim")
    taken = await Take(world.deps).run(ConversationRef(conversation_id=conversation))
    assert taken.turn_id is not None
    assert await decisions(world) == []
    assert await world.messages(action, "reminder") == []

    await world.click(action, "cancel")
    await world.decide(action)
    await world.receive(world.item(MARIA, text="sim", sent_at=later))
    assert (await take(world, action)).turn_id is not None
    assert len(await decisions(world)) == 1
    assert await world.messages(action, "reminder") == []


async def test_an_open_turn_comes_first(world: World) -> None:
    """A yes that comes while a turn is open waits for the next one, and is a message then: what it
    answers is what the turn says."""
    action, later = await ready(world)
    await world.receive(world.item(MARIA, text="qual o saldo?", sent_at=later))
    taken = await take(world, action)
    assert taken.turn_id is not None
    await world.receive(world.item(MARIA, text="sim", sent_at=later + LATER))
    again = await take(world, action)
    assert again.turn_id == taken.turn_id
    assert await world.close(taken.turn_id, "reply")
    assert (await take(world, action)).confirmed is None
    assert await decisions(world) == []


async def test_the_open_turn_that_proposed_comes_first_too(world: World) -> None:
    """A turn that was terminated after its proposal is still open: its own messages first."""
    turn = await world.turn()
    done = await world.propose(await world.think(turn, "create_booking", BOOKING))
    assert done.action is not None
    action = done.action.action_id
    later = await delivered(world, action) + LATER
    await world.receive(world.item(MARIA, text="sim", sent_at=later))
    assert (await take(world, action)).turn_id == turn
    assert await decisions(world) == []


async def test_a_message_from_before_the_prompt_that_nobody_read_is_of_the_burst(
    world: World,
) -> None:
    """It came during the model's call: the yes is not alone, and both go to one turn."""
    turn = await world.turn()
    await world.receive(world.item(MARIA, text="e avisa o João?"))
    done = await world.propose(await world.think(turn, "create_booking", BOOKING))
    assert done.action is not None
    action = done.action.action_id
    await world.close(turn)
    later = await delivered(world, action) + LATER
    await world.receive(world.item(MARIA, text="sim", sent_at=later))
    assert (await take(world, action)).confirmed is None
    assert await decisions(world) == []


async def test_take_twice_at_once_and_again_is_one_decision(world: World) -> None:
    """A local activity may run twice: one decision, and the second run finds nothing to take."""
    action, later = await ready(world)
    await world.receive(world.item(MARIA, text="ok", sent_at=later))
    taken = await asyncio.gather(*(take(world, action) for _ in range(5)))
    assert sum(one.confirmed is not None for one in taken) == 1
    assert all(one.turn_id is None for one in taken)
    assert len(await decisions(world)) == 1


@pytest.mark.parametrize(("handled_after", "status"), [(30, "executing"), (62, "expired")])
async def test_the_deadline_is_judged_by_the_receipt(
    world: World, handled_after: float, status: str
) -> None:
    """Received in time, but handled within the grace only: executing. Later still: expired."""
    action, later = await ready(world)
    await world.at((await world.row(action))["expires_at"] - timedelta(seconds=1))
    await world.receive(world.item(MARIA, text="sim", sent_at=later))
    await world.move(seconds=handled_after)
    assert (await take(world, action)).confirmed is not None
    assert (await world.decide(action)).status == status


async def test_a_yes_received_too_late_expires_like_a_click(world: World) -> None:
    """Received after the deadline, but before *decide* closed the action: expired."""
    action, later = await ready(world)
    await world.at((await world.row(action))["expires_at"] + timedelta(seconds=1))
    await world.receive(world.item(MARIA, text="sim", sent_at=later))
    assert (await take(world, action)).confirmed is not None
    assert (await world.decide(action)).status == "expired"
    assert await world.refusals(action) == ["late"]


async def test_a_stored_cancel_wins_over_a_typed_yes(world: World) -> None:
    """The click between disqualifies the yes; and pressed after it, a stored Cancel wins too."""
    action, later = await ready(world)
    await world.receive(world.item(MARIA, text="sim", sent_at=later))
    assert (await take(world, action)).confirmed is not None
    await world.click(action, "cancel")
    assert (await world.decide(action)).status == "cancelled"
    assert await world.refusals(action) == ["overruled", None]


async def test_decide_never_passes_over_a_yes_that_is_being_stored(world: World) -> None:
    """*decide* waits for the transaction that stores it, and then follows it."""
    action, later = await ready(world)
    await world.receive(world.item(MARIA, text="sim", sent_at=later))
    conversation = await conversation_of(world, action)

    async with world.pool.acquire() as mine, mine.transaction():
        await turns.lock_conversation(mine, conversation)
        assert await typed_yes.take_yes(mine, conversation) is not None
        deciding = asyncio.create_task(world.decide(action))
        await waits_for_a_lock(world.pool)
    assert (await deciding).status == "executing"


async def test_one_reminder_per_action_while_it_is_pending(world: World) -> None:
    """Three near-yeses bring one reminder; decided meanwhile, it is not sent any more; the next
    action has one of its own."""
    action, later = await ready(world)
    for text in ("siiim", "pode mandar", "ok?"):
        await world.receive(world.item(MARIA, text=text, sent_at=later))
        taken = await take(world, action)
        assert taken.turn_id is not None
        await world.close(taken.turn_id, "reply")
    assert await world.messages(action, "reminder") == ["reminder"]
    await world.click(action, "cancel")
    await world.decide(action)
    key = f"action:{action}:reminder"
    assert await world.claim(key) is None
    assert (await world.message(key))["state"] == "dropped"

    following = await booking(world)
    await world.receive(world.item(MARIA, text="siiim"))
    await take(world, following)
    assert await world.messages(following, "reminder") == ["reminder"]


async def test_the_words_that_asked_for_the_action_bring_no_reminder(world: World) -> None:
    """ "Pode gerar ..." begins like a yes; *take* runs again after the turn proposed."""
    conversation = await world.conversation(MARIA, "pode marcar com o Bruno")
    ref = ConversationRef(conversation_id=conversation)
    taken = await Take(world.deps).run(ref)
    assert taken.turn_id is not None
    done = await world.propose(await world.think(taken.turn_id, "create_booking", BOOKING))
    assert done.action is not None
    again = await Take(world.deps).run(ref)
    assert again.turn_id == taken.turn_id
    assert await world.messages(done.action.action_id, "reminder") == []
