"""What one message says: a table from Meta's `type` to a reader.

A reader returns `Content` or raises `UnreadableError`; it knows no senders, keys, numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass

from channels.whatsapp.items import quoted
from channels.whatsapp.wire import WireContent, WireEdit, WireError, WireMedia, WireMessage
from domain.inbound import IdentityChange, InboundKind, Media, Sender


class UnreadableError(Exception):
    """A message of a known type without what that type must carry; the text is the reason."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """The part of an item that depends on its type."""

    kind: InboundKind
    text: str | None = None
    button_id: str | None = None
    target_id: str | None = None
    media: Media | None = None
    identity: IdentityChange | None = None
    reason: str | None = None


def read_content(message: WireMessage) -> Content:
    """The content of `message`; an unknown type is UNKNOWN. Raises `UnreadableError`."""
    if not message.type:
        raise UnreadableError("message without a type")
    reader = _READERS.get(message.type)
    if reader is None:
        return Content(kind=InboundKind.UNKNOWN, reason=f"message type {quoted(message.type)}")
    return reader(message)


def error_text(errors: list[WireError] | None) -> str | None:
    """The first error as `code title`, for a reason."""
    if not errors:
        return None
    return f"{errors[0].code} {quoted(errors[0].title or errors[0].message or '')}"


def _text(message: WireMessage) -> Content:
    if message.text is None or message.text.body is None:
        raise UnreadableError("text message without a body")
    return Content(kind=InboundKind.TEXT, text=message.text.body)


def _interactive(message: WireMessage) -> Content:
    reply = message.interactive
    if reply is None:
        return Content(
            kind=InboundKind.UNSUPPORTED,
            reason=error_text(message.errors) or "interactive message without its reply",
        )
    if reply.type == "button_reply":
        if reply.button_reply is None or not reply.button_reply.id:
            raise UnreadableError("button reply without an id")
        return Content(
            kind=InboundKind.BUTTON,
            button_id=reply.button_reply.id,
            text=reply.button_reply.title,
        )
    if reply.type == "list_reply":
        if reply.list_reply is None or not reply.list_reply.id:
            raise UnreadableError("list reply without an id")
        return Content(
            kind=InboundKind.LIST_REPLY,
            button_id=reply.list_reply.id,
            text=reply.list_reply.title,
        )
    if reply.type == "nfm_reply":
        return Content(kind=InboundKind.FLOW)
    return Content(kind=InboundKind.UNKNOWN, reason=f"interactive type {quoted(reply.type)}")


def _template_button(message: WireMessage) -> Content:
    if message.button is None or not message.button.payload:
        raise UnreadableError("quick reply without a payload")
    return Content(
        kind=InboundKind.BUTTON, button_id=message.button.payload, text=message.button.text
    )


def _media_of(content: WireContent) -> WireMedia | None:
    by_type = {
        "audio": content.audio,
        "image": content.image,
        "video": content.video,
        "document": content.document,
        "sticker": content.sticker,
    }
    return by_type.get(content.type or "")


def _media(message: WireMessage) -> Content:
    media = _media_of(message)
    if media is None or not media.id:
        raise UnreadableError(f"{message.type} message without a media id")
    return Content(
        kind=InboundKind(str(message.type)),
        text=media.caption,
        media=Media(
            id=media.id,
            mime_type=media.mime_type,
            sha256=media.sha256,
            filename=media.filename,
            voice=bool(media.voice),
        ),
    )


def _reaction(message: WireMessage) -> Content:
    if message.reaction is None or not message.reaction.message_id:
        raise UnreadableError("reaction without the message it is about")
    return Content(
        kind=InboundKind.REACTION,
        text=message.reaction.emoji or None,
        target_id=message.reaction.message_id,
    )


def _change(kind: InboundKind, change: WireEdit | None) -> Content:
    if change is None or not change.original_message_id:
        raise UnreadableError(f"{kind.value} message without the message it is about")
    new = change.message
    media = _media_of(new) if new else None
    text = new.text.body if new and new.text else (media.caption if media else None)
    return Content(kind=kind, text=text, target_id=change.original_message_id)


def _edit(message: WireMessage) -> Content:
    return _change(InboundKind.EDITED, message.edit)


def _revoke(message: WireMessage) -> Content:
    return _change(InboundKind.DELETED, message.revoke)


def _system(message: WireMessage) -> Content:
    """Any system message about an identity counts, also of a type that is new to us."""
    system = message.system
    if system is None:
        raise UnreadableError("system message without its object")
    new_wa_id = system.wa_id or system.new_wa_id
    named = (new_wa_id, system.user_id, system.previous_user_id, message.identity)
    if not any(named) and "changed" not in (system.type or ""):
        return Content(kind=InboundKind.UNKNOWN, reason=f"system type {quoted(system.type)}")
    own = Sender.classify(from_field=message.from_, user_id=message.from_user_id)
    own_user_id = own.user_id if own.user_id != system.user_id else None
    return Content(
        kind=InboundKind.IDENTITY_CHANGED,
        identity=IdentityChange(
            change=system.type or "unnamed",
            previous_user_id=system.previous_user_id or own_user_id,
            previous_wa_id=own.wa_id if own.wa_id != new_wa_id else None,
            new_user_id=system.user_id,
            new_wa_id=new_wa_id,
        ),
    )


def _unsupported(message: WireMessage) -> Content:
    return Content(kind=InboundKind.UNSUPPORTED, reason=error_text(message.errors))


def _plain(kind: InboundKind) -> Callable[[WireMessage], Content]:
    return lambda message: Content(kind=kind)


_READERS: dict[str, Callable[[WireMessage], Content]] = {
    "text": _text,
    "interactive": _interactive,
    "button": _template_button,
    "audio": _media,
    "image": _media,
    "video": _media,
    "document": _media,
    "sticker": _media,
    "reaction": _reaction,
    "edit": _edit,
    "revoke": _revoke,
    "system": _system,
    "location": _plain(InboundKind.LOCATION),
    "contacts": _plain(InboundKind.CONTACTS),
    "order": _plain(InboundKind.ORDER),
    "unsupported": _unsupported,
    "unknown": _unsupported,  # the name of the same thing until 2025
}
