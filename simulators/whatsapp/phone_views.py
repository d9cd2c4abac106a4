"""What the phone page shows of a chat. `direction` is the phone's: `out` was typed here."""

import time
from typing import Literal

from pydantic import BaseModel

from simulators.whatsapp.config import Person
from simulators.whatsapp.engine import Simulator
from simulators.whatsapp.models import ChatMessage
from simulators.whatsapp.pix import is_pix_code

SHOWN_MESSAGES = 300  # the page keeps a readable tail; the admin API lists everything


class ButtonView(BaseModel):
    """A button of a prompt; it can be pressed again at any time, as on a real phone."""

    id: str
    title: str
    role: Literal["confirm", "cancel", "other"]
    presses: int


class MessageView(BaseModel):
    """One bubble. `at`: UTC epoch seconds."""

    wamid: str
    direction: Literal["in", "out"]
    type: str
    text: str
    footer: str
    quote: str | None
    buttons: list[ButtonView]
    at: float
    status: str
    pix: bool


class PersonView(BaseModel):
    """An entry of the person switcher."""

    id: str
    name: str
    address: str


class ChatView(BaseModel):
    """A person's chat. `typing_seconds`: how long "typing" still shows, 0 for not at all."""

    person: PersonView
    business: str
    version: int
    typing_seconds: float
    messages: list[MessageView]


def person_view(person: Person) -> PersonView:
    """Return a person with the address a reader would recognise."""
    address = readable(person.wa_id) if person.wa_id else f"sem telefone · {person.user_id or '?'}"
    return PersonView(id=person.id, name=person.name, address=address)


def readable(digits: str) -> str:
    """Return a number as people write it; Brazilian ones grouped, others only with a `+`."""
    if digits.startswith("55") and len(digits) in (12, 13):
        return f"+55 {digits[2:4]} {digits[4:-4]}-{digits[-4:]}"
    return f"+{digits}"


def chat_view(simulator: Simulator, person: Person) -> ChatView:
    """Return what the person's phone shows now; failed messages never reached it."""
    chats = simulator.chats
    chat = [m for m in chats.of(person.id) if m.visible][-SHOWN_MESSAGES:]
    presses = _presses(chats.of(person.id))
    left = simulator.typing_until.get(person.id, 0.0) - time.time()
    return ChatView(
        person=person_view(person),
        business=readable(simulator.config.display_phone_number),
        version=chats.version,
        typing_seconds=max(0.0, left),
        messages=[_message_view(simulator, m, presses) for m in chat],
    )


def _message_view(
    simulator: Simulator, message: ChatMessage, presses: dict[str, int]
) -> MessageView:
    quoted = simulator.chats.find(message.context_id) if message.context_id else None
    return MessageView(
        wamid=message.wamid,
        direction="out" if message.author == "person" else "in",
        type=message.type,
        text=message.text or f"[{message.type}]",
        footer=message.footer,
        quote=quoted.text if quoted else None,
        buttons=[
            ButtonView(id=b.id, title=b.title, role=_role(b.id, at), presses=presses.get(b.id, 0))
            for at, b in enumerate(message.buttons)
        ],
        at=message.at,
        status=message.status,
        pix=message.author == "business" and is_pix_code(message.text),
    )


def _role(button_id: str, position: int) -> Literal["confirm", "cancel", "other"]:
    if "confirm" in button_id:
        return "confirm"
    if "cancel" in button_id:
        return "cancel"
    return "confirm" if position == 0 else "cancel" if position == 1 else "other"


def _presses(chat: list[ChatMessage]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for message in chat:
        if message.button_id is not None:
            counts[message.button_id] = counts.get(message.button_id, 0) + 1
    return counts
