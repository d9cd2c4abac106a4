"""Gives a charge's money back, whole or in part.

Its business key is the charge together with what was refunded of it before: from one state of a
charge only one refund may start, and once it is done, another may follow. Without it two refunds
confirmed in the same second would both find the same rest.
"""

from pydantic import Field

from domain.canonical import JsonValue
from domain.cleaning import clean_value
from domain.errors import ToolInputError
from domain.outcomes import ProviderRequest
from domain.payload import int_at, text_at
from domain.people import Who
from domain.texts import texts_for
from gateways.contract import Gateway
from store import charges
from store.charges import Charge
from store.connection import Connection
from tools.contract import (
    DatabaseContext,
    NoLongerPossible,
    Payload,
    Prepared,
    ProviderTool,
    Risk,
)
from tools.customer_lookup import customer_moved
from tools.frozen import frozen, seen_by_model, texts_of
from tools.money_input import AmountInput
from tools.payments.charge_lookup import charge_for
from tools.payments.rendering import Render, asking_back


class RefundChargeInput(AmountInput):
    """What the model says; without an amount, all that is left."""

    charge: str = Field(description="The charge's number, or its customer's name.")


class RefundCharge(ProviderTool[RefundChargeInput]):
    """Critical: money goes out and does not come back."""

    name = "refund_charge"
    description = (
        "Proposes to give back a paid charge, whole or in part. "
        "It refunds nothing by itself: the system asks the person, who decides by button. "
        "Leave the amount out to refund all that is left."
    )
    risk = Risk.CRITICAL
    moves_money = True
    input_model = RefundChargeInput

    async def prepare(self, data: RefundChargeInput, who: Who, db: Connection) -> Prepared:
        """Resolve the charge and the amount. A blocked customer is given back what is his."""
        say = texts_for(who.language)
        charge = await charge_for(db, who, data.charge, newest=False)
        rest = charge.amount_cents - charge.refunded_cents
        if rest == 0:
            raise ToolInputError(say.nothing_to_refund(charge.id))
        whole = data.amount_cents is None and data.amount is None
        cents = rest if whole else data.cents(who.language)
        if cents > rest:
            raise ToolInputError(say.refund_too_high(rest))
        payload = frozen(
            who,
            charge_id=charge.id,
            provider_ref=charge.provider_ref,
            charge_amount_cents=charge.amount_cents,
            refunded_before_cents=charge.refunded_cents,
            amount_cents=cents,
            customer_id=charge.customer_id,
            customer_name=clean_value(charge.customer_name, field="customer name"),
            document=charge.document,
        )
        return Prepared(
            payload=payload,
            summary=say.refund_summary(payload),
            business_key=_key(payload),
            render=_render(payload),
        )

    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Customer as printed, and the charge as it was: nothing of it refunded meanwhile."""
        moved = await customer_moved(db, who, payload, may_be_blocked=True)
        if moved is not None:
            return moved
        charge = await charges.charge(db, who.account_id, int_at(payload, "charge_id"))
        if charge is None or not _as_printed(charge, payload):
            return NoLongerPossible(reason=texts_for(who.language).charge_changed())
        return None

    async def record(self, payload: Payload, result: Payload, context: DatabaseContext) -> None:
        """Raise the refunded sum in our books."""
        total = int_at(payload, "refunded_before_cents") + int_at(payload, "amount_cents")
        await charges.add_refund(
            context.transaction,
            context.who.account_id,
            int_at(payload, "charge_id"),
            total_refunded_cents=total,
        )

    def result(self, payload: Payload, data: dict[str, JsonValue]) -> Payload:
        """The provider's word; ids and amounts stand in the payload."""
        return {"status": data.get("status")}

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """Amount, charge, customer."""
        return texts_of(payload).refund_done(payload)

    def already_done(self, payload: Payload, result: Payload) -> Payload:
        """The refund that there is."""
        return seen_by_model(payload, result)


def _key(payload: Payload) -> tuple[JsonValue, ...]:
    return ("refund", int_at(payload, "charge_id"), int_at(payload, "refunded_before_cents"))


def _as_printed(charge: Charge, payload: Payload) -> bool:
    return (
        charge.customer_id == int_at(payload, "customer_id")
        and charge.provider_ref == text_at(payload, "provider_ref")
        and charge.amount_cents == int_at(payload, "charge_amount_cents")
        and charge.refunded_cents == int_at(payload, "refunded_before_cents")
    )


def _render(payload: Payload) -> Render:
    def render(gateway: Gateway, key: str) -> ProviderRequest:
        return gateway.render_refund(
            key=key,
            charge_ref=text_at(payload, "provider_ref"),
            amount_cents=int_at(payload, "amount_cents"),
            refunded_before_cents=int_at(payload, "refunded_before_cents"),
        )

    return asking_back(render)
