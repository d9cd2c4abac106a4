"""Books a time. Who, with whom and when is one booking, however often it is asked for."""

from pydantic import BaseModel, ConfigDict, Field

from domain.errors import ToolInputError
from domain.people import Who
from domain.texts import texts_for
from store import agenda
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
from tools.customer_lookup import customer_for, customer_moved, printed_customer, refuse_blocked
from tools.frozen import frozen, seen_by_model, texts_of
from tools.scheduling.bookings import booking_key, new_booking, printed_slot, slot_moved
from tools.scheduling.slots import professional_for, taken_by, wanted_slot


class CreateBookingInput(BaseModel):
    """What the model says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    professional: str = Field(description="The professional's name or id.")
    starts_at: str = Field(
        description="Start in ISO 8601, e.g. 2026-12-01T14:00; without offset in the business's "
        "time zone."
    )
    customer: str | None = Field(
        default=None,
        description="The customer's name, CPF/CNPJ or id. Leave it out if the person is the "
        "customer.",
    )


class CreateBooking(DatabaseTool[CreateBookingInput]):
    """Reversible: a booking can be cancelled."""

    name = "create_booking"
    description = (
        "Proposes a booking of one free time with a professional. "
        "It books nothing by itself: the system asks the person, who decides by button. "
        "Call list_free_slots first to learn which times are free. "
        "The result may say already_done if this booking exists."
    )
    risk = Risk.REVERSIBLE
    confirm = Confirm.BUTTON_OR_YES
    repeat_safe = True
    roles = EVERYONE
    input_model = CreateBookingInput

    async def prepare(self, data: CreateBookingInput, who: Who, db: Connection) -> Prepared:
        """Resolve customer, professional and slot. An equal booking keeps its key, so that the
        core answers with it; one that no action holds is refused here."""
        say = texts_for(who.language)
        customer = await customer_for(db, who, data.customer)
        refuse_blocked(customer, who)
        professional = await professional_for(db, who, data.professional)
        slot = await wanted_slot(db, who, professional, data.starts_at)
        for other in await taken_by(db, who, slot):
            if (other.customer_id, other.starts_at) != (customer.id, slot.starts_at):
                raise ToolInputError(say.slot_taken())
            if other.action_id is None:
                raise ToolInputError(say.already_booked())
        payload = frozen(who, **printed_customer(customer), **printed_slot(slot))
        return Prepared(
            payload=payload,
            summary=say.booking_summary(payload, today=await today(db, who)),
            business_key=booking_key(payload),
        )

    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Customer as printed and not blocked, slot still offered, in the future and free."""
        return await customer_moved(db, who, payload) or await slot_moved(db, who, payload)

    async def execute(self, payload: Payload, key: str, context: DatabaseContext) -> Payload:
        """Insert. Raises NoLongerPossibleError if another booking was there first."""
        try:
            booking_id = await agenda.insert_booking(
                context.transaction, new_booking(payload, context)
            )
        except agenda.SlotTakenError as error:
            raise NoLongerPossibleError(texts_of(payload).slot_taken()) from error
        return {"booking_id": booking_id}

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """When, with whom, for whom."""
        return texts_of(payload).booking_done(payload)

    def already_done(self, payload: Payload, result: Payload) -> Payload:
        """The booking that exists."""
        return seen_by_model(payload, result)
