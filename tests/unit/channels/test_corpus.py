"""The parser against bodies that others recorded (the pywa project's test data, MIT)."""

import json

import pytest

from channels.whatsapp.jsontext import dump
from channels.whatsapp.parse import parse_webhook
from domain.inbound import DeliveryStatus, InboundItem, InboundKind, StatusUpdate
from tests.corpus import whatsapp_bodies, whatsapp_body
from tests.unit.channels.envelopes import Json, encode

KINDS = {
    "callback_button/button": InboundKind.BUTTON,
    "callback_button/quick_reply": InboundKind.BUTTON,
    "callback_button/quick_reply_without_context": InboundKind.BUTTON,
    "callback_selection/callback": InboundKind.LIST_REPLY,
    "callback_selection/description": InboundKind.LIST_REPLY,
    "call_connect/business_initiated": InboundKind.CALL,
    "call_connect/user_initiated": InboundKind.CALL,
    "call_permission_update/accept": InboundKind.UNKNOWN,
    "call_status/call_status": InboundKind.CALL,
    "deleted_message/revoke": InboundKind.DELETED,
    "edited_message/image": InboundKind.EDITED,
    "flow_completion/completion": InboundKind.FLOW,
    "message/text": InboundKind.TEXT,
    "message/image": InboundKind.IMAGE,
    "message/media_with_url": InboundKind.IMAGE,
    "message/video": InboundKind.VIDEO,
    "message/document": InboundKind.DOCUMENT,
    "message/audio": InboundKind.AUDIO,
    "message/voice": InboundKind.AUDIO,
    "message/static_sticker": InboundKind.STICKER,
    "message/animated_sticker": InboundKind.STICKER,
    "message/reaction": InboundKind.REACTION,
    "message/unreaction_no_emoji": InboundKind.REACTION,
    "message/current_location": InboundKind.LOCATION,
    "message/contacts": InboundKind.CONTACTS,
    "message/order": InboundKind.ORDER,
    "message/unsupported": InboundKind.UNSUPPORTED,
    "message/reply": InboundKind.TEXT,
    "message/forwarded": InboundKind.TEXT,
    "message/referral": InboundKind.TEXT,
    "message/interactive_message_with_err": InboundKind.UNSUPPORTED,
    "outgoing_message/text": InboundKind.ECHO,
    "outgoing_message/edit": InboundKind.ECHO,
    "system/phone_number_change": InboundKind.IDENTITY_CHANGED,
    "system/identity_change": InboundKind.IDENTITY_CHANGED,
    "template_category_update/marketing": InboundKind.ACCOUNT,
    "template_quality_update/yellow": InboundKind.ACCOUNT,
    "template_status_update/rejected": InboundKind.ACCOUNT,
    "user_marketing_preferences/resume": InboundKind.ACCOUNT,
}


def one(name: str) -> InboundItem:
    """The first item of a body of the corpus."""
    return parse_webhook(encode(whatsapp_body(name))).items[0]


def one_status(name: str) -> StatusUpdate:
    """The only status of a body of the corpus."""
    (update,) = parse_webhook(encode(whatsapp_body(name))).statuses
    return update


def elements_of(body: Json) -> int:
    """How many items and statuses must come out, counted without the parser."""
    count = 0
    entries = body["entry"]
    assert isinstance(entries, list)
    for change in (change for entry in entries for change in entry["changes"]):
        value = change["value"]
        names = (
            "messages",
            "statuses",
            "errors",
            "calls",
            "message_echoes",
            "user_preferences",
        )
        count += sum(len(value[name]) for name in names if name in value) or 1
    return count


def test_every_body_is_understood() -> None:
    """No body is lost, quarantined or misread in number; only call permissions are unknown."""
    bodies = list(whatsapp_bodies())
    assert len(bodies) >= 70
    for name, body in bodies:
        found = parse_webhook(encode(body))
        assert len(found.items) + len(found.statuses) == elements_of(body), name
        kinds = {item.kind for item in found.items}
        assert InboundKind.QUARANTINED not in kinds, name
        assert (InboundKind.UNKNOWN in kinds) == name.startswith("call_permission_update"), name


def test_all_bodies_in_one_delivery() -> None:
    """A batch of every body at once gives what the bodies give alone, in the same order."""
    bodies = [body for _, body in whatsapp_bodies()]
    alone = [parse_webhook(encode(body)) for body in bodies]
    entries = [entry for body in bodies for entry in _entries(body)]
    batch = {"object": "whatsapp_business_account", "entry": entries}
    together = parse_webhook(encode(batch))
    assert together.items == [item for found in alone for item in found.items]
    assert together.statuses == [update for found in alone for update in found.statuses]


def _entries(body: Json) -> list[object]:
    entries = body["entry"]
    assert isinstance(entries, list)
    return entries


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_kind(name: str, kind: InboundKind) -> None:
    """Each recorded body has the kind that a reader of Meta's pages would give it."""
    assert one(name).kind is kind


def test_raw_is_the_element() -> None:
    """Evidence: the raw bytes of a message are that message, whole and pure ASCII."""
    body = whatsapp_body("message/reaction")
    (entry,) = _entries(body)
    assert isinstance(entry, dict)
    message = entry["changes"][0]["value"]["messages"][0]
    assert one("message/reaction").raw == dump(message)
    assert one("message/reaction").raw.isascii()
    assert json.loads(one("message/reaction").raw) == message


def test_button_press() -> None:
    """A click carries its id, the prompt it answers, and both ids of the person."""
    item = one("callback_button/button")
    assert item.button_id == "callback_data"
    assert item.quoted_id == "wamid.xyzxyz"
    assert item.sender is not None
    assert item.sender.user_id == "US.13491208655302741918"
    assert item.sender.wa_id == "972987654321"
    assert item.from_person


def test_button_press_without_context() -> None:
    """A click without context is a click all the same."""
    item = one("callback_button/quick_reply_without_context")
    assert (item.button_id, item.quoted_id) == ("callback_data", None)


@pytest.mark.parametrize("name", ["message/forwarded", "message/forwarded_many_times"])
def test_forwarded(name: str) -> None:
    """Both marks of forwarding are seen: forwarded words are no consent."""
    assert one(name).forwarded


def test_edit_and_deletion_name_their_message() -> None:
    """An edit and a deletion say which message they are about, and start nothing."""
    assert one("edited_message/image").text == "Updated image caption"
    assert one("edited_message/image").target_id is not None
    assert one("deleted_message/revoke").target_id == "<ORIGINAL_WHATSAPP_MESSAGE_ID>"
    assert not one("edited_message/image").from_person
    assert not one("deleted_message/revoke").from_person


def test_number_change() -> None:
    """A new number says who the person was, also without contacts."""
    identity = one("system/phone_number_change").identity
    assert identity is not None
    assert (identity.previous_wa_id, identity.new_wa_id) == ("972987654321", "972912345678")


def test_echo_is_from_nobody() -> None:
    """What the business wrote itself has no sender that could be taken for a person."""
    assert one("outgoing_message/text").sender is None


def test_statuses() -> None:
    """Our own key, the error code, and a group member's id all arrive."""
    assert one_status("message_status/with_tracker").callback_data == "some data"
    failed = one_status("message_status/failed")
    assert (failed.status, failed.error_code) == (DeliveryStatus.FAILED, 130472)
    assert one_status("message_status/group").recipient_user_id == "US.123456"
