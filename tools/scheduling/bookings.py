"""What the tools that change the agenda share: payload, keys, and the checks before the effect."""

from datetime import datetime, timedelta

from domain.canonical import JsonValue
from domain.cleaning import clean_or_none, clean_value
from domain.dates import from_iso_utc, iso_utc
from domain.errors import ToolInputError
from domain.payload import Frozen, int_at, text_at, text_or_none_at
from domain.people import Who
from domain.texts import texts_for
from store import agenda, customers
from store.agenda import Booking, NewBooking
from store.clock import current_time
from store.connection import Connection
from tools.contract import DatabaseContext, NoLongerPossible, Payload
from tools.scheduling.slots import Slot, slot_at, taken_by

MOST_ID = 10**10
"""More bookings than any business has, and well inside the column's 64 bits."""


def booking_key(payload: Frozen) -> tuple[JsonValue, ...]:
    """Return the business key: the same customer, professional and time is one booking, whether
    it was made or moved there."""
    return (
        "booking",
        int_at(payload, "customer_id"),
        int_at(payload, "professional_id"),
        text_at(payload, "starts_at"),
    )


def printed_slot(slot: Slot) -> Payload:
    """Return what a payload freezes of a slot. Raises ToolInputError for an unprintable name."""
    return {
        "professional_id": slot.professional.id,
        "professional_name": clean_value(slot.professional.name, field="professional name"),
        "starts_at": iso_utc(slot.starts_at),
        "minutes": slot.minutes,
    }


async def refuse_taken(db: Connection, who: Who, slot: Slot, *, but: int | None = None) -> None:
    """Raise ToolInputError if another booking overlaps the slot."""
    if await taken_by(db, who, slot, but=but):
        raise ToolInputError(texts_for(who.language).slot_taken())


async def own_booking(db: Connection, who: Who, booking_id: int) -> Booking:
    """Return the live booking of this id that `who` may see.

    Raises ToolInputError "not found" for none, a cancelled one, and another person's alike.
    """
    found = await agenda.booking(db, who.account_id, booking_id)
    if found is None or found.cancelled or not await _may_see(db, who, found):
        raise ToolInputError(texts_for(who.language).booking_not_found(booking_id))
    return found


async def _may_see(db: Connection, who: Who, booking: Booking) -> bool:
    if who.is_member:
        return True
    own = await customers.linked_to(db, who.account_id, who.person)
    return own is not None and own.id == booking.customer_id


async def slot_moved(
    db: Connection, who: Who, payload: Frozen, *, but: int | None = None
) -> NoLongerPossible | None:
    """Return why the frozen slot cannot be taken any more, else None."""
    say = texts_for(who.language)
    start = from_iso_utc(text_at(payload, "starts_at"))
    professional = await agenda.professional(db, who.account_id, int_at(payload, "professional_id"))
    if start <= await current_time(db):
        return NoLongerPossible(reason=say.slot_past())
    slot = slot_at(professional, start, time_zone=who.time_zone) if professional else None
    if slot is None or printed_or_none(slot) != {key: payload[key] for key in _SLOT_KEYS}:
        return NoLongerPossible(reason=say.professional_changed())
    if await taken_by(db, who, slot, but=but):
        return NoLongerPossible(reason=say.slot_taken())
    return None


_SLOT_KEYS = ("professional_id", "professional_name", "starts_at", "minutes")


def printed_or_none(slot: Slot) -> Payload | None:
    """Return `printed_slot`, or None if the name cannot be printed any more."""
    try:
        return printed_slot(slot)
    except ToolInputError:
        return None


async def booking_moved(
    db: Connection, who: Who, payload: Frozen, *, start_key: str
) -> NoLongerPossible | None:
    """Return why the frozen booking is not as it was printed any more, else None."""
    say = texts_for(who.language)
    found = await agenda.booking(db, who.account_id, int_at(payload, "booking_id"))
    same = (
        found is not None
        and not found.cancelled
        and found.starts_at == from_iso_utc(text_at(payload, start_key))
        and found.customer_id == int_at(payload, "customer_id")
        and found.professional_id == int_at(payload, "professional_id")
        and clean_or_none(found.professional_name) == text_at(payload, "professional_name")
        and found.action_id == text_or_none_at(payload, "held_by")
    )
    if not same:
        return NoLongerPossible(reason=say.booking_changed())
    if from_iso_utc(text_at(payload, start_key)) <= await current_time(db):
        return NoLongerPossible(reason=say.slot_past())
    return None


def new_booking(payload: Frozen, context: DatabaseContext) -> NewBooking:
    """Return the row that the payload means, held by the acting action."""
    start = from_iso_utc(text_at(payload, "starts_at"))
    return NewBooking(
        account_id=context.who.account_id,
        professional_id=int_at(payload, "professional_id"),
        customer_id=int_at(payload, "customer_id"),
        starts_at=start,
        ends_at=start + timedelta(minutes=int_at(payload, "minutes")),
        action_id=context.action_id,
    )


def refuse_past(moment: datetime, now: datetime, who: Who) -> None:
    """Raise ToolInputError for a booking whose time has come: there is nothing left to change."""
    if moment <= now:
        raise ToolInputError(texts_for(who.language).slot_past())
