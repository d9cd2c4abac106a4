"""Echoes: to whom a human of the business wrote, and what; whatever cannot be read is kept."""

import json
from typing import Any

import pytest

from channels.whatsapp.parse import parse_webhook
from domain.inbound import InboundItem, InboundKind, Sender

BASE: dict[str, Any] = {
    "from": "551140000000",
    "to": "+5511988880001",
    "id": "wamid.1",
    "timestamp": "1790000000",
    "type": "text",
    "text": {"body": "oi, aqui é a Rita"},
}


def read(
    message: dict[str, Any], contacts: list[dict[str, Any]] | None = None, field: str = ""
) -> InboundItem:
    """The one item of an echo's webhook."""
    value = {"metadata": {"phone_number_id": "1"}, "message_echoes": [message]}
    if contacts is not None:
        value["contacts"] = contacts
    changes = [{"field": field or "smb_message_echoes", "value": value}]
    body = {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": changes}]}
    (item,) = parse_webhook(json.dumps(body).encode()).items
    assert item.kind is InboundKind.ECHO
    assert item.sender is None, "an echo is from nobody who could decide"
    return item


@pytest.mark.parametrize("field", ["smb_message_echoes", "message_echoes"])
def test_an_echo_names_the_person_and_the_words(field: str) -> None:
    """`to` without its plus; the id is its key, the time is Meta's."""
    item = read(BASE, field=field)
    assert item.recipient == Sender(user_id=None, wa_id="5511988880001", name=None)
    assert (item.text, item.key) == ("oi, aqui é a Rita", "wamid.1")
    assert item.sent_at is not None


def test_a_user_id_is_found_where_there_is_one() -> None:
    """In its own field, in `to`, or in the contact that carries the same phone."""
    own = read({**BASE, "to_user_id": "BR.1"})
    assert own.recipient == Sender(user_id="BR.1", wa_id="5511988880001", name=None)
    alone = read({**BASE, "to": "BR.1"})
    assert alone.recipient == Sender(user_id="BR.1", wa_id=None, name=None)
    contact = {"wa_id": "5511988880001", "user_id": "BR.7", "profile": {"name": "Maria"}}
    assert read(BASE, [contact]).recipient == Sender(
        user_id="BR.7", wa_id="5511988880001", name="Maria"
    )


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"type": "image", "image": {"id": "1", "caption": "a nota"}}, "a nota"),
        ({"type": "image", "image": {"id": "1"}}, None),
        ({"type": "reaction", "reaction": {"message_id": "wamid.0", "emoji": "👍"}}, None),
        ({"text": None}, None),
        ({"text": {"body": "nul \x00"}}, None),
        ({"text": "no object"}, None),
        ({"type": "something_new"}, None),
    ],
)
def test_what_has_no_words_is_an_echo_all_the_same(
    changed: dict[str, Any], text: str | None
) -> None:
    """A human did something: the person is known, and the conversation is his."""
    item = read({**BASE, **changed})
    assert item.text == text
    assert item.recipient is not None


@pytest.mark.parametrize(
    "changed", [{"to": None}, {"to": ""}, {"to": "+"}, {"to": 5}, {"group_id": "g1"}]
)
def test_an_echo_to_nobody_or_a_group_has_no_recipient(changed: dict[str, Any]) -> None:
    """Kept, and it takes over no conversation."""
    assert read({**BASE, **changed}).recipient is None


def test_a_status_among_the_echoes_is_no_message() -> None:
    """It tells how far a message came, not that a human wrote one."""
    item = read({**BASE, "status": "sent"})
    assert (item.recipient, item.text) == (None, None)
    assert item.key.startswith("sha256:")
