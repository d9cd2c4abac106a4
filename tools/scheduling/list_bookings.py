"""Lists what is booked and still to come."""

from pydantic import BaseModel, ConfigDict, Field

from domain.people import Who
from store import agenda
from store.agenda import Booking
from store.clock import current_time
from store.connection import Connection
from tools.account_time import local_iso
from tools.contract import EVERYONE, Payload, ReadTool
from tools.customer_lookup import customer_for

MOST_BOOKINGS = 30
"""A page that the model can still read out."""


class ListBookingsInput(BaseModel):
    """What the model says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    customer: str | None = Field(
        default=None,
        description="The customer's name, CPF/CNPJ or id. Leave it out for the person's own "
        "bookings; a member of the business then gets everybody's.",
    )


class ListBookings(ReadTool[ListBookingsInput]):
    """A read."""

    name = "list_bookings"
    description = (
        "Lists bookings that are still to come, the next first. "
        "Use it to learn a booking_id before you propose to move or cancel a booking. "
        "Customers see their own bookings only."
    )
    roles = EVERYONE
    input_model = ListBookingsInput

    async def look_up(self, data: ListBookingsInput, who: Who, db: Connection) -> Payload:
        """The bookings; `more` says that the list goes on."""
        everybody = who.is_member and data.customer is None
        customer_id = None if everybody else (await customer_for(db, who, data.customer)).id
        found = await agenda.bookings_from(
            db,
            who.account_id,
            after=await current_time(db),
            customer_id=customer_id,
            limit=MOST_BOOKINGS + 1,
        )
        return {
            "bookings": [_shown(one, who) for one in found[:MOST_BOOKINGS]],
            "more": len(found) > MOST_BOOKINGS,
        }


def _shown(booking: Booking, who: Who) -> Payload:
    return {
        "booking_id": booking.id,
        "starts_at": local_iso(booking.starts_at, who),
        "professional": booking.professional_name,
        "customer": booking.customer_name,
    }
