"""What the parser promises for bodies that Meta's pages and public bug reports describe."""

import json
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.whatsapp import parse
from channels.whatsapp.parse import parse_webhook
from domain.inbound import DeliveryStatus, InboundItem, InboundKind, Sender
from tests.unit.channels.envelopes import (
    ANA,
    ANA_ID,
    NUMBER,
    Json,
    body_of,
    change,
    encode,
    envelope,
    status,
    text_message,
)


def only(body: bytes) -> InboundItem:
    """The only item of a body."""
    (item,) = parse_webhook(body).items
    return item


def test_text() -> None:
    """A plain text arrives whole: number, key, person, UTC time, words."""
    item = only(body_of([text_message("wamid.A", "Olá, João @ R$ 1/2 🙂")]))
    assert item.kind is InboundKind.TEXT
    assert (item.phone_number_id, item.key) == (NUMBER, "wamid.A")
    assert item.sender == Sender(user_id=ANA_ID, wa_id=ANA, name=None)
    assert item.sent_at == datetime.fromtimestamp(1764500000, UTC)
    assert item.text == "Olá, João @ R$ 1/2 🙂"
    assert item.from_person


def test_batch_of_a_thousand_with_junk() -> None:
    """1,000 items with 1 % junk: every good one exactly once, every junk one as quarantined."""
    messages: list[object] = [text_message(f"wamid.{n}") for n in range(1000)]
    junk: list[object] = [
        None,
        7,
        "x",
        [],
        {},
        {"id": 5},
        {"id": "wamid.j"},
        {"type": "text"},
        True,
        [[]],
    ]
    for place, value in enumerate(junk):
        messages.insert(place * 97, value)
    items = parse_webhook(body_of(messages)).items
    good = [item.key for item in items if item.kind is InboundKind.TEXT]
    assert good == [f"wamid.{n}" for n in range(1000)]
    assert len([item for item in items if item.kind is InboundKind.QUARANTINED]) == len(junk)


BROKEN_TEXTS = {
    "NUL": '"a\\u0000b"',
    "lone high surrogate": '"\\ud83d"',
    "lone low surrogate": '"\\udc00"',
    "number of 10 MB": "9" * 10_000_000,
    "float over the range": "1e999",
    "not a number": "NaN",
    "100,000 levels": "[" * 100_000 + "]" * 100_000,
    "objects, 5,000 levels": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "60 levels": "[" * 60 + "]" * 60,
    "number instead of text": "17",
}


@pytest.mark.parametrize("broken", BROKEN_TEXTS.values(), ids=BROKEN_TEXTS.keys())
def test_broken_value_stays_in_its_item(broken: str) -> None:
    """A value that cannot be read or stored quarantines its own message and no other."""
    marked = body_of([text_message("wamid.1"), text_message("wamid.2", "HERE"), status("no")])
    body = marked.replace(b'"HERE"', broken.encode())
    items = parse_webhook(body).items
    assert [item.kind for item in items] == [
        InboundKind.TEXT,
        InboundKind.QUARANTINED,
        InboundKind.QUARANTINED,
    ]
    assert items[1].key == "wamid.2"
    assert items[1].text is None
    assert items[1].reason
    assert items[1].raw.isascii()
    assert items[1].sender == items[0].sender


def test_broken_bytes_stay_in_their_item() -> None:
    """Bytes that are no UTF-8 quarantine the message that holds them."""
    body = body_of([text_message("wamid.1"), text_message("wamid.2", "HERE")])
    items = parse_webhook(body.replace(b"HERE", b"\xff\xfe\xed\xa0\x80")).items
    assert [item.kind for item in items] == [InboundKind.TEXT, InboundKind.QUARANTINED]


def test_unreadable_extra_is_no_silent_loss() -> None:
    """A marker in a part that we do not read still quarantines: nothing is accepted half read."""
    body = body_of([text_message("wamid.1", extra="HERE")]).replace(b'"HERE"', b"1e999")
    assert only(body).kind is InboundKind.QUARANTINED


def test_marker_cannot_be_forged_by_text() -> None:
    """Somebody who writes the marker's words is read like anybody else."""
    assert (
        only(body_of([text_message("wamid.1", '{"aval:unreadable":1}')])).kind is InboundKind.TEXT
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b'"x"',
        b"{",
        b"{}",
        b'{"object":"page","entry":[]}',
        b'{"object":"whatsapp_business_account"}',
        b'{"object":"whatsapp_business_account","entry":{}}',
        b'{"object":"whatsapp_business_account","entry":[7]}',
        b'{"object":"whatsapp_business_account","entry":[{"changes":7}]}',
        b'{"object":"whatsapp_business_account","entry":[{"changes":[7]}]}',
        b'{"object":"whatsapp_business_account","entry":[{"changes":[{"value":7}]}]}',
        b"[" * 200_000,
        b"[" * 3_000 + b'"' + b'\\"' * 500_000,
    ],
)
def test_wrong_body(body: bytes) -> None:
    """A body that is none gives one quarantined item with a reason, and takes no long time."""
    started = time.perf_counter()
    item = only(body)
    assert time.perf_counter() - started < 2
    assert item.kind is InboundKind.QUARANTINED
    assert item.reason
    assert item.key.startswith("sha256:")
    assert item.raw.isascii()


def test_wrong_list_beside_a_right_one() -> None:
    """Statuses that are no list do not cost the messages beside them."""
    found = parse_webhook(encode(envelope(change(messages=[text_message("w")], statuses={}))))
    assert [i.kind for i in found.items] == [InboundKind.TEXT, InboundKind.QUARANTINED]


def test_fault_of_ours_is_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the parser itself is wrong about one message, that one is quarantined as our fault."""

    def faulty(value: object, **named: object) -> InboundItem:
        raise KeyError("x")

    monkeypatch.setattr(parse, "read_message", faulty)
    found = parse_webhook(
        encode(envelope(change(messages=[text_message("w")], statuses=[status("s")])))
    )
    assert [item.reason for item in found.items] == ["fault in the parser: KeyError"]
    assert len(found.statuses) == 1


@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    """No bytes raise, and none vanish."""
    found = parse_webhook(body)
    assert found.items or found.statuses


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(key=st.sampled_from(sorted(text_message("w"))), value=JUNK, other=JUNK)
def test_junk_in_any_key(key: str, value: object, other: object) -> None:
    """Whatever stands in one key of one message, both neighbours arrive and nothing is a fault."""
    bad = {**text_message("wamid.2"), key: value}
    items = parse_webhook(
        body_of([text_message("wamid.1"), bad, text_message("wamid.3")], contacts=other)
    ).items
    assert len(items) == 3
    assert [items[0].key, items[2].key] == ["wamid.1", "wamid.3"]
    assert [items[0].kind, items[2].kind] == [InboundKind.TEXT, InboundKind.TEXT]
    assert not any("fault" in (item.reason or "") for item in items)


@pytest.mark.parametrize(
    ("timestamp", "invalid"),
    [
        ("abc", True),
        ("-5", True),
        ("0", True),
        ("９", True),
        (1e3, True),
        ({}, True),
        (None, False),
    ],
)
def test_timestamp(timestamp: object, invalid: bool) -> None:
    """An unreadable time is a flag, not a reason to lose the message."""
    item = only(body_of([{**text_message("w"), "timestamp": timestamp}]))
    assert (item.kind, item.sent_at, item.sent_at_invalid) == (InboundKind.TEXT, None, invalid)


def test_timestamp_in_milliseconds_is_invalid() -> None:
    """13 digits are no seconds of this age."""
    assert only(body_of([text_message("w", timestamp="1764500000000")])).sent_at_invalid


def test_id_that_no_index_can_hold() -> None:
    """An id of 3,000 characters is quarantined under a digest instead of failing in the store."""
    item = only(body_of([text_message("w" * 3000)]))
    assert item.kind is InboundKind.QUARANTINED
    assert item.key.startswith("sha256:")


@pytest.mark.parametrize(
    ("field", "lists", "kind"),
    [
        ("smb_message_echoes", {"message_echoes": [text_message("e")]}, InboundKind.ECHO),
        ("standby", {"messages": [text_message("e")]}, InboundKind.STANDBY),
        ("standby", {"anything": 1}, InboundKind.STANDBY),
        ("calls", {"calls": [{"id": "c", "from": ANA}]}, InboundKind.CALL),
        ("account_update", {"event": "DISABLED_UPDATE"}, InboundKind.ACCOUNT),
        ("phone_number_quality_update", {"event": "x"}, InboundKind.ACCOUNT),
        ("history", {"messages": [text_message("e")]}, InboundKind.UNKNOWN),
        ("fields_of_2030", {"messages": [text_message("e")]}, InboundKind.UNKNOWN),
        (None, {"messages": [text_message("e")]}, InboundKind.UNKNOWN),
    ],
)
def test_other_fields_are_never_input(field: object, lists: Json, kind: str) -> None:
    """Only the field `messages` speaks for a person, whatever lists another one holds."""
    item = only(encode(envelope(change(field, **lists))))
    assert item.kind is kind
    assert not item.from_person


def test_events_of_one_call_stay_apart() -> None:
    """Connect and terminate share the call's id and are two items."""
    calls = [{"id": "c", "event": "connect"}, {"id": "c", "event": "terminate"}]
    items = parse_webhook(encode(envelope(change("calls", calls=calls)))).items
    assert len({item.key for item in items}) == 2


def test_account_event_may_happen_again() -> None:
    """The same event at another time is another item, the same delivery again is not."""
    first = envelope(change("account_update", number=None, event="DISABLED_UPDATE"))
    entry = first["entry"][0]
    later = {**first, "entry": [{**entry, "time": 5}]}
    keys = [only(encode(body)).key for body in (first, first, later)]
    assert keys[0] == keys[1] != keys[2]


def test_account_error() -> None:
    """An error of the number itself, without message or status, is told to operators."""
    item = only(encode(envelope(change(errors=[{"code": 130429, "title": "Rate limit"}]))))
    assert (item.kind, item.reason) == (InboundKind.ACCOUNT, "error 130429")


def test_unknown_type_is_kept() -> None:
    """A type that Meta adds next year is stored with its name."""
    item = only(body_of([text_message("w", type="hologram")]))
    assert (item.kind, item.reason) == (InboundKind.UNKNOWN, "message type 'hologram'")


@pytest.mark.parametrize(
    "message",
    [
        {"type": "text", "text": {}},
        {"type": "interactive", "interactive": {"type": "button_reply"}},
        {
            "type": "interactive",
            "interactive": {"type": "button_reply", "button_reply": {"id": ""}},
        },
        {"type": "button", "button": {"text": "Confirmar"}},
        {"type": "image"},
        {"type": "reaction", "reaction": {"emoji": "👍"}},
        {"type": "system"},
        {"type": None},
    ],
)
def test_type_without_its_content(message: dict[str, object]) -> None:
    """A click without an id and the like are quarantined; a title alone never decides."""
    item = only(body_of([{**text_message("w"), "text": None, **message}]))
    assert (item.kind, item.button_id) == (InboundKind.QUARANTINED, None)


def test_failed_status_without_contacts() -> None:
    """Meta's documented failed status (no contacts, no user id) keeps its code and our key."""
    errors = [{"code": 131047, "title": "Re-engagement"}, {"code": 1}]
    body = encode(envelope(change(statuses=[status("w", "failed", errors=errors)])))
    (update,) = parse_webhook(body).statuses
    assert (update.status, update.error_code) == (DeliveryStatus.FAILED, 131047)
    assert (update.recipient_wa_id, update.recipient_user_id) == (ANA, None)
    assert update.callback_data is not None


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (status("w", "warming_up"), InboundKind.UNKNOWN),
        (status("w", timestamp="x"), InboundKind.QUARANTINED),
        (status(""), InboundKind.QUARANTINED),
        (status("w", biz_opaque_callback_data="a\x00"), InboundKind.QUARANTINED),
        ("delivered", InboundKind.QUARANTINED),
    ],
)
def test_bad_status(bad: object, kind: InboundKind) -> None:
    """A status that cannot be used is kept as an item and costs no other status."""
    found = parse_webhook(encode(envelope(change(statuses=[bad, status("ok")]))))
    assert [item.kind for item in found.items] == [kind]
    assert [update.wamid for update in found.statuses] == ["ok"]


def test_reasons_hold_no_words_of_the_person() -> None:
    """Reasons go to operators and logs, so they name the place, not the content."""
    item = only(body_of([text_message("w", {"secret": "112.233.445-56"})]))
    assert item.reason is not None
    assert "112" not in item.reason
    assert json.loads(item.raw)["text"]["body"] == {"secret": "112.233.445-56"}
