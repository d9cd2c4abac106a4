"""What the person wants now: asked in this text, or in an earlier one that this text continues."""

from dataclasses import dataclass

from simulators.claude.brain.choices import candidates, chosen
from simulators.claude.brain.conversation import ToolStep, Turn, View
from simulators.claude.brain.intents import is_correction, tool_of
from simulators.claude.brain.names import bare_name
from simulators.claude.brain.results import error_text
from simulators.claude.brain.slots import slots_of
from simulators.claude.fields import Json

TURNS_BACK = 6
_NAME_SLOTS = ("customer", "recipient", "professional", "name", "charge")
_NAME_OF_TOOL = {
    "create_pix_charge": "customer",
    "update_email": "customer",
    "transfer_balance": "recipient",
    "find_customer": "name",
    "create_booking": "professional",
    "cancel_booking": "professional",
    "reschedule_booking": "professional",
}
_EFFECTS = frozenset(_NAME_OF_TOOL) - {"find_customer"} | {"refund_charge"}


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A tool by name and the slots known so far."""

    tool: str
    slots: Json


def wish_of(view: View) -> Wish | None:
    """Return the wish of the current turn, or None if the text asks for nothing."""
    tool = tool_of(view.text)
    if tool is not None:
        return Wish(tool=tool, slots=slots_of(tool, view.text, view.now))
    return _continued(view) or _corrected(view)


def _continued(view: View) -> Wish | None:
    """Take up the last wish that got a question instead of a result."""
    earlier = view.turns[-1 - TURNS_BACK : -1]
    start = next((i for i in reversed(range(len(earlier))) if tool_of(earlier[i].text)), None)
    if start is None:
        return None
    tool = tool_of(earlier[start].text)
    if tool is None or any(_succeeded(turn, tool) for turn in earlier[start:]):
        return None
    slots = slots_of(tool, earlier[start].text, view.now)
    answered = False
    for before, turn in zip(earlier[start:], [*earlier[start + 1 :], view.turns[-1]], strict=True):
        fresh = _answer(tool, slots, turn.text, _failure(before), view)
        answered = bool(fresh)
        slots = slots | fresh
    return Wish(tool=tool, slots=slots) if answered else None


def _answer(tool: str, slots: Json, text: str, failure: ToolStep | None, view: View) -> Json:
    """Return the slots that one short answer fills or, after a failed call, replaces."""
    fresh = slots_of(tool, text, view.now)
    if failure is not None:
        if text.strip(" .!").isdigit():
            fresh.pop("amount_cents", None)  # "1" picks the first candidate
        slot = _slot_at_fault(failure)
        name = chosen(text, candidates(error_text(failure)))
        return fresh | ({slot: name} if slot and name else {})
    slot = _NAME_OF_TOOL.get(tool)
    if slot and slot not in slots and slot not in fresh and (name := bare_name(text)):
        fresh[slot] = name
    return fresh


def _slot_at_fault(failure: ToolStep) -> str | None:
    """The name in the failed call that the error text repeats; else its first name."""
    given = [key for key in _NAME_SLOTS if isinstance(failure.input.get(key), str)]
    text = error_text(failure).casefold()
    named = [key for key in given if failure.input[key].casefold() in text]
    return next(iter(named or given), None)


def _corrected(view: View) -> Wish | None:
    """Repeat the last call with another amount, time or name ("na verdade 200")."""
    if not is_correction(view.text):
        return None
    last = _last_call(view)
    if last is None:
        return None
    fresh = slots_of(last.name, view.text, view.now)
    fresh.pop("clock", None)
    if not fresh:
        return None
    return Wish(tool=last.name, slots=last.input | fresh)


def repeated_wish(view: View) -> Wish | None:
    """Return the last call with an effect once more ("refaz"), or None if there was none."""
    last = _last_call(view)
    return Wish(tool=last.name, slots=dict(last.input)) if last else None


def _last_call(view: View) -> ToolStep | None:
    steps = [step for turn in view.turns[-1 - TURNS_BACK : -1] for step in turn.steps]
    return next((step for step in reversed(steps) if step.name in _EFFECTS), None)


def _failure(turn: Turn) -> ToolStep | None:
    return next((step for step in reversed(turn.steps) if step.is_error), None)


def _succeeded(turn: Turn, tool: str) -> bool:
    return any(step.name == tool and not step.is_error for step in turn.steps)
