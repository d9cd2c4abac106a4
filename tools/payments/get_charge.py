"""Says how a charge stands, by our own books."""

from datetime import date

from pydantic import BaseModel, ConfigDict, Field

from domain.people import Who
from domain.texts import texts_for
from store.charges import Charge
from store.connection import Connection
from tools.account_time import local_iso, today
from tools.contract import EVERYONE, Payload, ReadTool
from tools.payments.charge_lookup import charge_for


class GetChargeInput(BaseModel):
    """What the model says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    charge: str | None = Field(
        default=None,
        description="The charge's number, or its customer's name. Leave it out for the newest.",
    )


class GetCharge(ReadTool[GetChargeInput]):
    """A read."""

    name = "get_charge"
    description = (
        "Says how a Pix charge stands: amount, due date, paid or refunded. "
        "Use it when the person asks what became of a charge. "
        "Customers see their own charges only."
    )
    roles = EVERYONE
    input_model = GetChargeInput

    async def look_up(self, data: GetChargeInput, who: Who, db: Connection) -> Payload:
        """The charge; `state` is open, overdue, paid, partly_refunded or refunded."""
        charge = await charge_for(db, who, data.charge, newest=True)
        return {
            "charge": str(charge.id),
            "customer": charge.customer_name,
            "amount_cents": charge.amount_cents,
            "amount": texts_for(who.language).money(charge.amount_cents),
            "refunded_cents": charge.refunded_cents,
            "due_date": charge.due_date.isoformat(),
            "created_at": local_iso(charge.created_at, who),
            "state": state_of(charge, today=await today(db, who)),
        }


def state_of(charge: Charge, *, today: date) -> str:
    """Return how the charge stands by our books; a payment that nobody told us of is not seen."""
    if charge.refunded_cents == charge.amount_cents:
        return "refunded"
    if charge.refunded_cents:
        return "partly_refunded"
    if charge.paid_at is not None:
        return "paid"
    return "overdue" if charge.due_date < today else "open"
