"""Who a message is from, and who a person became: the ids that decide who may confirm."""

import pytest

from channels.whatsapp.parse import parse_webhook
from domain.inbound import InboundItem, InboundKind, Sender
from tests.unit.channels.envelopes import (
    ANA,
    ANA_ID,
    body_of,
    change,
    encode,
    envelope,
    text_message,
)


def only(body: bytes) -> InboundItem:
    """The only item of a body."""
    (item,) = parse_webhook(body).items
    return item


def test_no_user_id_for_a_shared_phone() -> None:
    """One phone with two user ids in the contacts: the user id stays unknown (fail closed)."""
    contacts = [{"wa_id": ANA, "user_id": "BR.1"}, {"wa_id": ANA, "user_id": "BR.2"}]
    item = only(body_of([text_message("w", from_user_id=None)], contacts=contacts))
    assert item.sender == Sender(user_id=None, wa_id=ANA, name=None)


def test_sender_of_a_batch_is_not_the_first_contact() -> None:
    """With several people in one batch each message has its own."""
    contacts: list[object] = [
        {"wa_id": "5511900000001", "user_id": "BR.1", "profile": {"name": "Um"}},
        7,
        {"wa_id": "5511900000002", "user_id": "BR.2", "profile": {"name": "Do\u0000is"}},
        {"user_id": "BR.3", "profile": {"name": " Três "}},
    ]
    senders = [
        item.sender
        for item in parse_webhook(
            body_of(
                [
                    {**text_message("a", from_user_id=None), "from": "5511900000002"},
                    {**text_message("b", from_user_id=None), "from": "5511900000001"},
                    {**text_message("c"), "from": None, "from_user_id": "BR.3"},
                    {**text_message("d", from_user_id=None), "from": "5511900000004"},
                ],
                contacts=contacts,
            )
        ).items
    ]
    assert senders == [
        Sender(user_id="BR.2", wa_id="5511900000002", name=None),
        Sender(user_id="BR.1", wa_id="5511900000001", name="Um"),
        Sender(user_id="BR.3", wa_id=None, name="Três"),
        Sender(user_id=None, wa_id="5511900000004", name=None),
    ]


@pytest.mark.parametrize("user_id", ["BR.abc123", "BR.ENT.99"])
def test_user_id_in_the_phone_field(user_id: str) -> None:
    """A user id that arrives in `from` is a user id, not a phone."""
    item = only(body_of([{**text_message("w", from_user_id=None), "from": user_id}]))
    assert item.sender == Sender(user_id=user_id, wa_id=None, name=None)


def test_no_sender() -> None:
    """A message from nobody is quarantined, whoever stands in the contacts."""
    message = text_message("w", from_user_id=None) | {"from": None}
    item = only(body_of([message], contacts=[{"wa_id": ANA, "user_id": ANA_ID}]))
    assert (item.kind, item.key) == (InboundKind.QUARANTINED, "w")


@pytest.mark.parametrize("key", ["from", "from_user_id"])
def test_sender_that_cannot_be_stored(key: str) -> None:
    """An id of the sender with a NUL quarantines: the other id alone would be another person."""
    assert only(body_of([{**text_message("w"), key: "BR.1\x00"}])).kind is InboundKind.QUARANTINED


def test_group_message_is_no_input() -> None:
    """A group's message keeps its group id and is from no person."""
    item = only(body_of([text_message("w", group_id="G1")]))
    assert (item.kind, item.group_id, item.from_person) == (InboundKind.TEXT, "G1", False)


def test_message_without_a_business_number_is_no_input() -> None:
    """Without metadata nobody knows whom it was for."""
    item = only(encode(envelope(change(number=None, messages=[text_message("w")]))))
    assert not item.from_person


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (
            {"type": "user_changed_user_id", "user_id": "BR.2", "previous_user_id": "BR.1"},
            ("BR.1", ANA, "BR.2", None),
        ),
        (
            {"type": "user_changed_number", "user_id": "BR.2", "wa_id": "551190"},
            (ANA_ID, ANA, "BR.2", "551190"),
        ),
        ({"type": "user_changed_something_new"}, (ANA_ID, ANA, None, None)),
    ],
)
def test_identity_change(system: dict[str, object], expected: tuple[str | None, ...]) -> None:
    """Who the person was and is comes out of every form of the message, known or new."""
    item = only(body_of([text_message("w", type="system", text=None, system=system)]))
    assert item.kind is InboundKind.IDENTITY_CHANGED
    assert item.identity is not None
    assert expected == (
        item.identity.previous_user_id,
        item.identity.previous_wa_id,
        item.identity.new_user_id,
        item.identity.new_wa_id,
    )


def test_identity_change_without_sender() -> None:
    """It must cancel pending actions even if it names nobody in `from`."""
    message = text_message(
        "w",
        type="system",
        text=None,
        from_user_id=None,
        system={"type": "user_changed_user_id", "previous_user_id": "BR.1", "user_id": "BR.2"},
    ) | {"from": None}
    assert only(body_of([message])).kind is InboundKind.IDENTITY_CHANGED
