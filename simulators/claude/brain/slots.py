"""What a text says, by slot: amount, names, day, time, e-mail, charge."""

import re
from collections.abc import Callable
from datetime import datetime

from simulators.claude.brain.moments import find_day, find_time
from simulators.claude.brain.money import find_amounts
from simulators.claude.brain.names import name_of, name_to, name_with
from simulators.claude.brain.words import fold, nfc
from simulators.claude.fields import Json

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CORRECTION = re.compile(r"\b(nao|na verdade|digo|corrig\w+|melhor|alias)\b")
_CHARGE = re.compile(r"\b(?:cobranca|pix|pagamento|venda|charge)\s+((?=\S*\d)[\w-]{3,})")
_LAST_WORD = re.compile(r"\bpara\s+(?:a chave\s+|o pix\s+)?(\S+)")
_ABOUT = re.compile(r"\b(?:referente (?:a|ao)|ref\.?|descricao:?)\s+([^,;\n]+)")
_FOR = ("pro", "pra", "para")


def slots_of(tool: str, text: str, now: datetime) -> Json:
    """Return the slots of `tool` that `text` fills; a missing slot is simply not there."""
    found: Json = {}
    amounts = find_amounts(text)
    if amounts:
        found["amount_cents"] = amounts[-1] if _CORRECTION.search(fold(text)) else amounts[0]
    day, clock = find_day(text, now), find_time(text)
    if day is not None:
        found["date"] = day.isoformat()
    if day is not None and clock is not None:
        found["starts_at"] = datetime.combine(day, clock, tzinfo=now.tzinfo).isoformat()
    elif clock is not None:
        found["clock"] = clock.isoformat()
    if email := _EMAIL.search(text):
        found["email"] = email[0]
    if charge := _CHARGE.search(fold(text)):
        found["charge"] = nfc(text)[charge.start(1) : charge.end(1)]
    found |= {key: value for key, value in _names(tool, text).items() if value}
    if tool == "create_pix_charge":
        found |= _charge_extras(text, found)
    return found


def _names(tool: str, text: str) -> dict[str, str | None]:
    readers: dict[str, Callable[[str], dict[str, str | None]]] = {
        "create_pix_charge": lambda t: {"customer": name_to(t) or name_of(t)},
        "refund_charge": lambda t: {"charge_of": name_of(t) or name_to(t)},
        "get_charge": lambda t: {"charge_of": name_of(t) or name_to(t)},
        "transfer_balance": lambda t: {"recipient": _recipient(t)},
        "update_email": lambda t: {"customer": name_of(t) or name_to(t)},
        "find_customer": lambda t: {"name": name_to(t) or name_of(t) or _after_verb(t)},
        "create_booking": lambda t: {"professional": name_with(t), "customer": name_to(t)},
        "list_free_slots": lambda t: {"professional": name_with(t) or name_of(t)},
        "cancel_booking": lambda t: {"professional": name_with(t) or name_of(t)},
        "reschedule_booking": lambda t: {"professional": name_with(t)},
    }
    reader = readers.get(tool)
    return reader(text) if reader else {}


def _recipient(text: str) -> str | None:
    """Return a name, or the key (e-mail, number) after "para"."""
    if name := name_to(text):
        return name
    match = _LAST_WORD.search(fold(text))
    return nfc(text)[match.start(1) : match.end(1)] if match else None


def _after_verb(text: str) -> str | None:
    match = re.search(r"\b(?:procur\w+|busc\w+|ach\w+|encontr\w+)\s+", fold(text))
    rest = nfc(text)[match.end() :].strip(" ?.!") if match else ""
    return rest or None


def _charge_extras(text: str, found: Json) -> Json:
    extras: Json = {}
    folded = fold(text)
    if about := _ABOUT.search(folded):
        extras["description"] = nfc(text)[about.start(1) : about.end(1)].strip()
    if "date" in found and re.search(r"\bvenc", folded):
        extras["due_date"] = found["date"]
    return extras
