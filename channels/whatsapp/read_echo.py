"""What the business's own people wrote from another device: to whom, and the words.

The trap: an echo is no input, yet it tells that a human has taken the conversation over. `to` is
the number as it was dialled, often with a `+`, and may differ from the person's `wa_id`; so it is
for finding a conversation only, never for deciding (source: Meta's smb_message_echoes reference).
"""

from collections.abc import Sequence

from pydantic import ValidationError

from channels.whatsapp.content import UnreadableError, read_content
from channels.whatsapp.items import stored_only, usable_id
from channels.whatsapp.jsontext import storable
from channels.whatsapp.people import identify
from channels.whatsapp.wire import WireMessage
from domain.inbound import InboundItem, InboundKind, Sender


def read_echo(
    value: object, *, phone_number_id: str | None, contacts: Sequence[Sender]
) -> InboundItem:
    """The item of an element of `message_echoes`; without `recipient` if it names nobody, was sent
    into a group, or is no message.

    Raises `RecursionError` if `value` is nested too deeply for Python.
    """
    is_message = isinstance(value, dict) and "type" in value and "status" not in value
    item = stored_only(value, InboundKind.ECHO, phone_number_id=phone_number_id, by_id=is_message)
    if not isinstance(value, dict) or not is_message:
        return item
    group = usable_id(value.get("group_id"))
    recipient = None if group else _recipient(value, contacts)
    return item.model_copy(
        update={"recipient": recipient, "group_id": group, "text": _words(value)}
    )


def _recipient(value: dict[str, object], contacts: Sequence[Sender]) -> Sender | None:
    dialled = usable_id(value.get("to"))
    return identify(
        from_field=dialled.removeprefix("+") or None if dialled else None,
        user_id=usable_id(value.get("to_user_id")),
        contacts=contacts,
    )


def _words(value: dict[str, object]) -> str | None:
    """Body or caption; None for what has none, is a button's title, or cannot be stored."""
    try:
        content = read_content(WireMessage.model_validate(value))
    except (ValidationError, UnreadableError):
        return None
    text = content.text if content.button_id is None and content.target_id is None else None
    return text if text and storable(text) else None
