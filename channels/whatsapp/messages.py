"""Our messages as Cloud API JSON.

The trap: a phone without its leading `+` may get the *business's* country code in front and reach a
stranger. Source: Meta's send-messages, reply-buttons, mark-as-read and BSUID pages.
"""

import re

from channels.whatsapp.limits import (
    MessageRefusedError,
    check_callback_data,
    check_prompt,
    check_text,
)
from domain.outbound import PromptMessage, Recipient, TextMessage

_PHONE = re.compile(r"\+?([0-9]{5,20})", re.ASCII)


def render(
    message: TextMessage | PromptMessage, recipient: Recipient, *, callback_data: str
) -> dict[str, object]:
    """The body of POST /{phone_number_id}/messages; `callback_data` comes back in every status.

    Raises `MessageRefusedError` (`MessageTooLong`) for what WhatsApp would not take.
    """
    check_callback_data(callback_data)
    return {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        **address(recipient),
        **(_text(message) if isinstance(message, TextMessage) else _prompt(message)),
        "biz_opaque_callback_data": callback_data,
    }


def read_receipt(wamid: str, *, typing: bool) -> dict[str, object]:
    """Marks `wamid` and all before it as read; `typing` shows the typing sign for up to 25 s."""
    body: dict[str, object] = {
        "messaging_product": "whatsapp",
        "status": "read",
        "message_id": wamid,
    }
    if typing:
        body["typing_indicator"] = {"type": "text"}
    return body


def address(recipient: Recipient) -> dict[str, object]:
    """`to` with a leading `+` if the phone is known (it would win anyway), else `recipient`.

    Raises `MessageRefusedError` if `wa_id` is no phone number.
    """
    if recipient.wa_id is None:
        return {"recipient": recipient.user_id}
    phone = _PHONE.fullmatch(recipient.wa_id)
    if phone is None:
        raise MessageRefusedError("the recipient's wa_id is not 5 to 20 digits")
    return {"to": f"+{phone[1]}"}


def _text(message: TextMessage) -> dict[str, object]:
    check_text(message.text)
    return {"type": "text", "text": {"body": message.text, "preview_url": False}}


def _prompt(message: PromptMessage) -> dict[str, object]:
    buttons = [
        (message.confirm_id, message.confirm_title),
        (message.cancel_id, message.cancel_title),
    ]
    check_prompt(message.text, buttons)
    return {
        "type": "interactive",
        "interactive": {
            "type": "button",
            "body": {"text": message.text},
            "action": {
                "buttons": [
                    {"type": "reply", "reply": {"id": own_id, "title": title}}
                    for own_id, title in buttons
                ]
            },
        },
    }
