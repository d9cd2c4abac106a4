"""Webhook bodies made in tests: own words, Meta's shapes."""

import json
from collections.abc import Sequence
from typing import Any

NUMBER = "106540352242922"
ANA = "5511987654321"
ANA_ID = "BR.13491208655302741918"
ACTION = "0123456789abcdef0123456789abcdef"

Json = dict[str, Any]


def text_message(wamid: str, body: object = "oi", **extra: object) -> Json:
    """A text from Ana; a None in `extra` takes a key away."""
    message: Json = {
        "from": ANA,
        "from_user_id": ANA_ID,
        "id": wamid,
        "timestamp": "1764500000",
        "type": "text",
        "text": {"body": body},
        **extra,
    }
    return {key: value for key, value in message.items() if value is not None}


def status(wamid: str, word: str = "delivered", **extra: object) -> Json:
    """A status of a message of ours to Ana."""
    update: Json = {
        "id": wamid,
        "status": word,
        "timestamp": "1764500000",
        "recipient_id": ANA,
        "biz_opaque_callback_data": f"action:{ACTION}:prompt",
        **extra,
    }
    return {key: value for key, value in update.items() if value is not None}


def change(field: object = "messages", *, number: str | None = NUMBER, **value: Any) -> Json:
    """A change of `field` for a business number (without metadata if None)."""
    metadata: Json = {"metadata": {"phone_number_id": number}} if number is not None else {}
    return {"field": field, "value": {"messaging_product": "whatsapp", **metadata, **value}}


def envelope(*changes: object) -> Json:
    """One entry with these changes."""
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [*changes]}]}


def body_of(messages: Sequence[object], **value: Any) -> bytes:
    """A body with these messages in one change."""
    return encode(envelope(change(messages=[*messages], **value)))


def encode(value: object) -> bytes:
    """JSON as Meta writes it: non-ASCII escaped."""
    return json.dumps(value).encode()
