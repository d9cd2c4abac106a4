"""Dates and times: ISO 8601 in, UTC inside, the account's zone for people.

The trap (facts/payments.md §12): libraries that read human dates put `amanhã às 14h` 14 hours from
now and `2 de dezembro` into the year 2114. The model writes ISO 8601; without an offset it is read
in the account's zone, never in the server's.
"""

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from domain.errors import SettingsError, ToolInputError

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
INSTANT_PATTERN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?",
    re.ASCII,
)
"""A date and a time of day, with or without seconds and offset."""


def zone(name: str) -> ZoneInfo:
    """Return the IANA zone `name`. Raises SettingsError if there is none (it is a setting)."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SettingsError(f"{name!r} is not an IANA time zone, e.g. America/Sao_Paulo") from error


def parse_date(text: str, *, field: str = "date") -> date:
    """Return the day of `2026-12-01`. Raises ToolInputError for any other form or no such day."""
    if _DATE.fullmatch(text) is None:
        raise ToolInputError(f"{field}: {text!r} is not a date in the form 2026-12-01")
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ToolInputError(f"{field}: {text!r} does not exist in the calendar") from error


def parse_instant(text: str, *, time_zone: str, field: str = "time") -> datetime:
    """Return the moment in UTC of `2026-12-01T14:00`, read in `time_zone` if it has no offset.

    Raises ToolInputError for any other form, for a moment that does not exist, and for a local
    time that a change of clocks skips or repeats: with an offset it says which one is meant.
    """
    if INSTANT_PATTERN.fullmatch(text) is None:
        raise ToolInputError(
            f"{field}: {text!r} is not ISO 8601, e.g. 2026-12-01T14:00 or 2026-12-01T14:00-03:00"
        )
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = _in_zone(moment, time_zone, field)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ToolInputError(f"{field}: {text!r} does not exist in the calendar") from error


def _in_zone(local: datetime, time_zone: str, field: str) -> datetime:
    """Put a wall-clock time into the zone; skipped and repeated ones are refused, not resolved."""
    there = zone(time_zone)
    first, second = local.replace(tzinfo=there, fold=0), local.replace(tzinfo=there, fold=1)
    if first.utcoffset() == second.utcoffset():
        return first
    exists = first.astimezone(UTC).astimezone(there).replace(tzinfo=None) == local
    what = "happens twice" if exists else "is skipped"
    raise ToolInputError(
        f"{field}: {local.isoformat()} {what} in {time_zone} because the clocks change; "
        f"give another time{' or its offset' if exists else ''}"
    )


def iso_utc(moment: datetime) -> str:
    """Return the one form in which payloads and keys hold a moment: `2026-12-01T17:00:00Z`.

    Microseconds appear only if there are any. Raises ValueError for a moment without a zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"a moment without a zone: {moment!r}")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def from_iso_utc(text: str) -> datetime:
    """Return the moment that `iso_utc` wrote. Raises ValueError for anything else."""
    if not text.endswith("Z"):
        raise ValueError(f"not a moment written by iso_utc: {text!r}")
    return datetime.fromisoformat(text)


def end_of_day(day: date, *, time_zone: str) -> datetime:
    """Return the moment in UTC at which `day` is over in `time_zone`."""
    midnight = datetime.combine(day + timedelta(days=1), datetime.min.time())
    return midnight.replace(tzinfo=zone(time_zone)).astimezone(UTC)
