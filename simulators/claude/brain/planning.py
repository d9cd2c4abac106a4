"""From a wish to the next step: ask for what is missing, look something up first, or call."""

from typing import Any

from simulators.claude.brain.choices import (
    booking_id,
    booking_start,
    bookings_in,
    fitting_bookings,
)
from simulators.claude.brain.conversation import View
from simulators.claude.brain.results import booking_line
from simulators.claude.brain.wish import Wish
from simulators.claude.fields import Json
from simulators.claude.reply import Reply, call, say

_QUESTIONS = {
    "amount_cents": "Qual é o valor?",
    "customer": "Para qual cliente?",
    "recipient": "Para quem devo transferir?",
    "professional": "Com qual profissional?",
    "starts_at": "Para que dia e horário?",
    "date": "Para qual dia?",
    "email": "Qual é o novo e-mail?",
    "charge": "Qual cobrança? Me passe o código dela.",
    "name": "Qual é o nome do cliente?",
}
_NEEDED = {
    "list_free_slots": ("date",),
    "create_booking": ("professional", "starts_at"),
    "reschedule_booking": ("starts_at",),
    "find_customer": ("name",),
    "update_email": ("customer", "email"),
    "create_pix_charge": ("amount_cents", "customer"),
    "refund_charge": ("charge",),
    "transfer_balance": ("amount_cents", "recipient"),
}
NOT_HERE = "Isso eu não consigo fazer por aqui. Posso ajudar com outra coisa?"


def next_step(wish: Wish, view: View) -> Reply:
    """Return the question or the tool call that brings the wish forward."""
    if wish.tool not in view.schemas or not view.may_call:
        return say(NOT_HERE)
    slots = _completed(wish, view)
    for slot in _NEEDED.get(wish.tool, ()):
        if slot not in slots:
            return say(_QUESTIONS[slot])
    if wish.tool in ("cancel_booking", "reschedule_booking"):
        return _on_booking(wish.tool, slots, view)
    return _call(wish.tool, slots, view.schemas[wish.tool])


def _on_booking(tool: str, slots: Json, view: View) -> Reply:
    """Find the booking first: its id is never guessed."""
    if "booking_id" in slots:
        return _call(tool, slots, view.schemas[tool])
    listed = next((step for step in view.steps if step.name == "list_bookings"), None)
    if listed is None:
        if "list_bookings" not in view.schemas:
            return say("Qual é o código do horário?")
        return _call("list_bookings", {}, view.schemas["list_bookings"])
    found = bookings_in(listed.data)
    if not found:
        return say("Não encontrei nenhum horário marcado.")
    fitting = fitting_bookings(found, slots, by_day=tool == "cancel_booking")
    if len(fitting) == 1:
        return _call(tool, slots | {"booking_id": booking_id(fitting[0])}, view.schemas[tool])
    shown = fitting or found
    lines = "\n".join(f"- {booking_line(b) or booking_start(b)}" for b in shown)
    return say(f"Encontrei estes horários:\n{lines}\nQual deles?")


def _completed(wish: Wish, view: View) -> Json:
    """Add what follows from the rest: a charge by its customer or from an earlier result."""
    slots = dict(wish.slots)
    if wish.tool in ("refund_charge", "get_charge") and "charge" not in slots:
        known = slots.get("charge_of") or _last_charge(view)
        slots |= {"charge": known} if known else {}
    if "starts_at" not in slots and "date" in slots and "clock" in slots:
        slots["starts_at"] = f"{slots['date']}T{slots['clock']}{view.now.isoformat()[-6:]}"
    return slots


def _last_charge(view: View) -> str | None:
    for turn in reversed(view.turns):
        for step in reversed(turn.steps):
            if isinstance(step.data, dict):
                value = step.data.get("charge_id") or step.data.get("charge")
                if isinstance(value, str):
                    return value
    return None


def _call(tool: str, slots: Json, schema: Json) -> Reply:
    """Fill the properties of the offered schema that the slots know; required others are null."""
    properties: Json = schema.get("properties") or {}
    required = schema.get("required") or []
    arguments: Json = {}
    for key, shape in properties.items():
        if key in slots:
            arguments[key] = _shaped(slots[key], shape)
        elif key in required and _nullable(shape):
            arguments[key] = None
    missing = [key for key in required if key not in arguments]
    if missing:
        return say(_QUESTIONS.get(missing[0], f"Falta um dado para seguir: {missing[0]}."))
    return call(tool, arguments)


def _shaped(value: Any, shape: Json) -> Any:
    """An integer amount becomes `150.00` where the schema takes only a string."""
    if isinstance(value, int) and shape.get("type") == "string":
        return f"{value // 100}.{value % 100:02d}"
    return value


def _nullable(shape: Json) -> bool:
    kinds = shape.get("type")
    variants = [part.get("type") for part in shape.get("anyOf", [])]
    return "null" in variants or (isinstance(kinds, list) and "null" in kinds)
