"""Picking one of several: candidates named in an error, bookings in a list."""

import re
from typing import Any

from simulators.claude.brain.names import bare_name
from simulators.claude.brain.words import fold
from simulators.claude.fields import Json

_PARTICLE = r"(?:\s+d[aeo]s?)?"
_NAME = re.compile(rf"[A-ZÀ-Ý][\wÀ-ÿ'-]*(?:{_PARTICLE}\s+[A-ZÀ-Ý][\wÀ-ÿ'-]*)+")
_ORDINALS = ("primeir", "segund", "terceir", "quart")
_ID_KEYS = ("booking_id", "id", "booking")
_START_KEYS = ("starts_at", "start", "inicio", "date_time", "quando")


def candidates(text: str) -> list[str]:
    """Return the full names that an error text offers, in order."""
    return list(dict.fromkeys(match[0] for match in _NAME.finditer(text)))


def detailed_candidates(text: str) -> list[str]:
    """Return the names with what stands in brackets behind each, as the error tells them apart."""
    pattern = re.compile(_NAME.pattern + r"(?:\s*\([^)]*\))?")
    return list(dict.fromkeys(match[0] for match in pattern.finditer(text)))


def chosen(answer: str, offered: list[str]) -> str | None:
    """Return the name that `answer` means: one offered (by word or ordinal), else its own name."""
    folded = fold(answer)
    for index, ordinal in enumerate(_ORDINALS[: len(offered)]):
        if re.search(rf"\b{ordinal}[oa]\b", folded) or folded.strip(" .!") == str(index + 1):
            return offered[index]
    name = bare_name(answer)
    if name is None:
        return None
    wanted = set(fold(name).split())
    fitting = [full for full in offered if wanted <= set(fold(full).split())]
    return fitting[0] if len(fitting) == 1 else name


def bookings_in(data: Any) -> list[Json]:
    """Return the bookings of a `list_bookings` result, wherever in the JSON the list is."""
    if isinstance(data, list):
        return [item for item in data if isinstance(item, dict) and booking_id(item)]
    if isinstance(data, dict):
        for value in data.values():
            if found := bookings_in(value):
                return found
    return []


def booking_id(booking: Json) -> str | None:
    """Return a booking's id as it stands in the result."""
    value = next((booking[key] for key in _ID_KEYS if booking.get(key)), None)
    return str(value) if value is not None else None


def booking_start(booking: Json) -> str:
    """Return when a booking starts, as it stands in the result."""
    return str(next((booking[key] for key in _START_KEYS if booking.get(key)), ""))


def fitting_bookings(bookings: list[Json], slots: Json, *, by_day: bool) -> list[Json]:
    """Return the bookings that fit the professional named and, if `by_day`, the day and time."""
    kept = bookings
    if name := slots.get("professional"):
        words = set(fold(str(name)).split())
        kept = [b for b in kept if words <= set(re.findall(r"[\w.]+", fold(str(b))))]
    if by_day and (day := slots.get("date")):
        kept = [b for b in kept if booking_start(b).startswith(str(day))]
    return kept
