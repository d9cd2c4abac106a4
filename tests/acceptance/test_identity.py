"""Who is who, through real processes: numbers are never rewritten, a changed identity ends what is
pending and carries nothing over, and what is no person's input is never read."""

import json
import time
import uuid
from typing import Any

import pytest

from simulators.whatsapp.config import Person
from tests.acceptance.operator import aval
from tests.harness.scenes import ask, heard, model_calls, prompts, propose
from tests.harness.stack import Stack
from tests.harness.team import envelope

BOOK = (
    '/tool create_booking {"customer":"%s","professional":"Bruno Reis",'
    '"starts_at":"2099-03-11T14:00:00-03:00"}'
)
CHARGE = '/tool create_pix_charge {"customer":"João Silva","amount_cents":100}'


async def sent_to(stack: Stack, person: str) -> set[str]:
    """The addresses, as they stood in our requests, that reached a person."""
    sends = (await stack.whatsapp.journal()).sends
    bodies = [one.body for one in sends if one.person == person and one.kind != "read"]
    return {str(body.get("to") or body.get("recipient")) for body in bodies if "type" in body}


async def tools_offered(stack: Stack) -> list[str]:
    """The tools of the last call of the model."""
    return list((await stack.claude.journal())[-1]["tools"])


async def results(stack: Stack) -> list[str]:
    """What the tools of the last call's conversation answered, as the model got it."""
    messages: list[dict[str, Any]] = (await stack.claude.journal())[-1]["messages"]
    return [
        str(block["content"])
        for one in messages
        for block in one["content"]
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]


# -- numbers


@pytest.mark.parametrize("wa_id", ["551188880009", "5511988880009", "551133330009"])
async def test_a_brazilian_number_goes_through_the_flow_to_the_byte(
    stack: Stack, wa_id: str
) -> None:
    """With the ninth digit, without it, and a landline: the whole flow, each message to exactly
    the number that wrote, and the member is who was registered with it."""
    await stack.whatsapp.put_person(Person(id="ivo", name="Ivo Reis", wa_id=wa_id))
    code, said = await aval(
        stack, "members", "add", "demo", "Ivo Reis", "--role", "owner", "--phone", f"+{wa_id}"
    )
    assert code == 0, said
    action = await propose(stack, person="ivo")
    assert (action["wa_id"], action["user_id"]) == (wa_id, None)
    await stack.whatsapp.press("ivo", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert await stack.charges() == 1
    assert await sent_to(stack, "ivo") == {f"+{wa_id}"}


async def test_a_number_that_differs_by_the_ninth_digit_is_somebody_else(stack: Stack) -> None:
    """Registered with it, written from without it: no member's tools, and nothing that the model
    asks for all the same is done."""
    await stack.whatsapp.put_person(Person(id="ivo", name="Ivo Reis", wa_id="551188880009"))
    code, said = await aval(
        stack, "members", "add", "demo", "Ivo", "--role", "owner", "--phone", "+5511988880009"
    )
    assert code == 0, said
    await ask(stack, CHARGE, person="ivo")
    assert "create_pix_charge" not in await tools_offered(stack)
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 0
    assert await sent_to(stack, "ivo") == {"+551188880009"}


# -- a changed identity


async def became(stack: Stack, kind: str, **named: str) -> None:
    """Meta says that Maria became somebody else to us."""
    message = {
        "from": "5511988880001",
        "id": f"wamid.{uuid.uuid4().hex}",
        "timestamp": str(int(time.time())),
        "type": "system",
        "system": {"body": "changed", "type": kind, **named},
    }
    assert await stack.whatsapp.post_raw_body(body=envelope("messages", "messages", message)) == 200


CHANGES = {
    "user_changed_number": {
        "wa_id": "5511977770001",
        "user_id": "BR.1000000000000009",
        "previous_user_id": "BR.1000000000000001",
    },
    "user_changed_user_id": {
        "user_id": "BR.1000000000000009",
        "previous_user_id": "BR.1000000000000001",
    },
}


@pytest.mark.parametrize("kind", CHANGES)
async def test_a_changed_identity_cancels_and_carries_no_role_over(stack: Stack, kind: str) -> None:
    """The owner's prompt is open when she becomes somebody else: cancelled, her click does nothing,
    and who she is now is offered nothing that needs a role, until an operator registers her."""
    action = await propose(stack)
    await became(stack, kind, **CHANGES[kind])
    await stack.wait_status(action["id"], "cancelled")
    await stack.whatsapp.press("maria", "confirm")
    new = Person(
        id="maria-now",
        name="Maria Souza",
        wa_id=CHANGES[kind].get("wa_id", "5511988880001"),
        user_id="BR.1000000000000009",
    )
    await stack.whatsapp.put_person(new)
    await stack.whatsapp.press(
        "maria-now", button_id=f"pa:confirm:{action['id']}", with_context=False
    )
    await ask(stack, CHARGE, person="maria-now")
    await stack.quiet()
    assert "create_pix_charge" not in await tools_offered(stack)
    assert await prompts(stack, "maria-now") == []
    assert await stack.charges() == 0
    assert (await stack.action(action["id"]))["status"] == "cancelled"
    code, said = await aval(
        stack, "members", "add", "demo", "Maria", "--role", "owner", "--user-id", str(new.user_id)
    )
    assert code == 0, said
    again = await propose(stack, person="maria-now")
    await stack.whatsapp.press("maria-now", "confirm")
    await stack.wait_status(again["id"], "executed")
    assert await stack.charges() == 1


# -- what is no person's input


async def test_groups_and_standby_are_never_read(stack: Stack) -> None:
    """A request, a yes and a click from a group, and the same while another handler has the
    conversation: stored, no turn, no call of the model, no word, nothing decided."""
    action = await propose(stack)
    await stack.quiet()
    calls, texts = await model_calls(stack), await heard(stack)
    pressed = {"type": "button_reply", "button_reply": {"id": f"pa:confirm:{action['id']}"}}
    says: list[dict[str, Any]] = [
        {"type": "text", "text": {"body": CHARGE}},
        {"type": "text", "text": {"body": "sim"}},
        {"type": "interactive", "interactive": pressed},
    ]
    for one in says:
        await stack.whatsapp.send_raw("maria", {**one, "group_id": "g1"})
        message = {
            "from": "5511988880001",
            "from_user_id": "BR.1000000000000001",
            "id": f"wamid.{uuid.uuid4().hex}",
            "timestamp": str(int(time.time())),
            **one,
        }
        body = envelope("standby", "messages", message)
        assert await stack.whatsapp.post_raw_body(body=body) == 200
    await stack.quiet()
    stored = await stack.pool.fetchval(
        "SELECT count(*) FROM inbox WHERE reason IN ('group', 'not_input: standby')"
    )
    assert stored == 2 * len(says)
    assert (await model_calls(stack), await heard(stack)) == (calls, texts)
    assert await stack.pool.fetchval("SELECT count(*) FROM decisions") == 0
    assert (await stack.action(action["id"]))["status"] == "pending"
    assert await stack.charges() == 0


# -- roles


async def booked_by_ana(stack: Stack) -> str:
    """Ana, a customer, has a booking; the id of the action that made it."""
    action = await propose(stack, BOOK % "Ana Prado", person="ana")
    await stack.whatsapp.press("ana", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    return str(action["id"])


async def test_a_stranger_cannot_cancel_anothers_booking(stack: Stack) -> None:
    """He names its very id: the same answer as for one that does not exist, and no prompt; the
    customer herself can."""
    await booked_by_ana(stack)
    booking = await stack.pool.fetchval("SELECT max(id) FROM bookings")
    nobodys = booking + 1000
    answers = []
    for number in (booking, nobodys):
        await ask(stack, f'/tool cancel_booking {{"booking_id":{number}}}', person="carlos")
        answers.append((await results(stack))[-1].replace(str(number), "N"))
    assert answers[0] == answers[1]
    assert "Bruno" not in answers[0]
    assert await prompts(stack, "carlos") == []
    action = await propose(stack, f'/tool cancel_booking {{"booking_id":{booking}}}', person="ana")
    assert action["tool"] == "cancel_booking"


async def test_a_stranger_learns_nothing_through_already_done(stack: Stack) -> None:
    """He asks for exactly what was booked for another: not found, as for a customer who does not
    exist; the customer herself is told that it is done already."""
    await booked_by_ana(stack)
    answers = []
    for name in ("Ana Prado", "Nobody Atall"):
        await ask(stack, BOOK % name, person="carlos")
        answers.append((await results(stack))[-1].replace(name, "N"))
    assert answers[0] == answers[1]
    told = json.dumps(await results(stack))
    assert "already_done" not in told
    assert "booking_id" not in told
    await ask(stack, BOOK % "Ana Prado", person="ana")
    assert "already" in (await results(stack))[-1] or "já" in (await results(stack))[-1]


async def test_a_member_dismissed_before_the_click_no_longer_decides(stack: Stack) -> None:
    """An operator ends the membership while the prompt is open: the click does nothing, and is
    told so once."""
    action = await propose(stack)
    member = await stack.pool.fetchval("SELECT id FROM members WHERE active")
    code, said = await aval(stack, "members", "remove", "demo", str(member))
    assert code == 0, said
    await stack.whatsapp.press("maria", "confirm", times=2)
    await stack.wait_status(action["id"], "failed")
    await stack.quiet()
    assert await stack.charges() == 0
    assert sum("permissão" in text for text in await heard(stack)) == 1
    assert (await stack.action(action["id"]))["reason"] == "role_gone"
