"""Moves a booking to another time of the same professional.

It compensates the action that holds the booking, which frees that one's key, and takes the key of
the new time: the old time may be booked again, the new one only once.
"""

from pydantic import BaseModel, ConfigDict, Field

from domain.dates import from_iso_utc, iso_utc
from domain.errors import ToolInputError
from domain.payload import int_at, text_at, text_or_none_at
from domain.people import Who
from domain.texts import texts_for
from store import agenda, customers
from store.clock import current_time
from store.connection import Connection
from tools.account_time import today
from tools.contract import (
    EVERYONE,
    Confirm,
    DatabaseContext,
    DatabaseTool,
    NoLongerPossible,
    NoLongerPossibleError,
    Payload,
    Prepared,
    Risk,
)
from tools.customer_lookup import customer_moved, printed_customer, refuse_blocked
from tools.frozen import frozen, seen_by_model, texts_of
from tools.scheduling.bookings import (
    MOST_ID,
    booking_key,
    booking_moved,
    new_booking,
    own_booking,
    printed_slot,
    refuse_past,
    refuse_taken,
    slot_moved,
)
from tools.scheduling.slots import professional_for, wanted_slot


class RescheduleBookingInput(BaseModel):
    """What the model says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    booking_id: int = Field(ge=1, le=MOST_ID, description="The booking's id, from list_bookings.")
    starts_at: str = Field(
        description="New start in ISO 8601, e.g. 2026-12-01T14:00; without offset in the "
        "business's time zone."
    )


class RescheduleBooking(DatabaseTool[RescheduleBookingInput]):
    """Reversible: it can be moved back."""

    name = "reschedule_booking"
    description = (
        "Proposes to move an existing booking to another time with the same professional. "
        "It moves nothing by itself: the system asks the person, who decides by button. "
        "Take booking_id from list_bookings and a free time from list_free_slots."
    )
    risk = Risk.REVERSIBLE
    confirm = Confirm.BUTTON_OR_YES
    repeat_safe = True
    roles = EVERYONE
    input_model = RescheduleBookingInput

    async def prepare(self, data: RescheduleBookingInput, who: Who, db: Connection) -> Prepared:
        """Resolve the booking and the new slot."""
        say = texts_for(who.language)
        booking = await own_booking(db, who, data.booking_id)
        refuse_past(booking.starts_at, await current_time(db), who)
        customer = await customers.get(db, who.account_id, booking.customer_id)
        if customer is None:
            raise ToolInputError(say.booking_not_found(data.booking_id))
        refuse_blocked(customer, who)
        professional = await professional_for(db, who, str(booking.professional_id))
        slot = await wanted_slot(db, who, professional, data.starts_at)
        if slot.starts_at == booking.starts_at and booking.action_id is None:
            raise ToolInputError(say.already_booked())
        await refuse_taken(db, who, slot, but=booking.id)
        payload = frozen(
            who,
            booking_id=booking.id,
            held_by=booking.action_id,
            old_starts_at=iso_utc(booking.starts_at),
            **printed_customer(customer),
            **printed_slot(slot),
        )
        return Prepared(
            payload=payload,
            summary=say.reschedule_summary(payload, today=await today(db, who)),
            business_key=booking_key(payload),
            compensates=booking.action_id,
        )

    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Booking and customer as printed, new slot offered, in the future and free."""
        return (
            await customer_moved(db, who, payload)
            or await booking_moved(db, who, payload, start_key="old_starts_at")
            or await slot_moved(db, who, payload, but=int_at(payload, "booking_id"))
        )

    async def execute(self, payload: Payload, key: str, context: DatabaseContext) -> Payload:
        """Move it if it is still where it was. Raises NoLongerPossibleError."""
        try:
            moved = await agenda.move_booking(
                context.transaction,
                int_at(payload, "booking_id"),
                old_starts_at=from_iso_utc(text_at(payload, "old_starts_at")),
                held_by=text_or_none_at(payload, "held_by"),
                new=new_booking(payload, context),
            )
        except agenda.SlotTakenError as error:
            raise NoLongerPossibleError(texts_of(payload).slot_taken()) from error
        if not moved:
            raise NoLongerPossibleError(texts_of(payload).booking_changed())
        return {"booking_id": int_at(payload, "booking_id")}

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """The new time."""
        return texts_of(payload).reschedule_done(payload)

    def already_done(self, payload: Payload, result: Payload) -> Payload:
        """The booking as it stands."""
        return seen_by_model(payload, result)
