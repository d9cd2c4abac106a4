"""What Meta accepts at the messages endpoint; the limits are those of its reference pages.

Meta does not say how it counts length. The simulator counts UTF-16 units, the larger of the
usual two, so that a text which passes here does not fail there.
"""

from typing import Any

from pydantic import BaseModel

from simulators.whatsapp.meta_errors import MetaError
from simulators.whatsapp.models import Button

TEXT_BODY_LIMIT = 4096
PROMPT_BODY_LIMIT = 1024
HEADER_LIMIT = 60
FOOTER_LIMIT = 60
BUTTON_TITLE_LIMIT = 20
BUTTON_ID_LIMIT = 256
BUTTONS_LIMIT = 3
CALLBACK_DATA_LIMIT = 512


class CheckedSend(BaseModel):
    """A send that Meta would accept. Exactly one of `phone` and `user_id` is set."""

    phone: str | None
    user_id: str | None
    type: str
    text: str
    footer: str = ""
    buttons: list[Button] = []
    context_id: str | None
    callback_data: str | None
    body: dict[str, Any]


def length(text: str) -> int:
    """Return the length in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_send(body: dict[str, Any]) -> CheckedSend:
    """Return the parsed send, or raise MetaError as Meta would answer."""
    if body.get("messaging_product") != "whatsapp":
        raise MetaError(100, "The parameter messaging_product is required.")
    if body.get("recipient_type", "individual") != "individual":
        raise MetaError(100, "Param recipient_type must be one of {INDIVIDUAL}.")
    phone, user_id = _recipient(body)
    kind = body.get("type", "text")
    text, footer, buttons = _content(kind, body)
    return CheckedSend(
        phone=phone,
        user_id=user_id,
        type=kind,
        text=text,
        footer=footer,
        buttons=buttons,
        context_id=_context(body),
        callback_data=_callback_data(body),
        body=body,
    )


def _recipient(body: dict[str, Any]) -> tuple[str | None, str | None]:
    to, recipient = body.get("to"), body.get("recipient")
    if to is not None:  # `to` wins when both are present
        if not isinstance(to, str) or not any(c.isdigit() for c in to):
            raise MetaError(131009, "Param to must be a phone number.")
        return to, None
    if recipient is None:
        raise MetaError(131008, "Parameter 'to' is mandatory for type 'individual'.")
    if not isinstance(recipient, str) or "." not in recipient:
        raise MetaError(131009, "Param recipient must be a business-scoped user id.")
    return None, recipient


def _content(kind: Any, body: dict[str, Any]) -> tuple[str, str, list[Button]]:
    if kind == "text":
        text = _mapping(body, "text").get("body")
        return _sized(text, "text['body']", TEXT_BODY_LIMIT, code=100), "", []
    if kind == "interactive":
        return _prompt(_mapping(body, "interactive"))
    raise MetaError(131051, f"Message type {kind!r} is not supported here.")


def _prompt(interactive: dict[str, Any]) -> tuple[str, str, list[Button]]:
    if interactive.get("type") != "button":
        raise MetaError(131009, "Interactive type is not supported here: only 'button'.")
    text = _sized(
        _mapping(interactive, "body").get("text"), "interactive['body']['text']", PROMPT_BODY_LIMIT
    )
    header = interactive.get("header")
    if isinstance(header, dict) and header.get("type") == "text":
        _sized(header.get("text"), "interactive['header']['text']", HEADER_LIMIT)
    footer = ""
    if "footer" in interactive:
        value = _mapping(interactive, "footer").get("text")
        footer = _sized(value, "interactive['footer']['text']", FOOTER_LIMIT)
    return text, footer, _buttons(_mapping(interactive, "action").get("buttons"))


def _buttons(raw: Any) -> list[Button]:
    if not isinstance(raw, list) or not 1 <= len(raw) <= BUTTONS_LIMIT:
        raise MetaError(131009, f"Invalid buttons count. Min allowed: 1, max: {BUTTONS_LIMIT}.")
    buttons: list[Button] = []
    for entry in raw:
        if not isinstance(entry, dict) or entry.get("type") != "reply":
            raise MetaError(131009, "Button type must be 'reply'.")
        reply = _mapping(entry, "reply")
        title = _sized(reply.get("title"), "Button title", BUTTON_TITLE_LIMIT)
        buttons.append(
            Button(id=_sized(reply.get("id"), "Button id", BUTTON_ID_LIMIT), title=title)
        )
    if len({b.id for b in buttons}) < len(buttons):
        raise MetaError(131009, "Button ids must be unique.")
    if len({b.title for b in buttons}) < len(buttons):
        raise MetaError(131009, "Button titles must be unique.")
    return buttons


def _context(body: dict[str, Any]) -> str | None:
    if "context" not in body:
        return None
    quoted = _mapping(body, "context").get("message_id")
    if not isinstance(quoted, str) or not quoted:
        raise MetaError(131009, "Param context['message_id'] must be a message id.")
    return quoted


def _callback_data(body: dict[str, Any]) -> str | None:
    if "biz_opaque_callback_data" not in body:
        return None
    value = body["biz_opaque_callback_data"]
    return _sized(value, "biz_opaque_callback_data", CALLBACK_DATA_LIMIT, code=100)


def _mapping(parent: dict[str, Any], key: str) -> dict[str, Any]:
    value = parent.get(key)
    if not isinstance(value, dict):
        raise MetaError(131008, f"Required parameter is missing: {key}.")
    return value


def _sized(value: Any, name: str, limit: int, *, code: int = 131009) -> str:
    if not isinstance(value, str) or not value.strip():
        raise MetaError(131008 if value is None else 131009, f"{name} must be a text.")
    if length(value) > limit:
        raise MetaError(
            code, f"{name} length invalid: {length(value)}. Min length: 1, max length: {limit}."
        )
    return value
