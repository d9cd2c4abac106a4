"""Cancels a booking, and compensates the action that holds it: book, cancel, book works."""

from pydantic import BaseModel, ConfigDict, Field

from domain.cleaning import clean_value
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
from tools.customer_lookup import customer_moved, printed_customer
from tools.frozen import frozen, seen_by_model, texts_of
from tools.scheduling.bookings import MOST_ID, booking_moved, own_booking, refuse_past


class CancelBookingInput(BaseModel):
    """What the model says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    booking_id: int = Field(ge=1, le=MOST_ID, description="The booking's id, from list_bookings.")


class CancelBooking(DatabaseTool[CancelBookingInput]):
    """Reversible: the time can be booked again while it is free. A blocked customer may cancel."""

    name = "cancel_booking"
    description = (
        "Proposes to cancel an existing booking that is still to come. "
        "It cancels nothing by itself: the system asks the person, who decides by button. "
        "Take booking_id from list_bookings."
    )
    risk = Risk.REVERSIBLE
    confirm = Confirm.BUTTON_OR_YES
    repeat_safe = True
    roles = EVERYONE
    input_model = CancelBookingInput

    async def prepare(self, data: CancelBookingInput, who: Who, db: Connection) -> Prepared:
        """Resolve the booking; no business key, since what is cancelled is gone."""
        say = texts_for(who.language)
        booking = await own_booking(db, who, data.booking_id)
        refuse_past(booking.starts_at, await current_time(db), who)
        customer = await customers.get(db, who.account_id, booking.customer_id)
        if customer is None:
            raise ToolInputError(say.booking_not_found(data.booking_id))
        payload = frozen(
            who,
            booking_id=booking.id,
            held_by=booking.action_id,
            professional_id=booking.professional_id,
            professional_name=clean_value(booking.professional_name, field="professional name"),
            starts_at=iso_utc(booking.starts_at),
            **printed_customer(customer),
        )
        return Prepared(
            payload=payload,
            summary=say.cancel_booking_summary(payload, today=await today(db, who)),
            compensates=booking.action_id,
        )

    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Booking and customer as printed, and still to come."""
        return await customer_moved(db, who, payload, may_be_blocked=True) or await booking_moved(
            db, who, payload, start_key="starts_at"
        )

    async def execute(self, payload: Payload, key: str, context: DatabaseContext) -> Payload:
        """Cancel it if it is still as it was. Raises NoLongerPossibleError."""
        done = await agenda.cancel_booking(
            context.transaction,
            context.who.account_id,
            int_at(payload, "booking_id"),
            starts_at=from_iso_utc(text_at(payload, "starts_at")),
            held_by=text_or_none_at(payload, "held_by"),
        )
        if not done:
            raise NoLongerPossibleError(texts_of(payload).booking_changed())
        return {"booking_id": int_at(payload, "booking_id")}

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """Which booking is gone."""
        return texts_of(payload).cancel_booking_done(payload)

    def already_done(self, payload: Payload, result: Payload) -> Payload:
        """The booking that was cancelled."""
        return seen_by_model(payload, result)
