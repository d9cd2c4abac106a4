"""One entry of `messages` to one item. It never raises but for nesting: what cannot be read is
quarantined under the same key, so that a redelivery finds it again.
"""

from collections.abc import Sequence

from pydantic import BaseModel, ValidationError

from channels.whatsapp.content import Content, UnreadableError, read_content
from channels.whatsapp.items import MAX_ID, quarantined, read_time, usable_id
from channels.whatsapp.jsontext import MARKER_BYTES, dump, storable
from channels.whatsapp.people import identify
from channels.whatsapp.wire import WireMessage
from domain.inbound import InboundItem, InboundKind, Sender

_FREE_TEXT = frozenset({"text", "filename", "button_id", "mime_type", "sha256"})
"""Fields whose length is the sender's affair; every other text is an id and may be indexed."""


def read_message(
    value: object, *, phone_number_id: str | None, contacts: Sequence[Sender]
) -> InboundItem:
    """The item of one message, QUARANTINED with a reason if it cannot be used.

    Raises `RecursionError` if `value` is nested too deeply for Python.
    """
    if not isinstance(value, dict):
        return quarantined(value, "message is no object", phone_number_id=phone_number_id)
    if usable_id(value.get("id")) is None:
        return quarantined(value, "message without a usable id", phone_number_id=phone_number_id)
    sender = identify(
        from_field=usable_id(value.get("from")),
        user_id=usable_id(value.get("from_user_id")),
        contacts=contacts,
    )
    try:
        message = WireMessage.model_validate(value)
        if any(own and usable_id(own) is None for own in (message.from_, message.from_user_id)):
            raise UnreadableError("message with an id of its sender that cannot be stored")
        content = read_content(message)
        if sender is None and content.kind is not InboundKind.IDENTITY_CHANGED:
            raise UnreadableError("message without a sender")
        return _item(value, message, content, sender, phone_number_id)
    except ValidationError as error:
        reason = shape_reason(error)
    except UnreadableError as error:
        reason = str(error)
    return quarantined(value, reason, phone_number_id=phone_number_id, sender=sender)


def shape_reason(error: ValidationError) -> str:
    """Where a shape is wrong and how, without the value (it may be personal)."""
    first = error.errors(include_input=False, include_url=False)[0]
    return ascii(f"{'.'.join(str(part) for part in first['loc'])}: {first['type']}")[1:201]


def unusable_text(model: BaseModel, *, free: frozenset[str] = frozenset()) -> str | None:
    """The first field that a table cannot hold and why, or None. `raw` is ASCII by make."""
    for name, value in model:
        if isinstance(value, BaseModel):
            nested = unusable_text(value, free=free)
            if nested is not None:
                return nested
        if not isinstance(value, str):
            continue
        if not storable(value):
            return f"{name} holds a NUL or a lone surrogate"
        if name not in free and len(value) > MAX_ID:
            return f"{name} is longer than {MAX_ID} characters"
    return None


def _item(
    value: dict[str, object],
    message: WireMessage,
    content: Content,
    sender: Sender | None,
    phone_number_id: str | None,
) -> InboundItem:
    sent_at, invalid = read_time(message.timestamp)
    context = message.context
    item = InboundItem(
        kind=content.kind,
        phone_number_id=phone_number_id,
        key=str(message.id),
        sender=sender,
        sent_at=sent_at,
        sent_at_invalid=invalid,
        text=content.text,
        button_id=content.button_id,
        quoted_id=(context.id or None) if context else None,
        target_id=content.target_id,
        forwarded=bool(context and (context.forwarded or context.frequently_forwarded)),
        group_id=message.group_id,
        media=content.media,
        identity=content.identity,
        reason=content.reason,
        raw=dump(value),
    )
    reason = unusable_text(item, free=_FREE_TEXT | {"name"})
    if MARKER_BYTES in item.raw:
        reason = "holds a value that could not be read"
    if reason is not None:
        raise UnreadableError(reason)
    return item
