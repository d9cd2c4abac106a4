"""People write in pieces: a burst is one turn, nothing is lost, and a click never waits for it."""

import asyncio
import re
import time
import uuid
from collections import defaultdict
from typing import Any

from simulators.whatsapp.config import DEMO_PERSONS, Person
from tests.harness.scenes import PIX, heard, model_calls, propose
from tests.harness.stack import NUMBER, Stack

FLOOD, FLOOD_SECONDS, BATCHES = 200, 10, 20
CROWD, PIECES = 50, 3


async def turns_of(stack: Stack) -> list[list[str]]:
    """The texts of each turn, as the history keeps them, in its order."""
    rows = await stack.pool.fetch(
        "SELECT content FROM history WHERE kind = 'user_text' ORDER BY conversation_id, position"
    )
    return [[line["text"] for line in row["content"]["lines"]] for row in rows]


async def _until_called(stack: Stack, times: int) -> None:
    """Until the model has got so many calls, answered or not."""
    for _ in range(500):
        if await model_calls(stack) >= times:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"the model was called {await model_calls(stack)} of {times} times")


async def test_five_chopped_messages_are_one_turn(patient_stack: Stack) -> None:
    """Half a second apart: one turn, one call of the model with all five in order, one answer."""
    stack = patient_stack
    pieces = ["oi", "tudo bem?", "queria saber", "qual é", "o meu saldo"]
    for piece in pieces:
        await stack.whatsapp.send_text("maria", piece)
        await asyncio.sleep(0.3)
    await stack.whatsapp.wait_message("maria", contains="1.000,00", timeout_seconds=20)
    await stack.quiet()
    assert await turns_of(stack) == [pieces]
    assert await stack.pool.fetchval("SELECT count(*) FROM turns") == 1
    first = (await stack.claude.journal())[0]["user_text"]
    assert [first.index(piece) for piece in pieces] == sorted(first.index(one) for one in pieces)
    assert len(await heard(stack)) == 1


async def test_a_message_during_the_models_call_makes_the_next_turn(stack: Stack) -> None:
    """It is not put into the call under way, nor lost: both are answered, in order."""
    await stack.claude.fault("timeout", seconds=1.5, contains="saldo")
    await stack.whatsapp.send_text("maria", "qual é o meu saldo?")
    await _until_called(stack, 1)
    await stack.whatsapp.send_text("maria", "obrigada")
    await stack.whatsapp.wait_messages("maria", type="text", count=2, timeout_seconds=20)
    await stack.quiet()
    assert await turns_of(stack) == [["qual é o meu saldo?"], ["obrigada"]]
    balance, thanks = await heard(stack)
    assert "1.000,00" in balance
    assert "De nada" in thanks
    calls = [entry["user_text"] for entry in await stack.claude.journal()]
    assert sum("obrigada" in text for text in calls) == 1


async def test_a_click_in_a_burst_is_followed_at_once_and_is_no_turns(patient_stack: Stack) -> None:
    """She presses and goes on typing: the effect is there before the burst is over; what she typed
    is one turn, and the click is in none."""
    stack = patient_stack
    action = await propose(stack, PIX)
    turns = await stack.pool.fetchval("SELECT count(*) FROM turns")
    await stack.whatsapp.send_text("maria", "deixa eu")
    await stack.whatsapp.press("maria", "confirm")
    typing = asyncio.create_task(_type(stack, ["ver", "se", "está", "certo"]))
    await stack.wait_status(action["id"], "executed")
    assert not typing.done()
    assert await stack.pool.fetchval("SELECT count(*) FROM turns") == turns
    await typing
    await stack.quiet()
    assert await stack.charges() == 1
    assert (await turns_of(stack))[1:] == [["deixa eu", "ver", "se", "está", "certo"]]
    clicks = await stack.pool.fetch("SELECT reason, turn_id FROM inbox WHERE kind = 'button'")
    assert [tuple(row) for row in clicks] == [("click", None)]


async def _type(stack: Stack, words: list[str]) -> None:
    for word in words:
        await asyncio.sleep(0.8)
        await stack.whatsapp.send_text("maria", word)


async def test_a_click_while_the_model_is_called_waits_for_nothing(stack: Stack) -> None:
    """A turn that takes its time delays no click."""
    action = await propose(stack, PIX)
    await stack.claude.fault("timeout", seconds=3, contains="saldo")
    await stack.whatsapp.send_text("maria", "qual é o meu saldo?")
    await _until_called(stack, 2)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await stack.pool.fetchval("SELECT count(*) FROM turns WHERE closed_at IS NULL") == 1
    await stack.quiet()
    assert await stack.charges() == 1


def _message(person: Person, text: str, *, at: int) -> dict[str, Any]:
    return {
        "from": person.wa_id,
        "from_user_id": person.user_id,
        "id": f"wamid.{uuid.uuid4().hex}",
        "timestamp": str(at),
        "type": "text",
        "text": {"body": text},
    }


def _webhook(messages: list[dict[str, Any]]) -> dict[str, Any]:
    metadata = {"display_phone_number": "551140000000", "phone_number_id": NUMBER}
    value = {"messaging_product": "whatsapp", "metadata": metadata, "messages": messages}
    change = {"field": "messages", "value": value}
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]}


def _part(items: list[tuple[Person, str]], n: int) -> list[tuple[Person, str]]:
    """The n-th of the batches that hold the items in their order."""
    return items[n * len(items) // BATCHES : (n + 1) * len(items) // BATCHES]


async def test_a_flood_and_a_crowd_lose_nothing_and_keep_order(patient_stack: Stack) -> None:
    """200 messages in ten seconds to one conversation and, at the same time, 50 conversations of
    three, in batches as Meta cuts them: each message stands in exactly one turn, in the order sent;
    the model got each; nobody's words are in another's turn; everybody was answered."""
    stack = patient_stack
    crowd = [
        Person(id=f"p{n}", name=f"Pessoa {n}", wa_id=f"55119700{n:05}", user_id=f"BR.77{n:05}")
        for n in range(CROWD)
    ]
    await asyncio.gather(*(stack.whatsapp.put_person(person) for person in crowd))
    maria = DEMO_PERSONS[0]
    said = [(person, f"{person.id} diz {n}") for person in crowd for n in range(PIECES)]
    now = int(time.time())
    for n in range(BATCHES):
        each = FLOOD // BATCHES
        flood = [(maria, f"maria diz {one}") for one in range(n * each, (n + 1) * each)]
        at = now + n * FLOOD_SECONDS // BATCHES
        batch = [_message(person, text, at=at) for person, text in flood + _part(said, n)]
        assert await stack.whatsapp.post_raw_body(_webhook(batch)) == 200
    await stack.quiet(60)

    by_person: dict[str, list[int]] = defaultdict(list)
    turns = await turns_of(stack)
    for texts in turns:
        assert len({text.split()[0] for text in texts}) == 1
        for text in texts:
            by_person[text.split()[0]].append(int(text.split()[-1]))
    assert by_person.pop("maria") == list(range(FLOOD))
    assert by_person == {person.id: list(range(PIECES)) for person in crowd}

    everything = FLOOD + CROWD * PIECES
    rows = await stack.pool.fetchrow(
        "SELECT count(*) AS all, count(turn_id) AS taken, count(done_at) AS done FROM inbox"
    )
    assert rows is not None
    assert tuple(rows) == (everything,) * 3
    seen: set[str] = set()
    for entry in await stack.claude.journal():
        seen.update(re.findall(r"\w+ diz \d+", entry["user_text"]))
    assert len(seen) == everything
    assert len(turns) <= BATCHES + 2 * CROWD, "bursts are turns, messages are not"
    for person in crowd:
        assert await heard(stack, person.id), f"{person.id} was not answered"
