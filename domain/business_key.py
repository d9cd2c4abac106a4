"""The key of what makes sense once: who + what + when, however the model wrote it.

The trap: the model writes `2026-03-11T14:00:00-03:00` in one attempt and `2026-03-11 14:00` in the
next, `"8812"` and 8812, `" João "` and `joão`, `"150.00"` and 15000. A hash of the raw arguments
would see two bookings. The forms are told apart by pattern alone, so a tool should keep each place
of its key to one kind of thing; the key is never sent to a provider (design §5).
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import TypeAlias

from domain.canonical import JsonValue, sha256_hex
from domain.dates import INSTANT_PATTERN, iso_utc, parse_instant
from domain.money import cents_of
from domain.names import normalise

KeyPart: TypeAlias = "JsonValue | datetime"

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)
_AMOUNT = re.compile(r"[0-9]{1,10}\.[0-9]{2}", re.ASCII)


def business_key(account_id: str, parts: Iterable[KeyPart], *, time_zone: str | None = None) -> str:
    """Return the key of `parts` for this account, as 64 hex.

    `time_zone` reads times without an offset; without it such a text stays a text, so tools that
    freeze UTC moments need none. Raises ToolInputError for a time that does not exist there,
    NotCanonicalError for floats and the like, ValueError for a moment without a zone.
    """
    return sha256_hex([account_id, *(key_part(part, time_zone=time_zone) for part in parts)])


def key_part(part: KeyPart, *, time_zone: str | None = None) -> JsonValue:
    """Return the normal form of one part: UTC text, integer, cents, or trimmed, casefolded text."""
    if isinstance(part, datetime):
        return iso_utc(part)
    if not isinstance(part, str):
        return part
    text = normalise(part)
    if _INTEGER.fullmatch(text):
        return int(text)
    if _AMOUNT.fullmatch(text):
        return cents_of(text)
    moment = text.upper()
    if INSTANT_PATTERN.fullmatch(moment) and (time_zone or _has_offset(moment)):
        return iso_utc(parse_instant(moment, time_zone=time_zone or "UTC"))
    return text


def _has_offset(text: str) -> bool:
    return text.endswith("Z") or text[-6] in "+-"
