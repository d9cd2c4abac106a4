"""Which button a press means and which webhook a redelivery means."""

from typing import Literal

from fastapi import HTTPException

from simulators.whatsapp.admin_models import Press
from simulators.whatsapp.chats import Chats
from simulators.whatsapp.courier import Delivery
from simulators.whatsapp.engine import Simulator
from simulators.whatsapp.models import Button, ChatMessage


def choose_button(chats: Chats, press: Press) -> tuple[Button, ChatMessage | None]:
    """Return the button pressed and its prompt, if the simulator knows one.

    An id that stands in no prompt is pressed all the same: a modified app can do that.
    Raises HTTPException 404 if `which` finds no prompt or button, 422 if nothing is named.
    """
    if press.button_id is not None:
        return _by_id(chats, press, press.button_id)
    if press.which is None:
        raise HTTPException(422, "name a button_id or which of confirm and cancel")
    prompts = [m for m in chats.of(press.person) if m.buttons and m.visible]
    if press.prompt is not None:
        prompts = [m for m in chats.all() if m.wamid == press.prompt and m.buttons]
    if not prompts:
        raise HTTPException(404, f"no prompt for {press.person!r}")
    return _by_role(prompts[-1], press.which), prompts[-1]


def _by_id(chats: Chats, press: Press, button_id: str) -> tuple[Button, ChatMessage | None]:
    for message in reversed(chats.all()):
        if press.prompt is not None and message.wamid != press.prompt:
            continue
        for button in message.buttons:
            if button.id == button_id:
                return button, message
    prompt = chats.find(press.prompt) if press.prompt is not None else None
    return Button(id=button_id, title=press.title or "Confirmar"), prompt


def _by_role(prompt: ChatMessage, which: Literal["confirm", "cancel"]) -> Button:
    named = [b for b in prompt.buttons if which in b.id.lower()]
    position = 0 if which == "confirm" else 1
    if named:
        return named[0]
    if position < len(prompt.buttons):
        return prompt.buttons[position]
    raise HTTPException(404, f"prompt {prompt.wamid!r} has no button to {which}")


def find_delivery(
    simulator: Simulator, *, wamid: str | None, kind: str, person: str | None
) -> Delivery:
    """Return the latest webhook of `wamid`, or of that kind and person; else 404."""
    for delivery in reversed(simulator.courier.history):
        if wamid is not None and wamid not in delivery.wamids:
            continue
        if wamid is None and kind not in ("any", delivery.kind):
            continue
        if person is not None and not _concerns(simulator, delivery, person):
            continue
        return delivery
    raise HTTPException(404, "no such webhook was sent yet")


def _concerns(simulator: Simulator, delivery: Delivery, person: str) -> bool:
    messages = (simulator.chats.find(wamid) for wamid in delivery.wamids)
    return any(m is not None and m.person == person for m in messages)
