"""Webhook bodies as Meta sends them: envelope, contacts, messages, statuses, and their cuts.

The same items may come in one value, one change each, one entry each or one body each, and a
redelivery may be cut in another way. A reader of index 0 loses messages; so every cut can be
asked for.
"""

import base64
import json
import secrets
from collections.abc import Sequence
from typing import Any, Literal

from simulators.whatsapp.config import Person, SimulatorConfig
from simulators.whatsapp.meta_errors import status_errors
from simulators.whatsapp.models import Button, ChatMessage, Item

Cut = Literal["one_value", "changes", "entries", "bodies"]


def new_wamid(person: Person, config: SimulatorConfig) -> str:
    """Return a message id. Like Meta's it holds the person's address in base64: never log it."""
    address = (person.wa_id or person.user_id or config.display_phone_number).encode()
    tail = secrets.token_hex(10).upper().encode()
    raw = b"\x1d\x18" + bytes([len(address)]) + address + b"\x15\x02\x00\x11\x18\x12" + tail
    return "wamid." + base64.b64encode(raw + b"\x00").decode()


def contact_of(person: Person) -> dict[str, Any]:
    """Return the `contacts[]` element: profile, and whichever of phone and user id exist."""
    profile = {"name": person.name}
    if person.username:
        profile["username"] = person.username
    contact: dict[str, Any] = {"profile": profile}
    if person.wa_id:
        contact["wa_id"] = person.wa_id
    if person.user_id:
        contact["user_id"] = person.user_id
    return contact


def message_head(person: Person, *, wamid: str, timestamp: str) -> dict[str, Any]:
    """Return the fields that all messages of a person share."""
    head: dict[str, Any] = {}
    if person.wa_id:
        head["from"] = person.wa_id
    if person.user_id:
        head["from_user_id"] = person.user_id
    return {**head, "id": wamid, "timestamp": timestamp}


def button_reply(button: Button) -> dict[str, Any]:
    """Return the typed part of a pressed reply button."""
    reply = {"id": button.id, "title": button.title}
    return {
        "type": "interactive",
        "interactive": {"type": "button_reply", "button_reply": reply},
    }


def status_item(
    message: ChatMessage,
    person: Person,
    *,
    status: str,
    timestamp: str,
    error_code: int | None = None,
) -> Item:
    """Return one status of a business message.

    As Meta documents, a `failed` one has no contacts, and no user id if it was addressed by
    phone; all carry the callback data of the send.
    """
    failed = status == "failed"
    payload: dict[str, Any] = {"id": message.wamid, "status": status, "timestamp": timestamp}
    if person.wa_id:
        payload["recipient_id"] = person.wa_id
    if person.user_id and (message.to_user_id or not failed):
        payload["recipient_user_id"] = person.user_id
    if message.callback_data is not None:
        payload["biz_opaque_callback_data"] = message.callback_data
    if failed:
        payload["errors"] = status_errors(error_code or 131026)
    elif status in ("sent", "delivered"):
        payload["pricing"] = {
            "billable": True,
            "pricing_model": "PMP",
            "type": "regular",
            "category": "service",
        }
    contact = None if failed else contact_of(person)
    return Item(kind="statuses", payload=payload, contact=contact)


def bodies_of(items: Sequence[Item], config: SimulatorConfig, cut: Cut) -> list[dict[str, Any]]:
    """Return the webhook bodies that carry `items` in order, cut as asked."""
    if not items:
        return []
    if cut == "one_value":
        return [_body([[_value(items, config)]], config)]
    values = [_value([item], config) for item in items]
    if cut == "changes":
        return [_body([values], config)]
    if cut == "entries":
        return [_body([[value] for value in values], config)]
    return [_body([[value]], config) for value in values]


def messages_in(raw: bytes) -> list[Any]:
    """Return the message objects of a body, whatever else is wrong with it."""
    try:
        body = json.loads(raw)
        return [
            message
            for entry in body["entry"]
            for change in entry["changes"]
            for message in change["value"].get("messages", ())
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []  # a body that a test broke on purpose carries no click


def _body(entries: list[list[dict[str, Any]]], config: SimulatorConfig) -> dict[str, Any]:
    return {
        "object": "whatsapp_business_account",
        "entry": [
            {
                "id": config.waba_id,
                "changes": [{"value": value, "field": "messages"} for value in values],
            }
            for values in entries
        ],
    }


def _value(items: Sequence[Item], config: SimulatorConfig) -> dict[str, Any]:
    value: dict[str, Any] = {
        "messaging_product": "whatsapp",
        "metadata": {
            "display_phone_number": config.display_phone_number,
            "phone_number_id": config.phone_number_id,
        },
    }
    contacts: list[dict[str, Any]] = []
    for item in items:
        if item.contact is not None and item.contact not in contacts:
            contacts.append(item.contact)
    if contacts:
        value["contacts"] = contacts
    for item in items:
        value.setdefault(item.kind, []).append(item.payload)
    return value
