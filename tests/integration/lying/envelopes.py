"""Webhook bodies as Meta sends them, made for these examples."""

import json
import uuid
from datetime import datetime
from typing import Any

from domain.people import Person

Json = dict[str, Any]


def _body(number: str, **value: Any) -> bytes:
    metadata = {"display_phone_number": "551140000000", "phone_number_id": number}
    change = {
        "field": "messages",
        "value": {"messaging_product": "whatsapp", "metadata": metadata, **value},
    }
    whole = {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [change]}]}
    return json.dumps(whole).encode()


def _message(person: Person, at: datetime, **content: Any) -> Json:
    who = {"from": person.wa_id, "from_user_id": person.user_id}
    return {
        **{key: value for key, value in who.items() if value is not None},
        "id": f"wamid.{uuid.uuid4().hex}",
        "timestamp": str(int(at.timestamp())),
        **content,
    }


def text(number: str, person: Person, words: str, *, at: datetime, forwarded: bool) -> bytes:
    """A person writes."""
    context = {"context": {"forwarded": True}} if forwarded else {}
    message = _message(person, at, type="text", text={"body": words}, **context)
    return _body(number, messages=[message])


def press(number: str, person: Person, button: str, *, context: str | None, at: datetime) -> bytes:
    """A press of the button with this id, under the message `context`."""
    about = {"context": {"from": "551140000000", "id": context}} if context else {}
    reply = {"type": "button_reply", "button_reply": {"id": button, "title": "Confirmar"}}
    message = _message(person, at, type="interactive", interactive=reply, **about)
    return _body(number, messages=[message])


def status(number: str, wamid: str, key: str, *, at: datetime) -> bytes:
    """A message of ours was delivered."""
    return _body(
        number,
        statuses=[
            {
                "id": wamid,
                "status": "delivered",
                "timestamp": str(int(at.timestamp())),
                "recipient_id": "5511988880001",
                "biz_opaque_callback_data": key,
            }
        ],
    )
