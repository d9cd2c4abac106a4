"""Every kind of input of the corpus through real processes: answered as docs/inputs.md says."""

import json
from typing import Any

from channels.whatsapp.parse import parse_webhook
from domain.inbound import InboundKind
from domain.inputs import TREATMENTS, Treatment
from domain.texts import texts_for
from tests.corpus import whatsapp_bodies
from tests.harness.scenes import heard, model_calls
from tests.harness.stack import NUMBER, Stack

TEXTS = texts_for("pt-BR")
BY_TEMPLATE = {Treatment.CAPTION, Treatment.HEARD, Treatment.TEMPLATE}
HEAD = {"from", "from_user_id", "from_parent_user_id", "id", "timestamp", "group_id"}


def entries(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of a webhook's body."""
    return list(body["entry"])


def as_marias(body: dict[str, Any]) -> list[tuple[InboundKind, str | None, dict[str, Any]]]:
    """Kind, text and message object of each message in a body, without its sender and id."""
    found = []
    for entry in entries(body):
        for change in entry["changes"]:
            for message in change["value"].get("messages", []):
                one = {"object": body["object"], "entry": [_entry(message)]}
                item = parse_webhook(json.dumps(one).encode()).items[0]
                bare = {key: value for key, value in message.items() if key not in HEAD}
                found.append((item.kind, item.text, bare))
    return found


def _entry(message: dict[str, Any]) -> dict[str, Any]:
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"phone_number_id": NUMBER},
        "messages": [message],
    }
    return {"id": "1", "changes": [{"field": "messages", "value": value}]}


async def test_each_kind_that_cannot_be_read_is_answered_once_by_its_template(stack: Stack) -> None:
    """One message of each kind, and no model is called; two of a kind in one burst are answered
    once."""
    done: set[InboundKind] = set()
    for _, body in whatsapp_bodies():
        for kind, text, message in as_marias(body):
            by_template = not text and TREATMENTS[kind] in BY_TEMPLATE
            if not by_template or kind in done:
                continue
            done.add(kind)
            before = await heard(stack)
            await stack.whatsapp.send_raw("maria", message)
            await stack.quiet()
            assert (await heard(stack))[len(before) :] == [TEXTS.unsupported_input(kind)], kind
    wanted = {kind for kind, one in TREATMENTS.items() if one in BY_TEMPLATE}
    assert done == wanted - {InboundKind.VIDEO, InboundKind.DOCUMENT}, "those have captions there"
    assert await model_calls(stack) == 0


async def test_what_is_met_with_silence_starts_nothing(stack: Stack) -> None:
    """Reactions, edits, deletions, calls, echoes, foreign buttons, news about the account: stored,
    not answered, no turn, no model."""
    for _, body in whatsapp_bodies():
        for kind, _, message in as_marias(body):
            if TREATMENTS[kind] in {Treatment.SILENCE, Treatment.DECISION}:
                await stack.whatsapp.send_raw("maria", message)
        changes = [change["value"] for entry in entries(body) for change in entry["changes"]]
        if not any(value.get("messages") for value in changes):
            numbers = [value.get("metadata", {}).get("phone_number_id") for value in changes]
            text = json.dumps(body)
            for number in filter(None, numbers):
                text = text.replace(str(number), NUMBER)
            assert await stack.whatsapp.post_raw_body(text=text) == 200
    await stack.quiet()
    stored = {row["kind"] for row in await stack.pool.fetch("SELECT DISTINCT kind FROM inbox")}
    silent = {kind.value for kind, one in TREATMENTS.items() if one is Treatment.SILENCE}
    assert stored - {"button", "identity_changed"} == silent - {"standby", "quarantined"}
    assert await stack.pool.fetchval("SELECT count(*) FROM turns") == 0
    assert await heard(stack) == []
    assert await model_calls(stack) == 0


async def test_captions_lists_and_referrals_are_the_persons_words(stack: Stack) -> None:
    """The model reads a caption, with a note that a picture came; a list's choice; and a message
    that began at an advertisement."""
    picture = {"type": "image", "image": {"id": "1", "caption": "qual é o meu saldo?"}}
    await stack.whatsapp.send_raw("maria", picture)
    await stack.whatsapp.wait_message("maria", contains="1.000,00")
    choice = {"id": "7", "title": "saldo, por favor"}
    reply = {"type": "list_reply", "list_reply": choice}
    await stack.whatsapp.send_raw("maria", {"type": "interactive", "interactive": reply})
    await stack.whatsapp.wait_messages("maria", contains="1.000,00", count=2)
    await stack.quiet()
    first, *_, last = [entry["user_text"] for entry in await stack.claude.journal()]
    assert "qual é o meu saldo?" in first
    assert TEXTS.unreadable_note(InboundKind.IMAGE) in first
    assert "saldo, por favor" in last


async def test_a_picture_beside_words_is_a_note_for_the_model(patient_stack: Stack) -> None:
    """A burst of a picture and a text: one turn, the model's answer, no template."""
    await patient_stack.whatsapp.send_raw("maria", {"type": "image", "image": {"id": "1"}})
    await patient_stack.whatsapp.send_text("maria", "qual é o meu saldo?")
    await patient_stack.whatsapp.wait_message("maria", contains="1.000,00", timeout_seconds=20)
    await patient_stack.quiet()
    assert len(await heard(patient_stack)) == 1
    asked = (await patient_stack.claude.journal())[0]["user_text"]
    assert TEXTS.unreadable_note(InboundKind.IMAGE) in asked
