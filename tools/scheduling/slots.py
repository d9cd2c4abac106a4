"""Which times a professional offers: his hours in the account's zone, cut into slots.

The trap: a day of a change of clocks has hours that do not exist or exist twice. Such a slot is not
offered; the rule for reading times refuses it as well (`domain.dates`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from domain.cleaning import clean_value
from domain.dates import parse_instant, zone
from domain.errors import ToolInputError
from domain.names import search_words
from domain.people import Who
from domain.texts import texts_for
from store import agenda
from store.agenda import Booking, Professional
from store.clock import current_time
from store.connection import Connection
from tools.account_time import local_iso


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A time of a professional, in UTC."""

    professional: Professional
    starts_at: datetime
    ends_at: datetime

    @property
    def minutes(self) -> int:
        """Its length."""
        return int((self.ends_at - self.starts_at).total_seconds()) // 60


def slots_of_day(professional: Professional, day: date, *, time_zone: str) -> list[Slot]:
    """Return all slots of that local day, free or not, in order."""
    if day.isoweekday() not in professional.weekdays:
        return []
    length = timedelta(minutes=professional.slot_minutes)
    slots: list[Slot] = []
    wall = datetime.combine(day, professional.opens)
    while wall + length <= datetime.combine(day, professional.closes):
        try:
            start = parse_instant(wall.isoformat(timespec="seconds"), time_zone=time_zone)
        except ToolInputError:
            pass  # skipped or repeated by a change of clocks: not offered
        else:
            slots.append(Slot(professional=professional, starts_at=start, ends_at=start + length))
        wall += length
    return slots


async def free_slots(
    db: Connection, who: Who, wanted: Sequence[Professional], day: date
) -> list[Slot]:
    """Return the free, future slots of these professionals on that local day, by time."""
    slots = [s for one in wanted for s in slots_of_day(one, day, time_zone=who.time_zone)]
    if not slots:
        return []
    taken = await agenda.bookings_of(
        db,
        who.account_id,
        [one.id for one in wanted],
        after=min(slot.starts_at for slot in slots),
        before=max(slot.ends_at for slot in slots),
    )
    now = await current_time(db)
    free = [slot for slot in slots if slot.starts_at > now and not _overlapping(slot, taken)]
    return sorted(free, key=lambda slot: (slot.starts_at, slot.professional.name))


def _overlapping(slot: Slot, bookings: Sequence[Booking]) -> list[Booking]:
    return [
        one
        for one in bookings
        if one.professional_id == slot.professional.id
        and one.starts_at < slot.ends_at
        and one.ends_at > slot.starts_at
    ]


async def taken_by(
    db: Connection, who: Who, slot: Slot, *, but: int | None = None
) -> list[Booking]:
    """Return the live bookings that overlap the slot, without the booking `but`."""
    found = await agenda.bookings_of(
        db,
        who.account_id,
        [slot.professional.id],
        after=slot.starts_at,
        before=slot.ends_at,
    )
    return [one for one in found if one.id != but]


def slot_at(professional: Professional, start: datetime, *, time_zone: str) -> Slot | None:
    """Return the slot that begins exactly at `start`, else None."""
    day = start.astimezone(zone(time_zone)).date()
    slots = slots_of_day(professional, day, time_zone=time_zone)
    return next((slot for slot in slots if slot.starts_at == start), None)


async def wanted_slot(db: Connection, who: Who, professional: Professional, starts_at: str) -> Slot:
    """Return the future slot that the model's text means.

    Raises ToolInputError for a form that is not ISO 8601, a past time, or one that the professional
    does not offer (with the free ones of that day). Whether it is free is not asked here.
    """
    say = texts_for(who.language)
    start = parse_instant(starts_at, time_zone=who.time_zone, field="starts_at")
    if start <= await current_time(db):
        raise ToolInputError(f"starts_at: {starts_at!r}: {say.slot_past()}")
    slot = slot_at(professional, start, time_zone=who.time_zone)
    if slot is None:
        day = start.astimezone(zone(who.time_zone)).date()
        free = await free_slots(db, who, [professional], day)
        times = [local_iso(one.starts_at, who)[11:16] for one in free]
        raise ToolInputError(say.not_a_slot(professional.name, times))
    return slot


async def professionals_for(db: Connection, who: Who, asked: str | None) -> list[Professional]:
    """Return whom `asked` (id or name) may mean, or all. Raises ToolInputError if nobody."""
    everyone = await agenda.professionals(db, who.account_id)
    if asked is None:
        return everyone
    text = clean_value(asked, field="professional")
    words = search_words(text)
    found = [
        one
        for one in everyone
        if str(one.id) == text
        or all(any(n.startswith(w) for n in search_words(one.name)) for w in words)
    ]
    exact = [one for one in found if search_words(one.name) == words]
    if not found:
        names = [one.name for one in everyone]
        raise ToolInputError(texts_for(who.language).professional_not_found(text, names))
    return exact if len(exact) == 1 else found


async def professional_for(db: Connection, who: Who, asked: str) -> Professional:
    """Return the one professional that `asked` means. Raises ToolInputError."""
    found = await professionals_for(db, who, asked)
    if len(found) > 1:
        names = [one.name for one in found]
        raise ToolInputError(texts_for(who.language).which_professional(asked, names))
    return found[0]
