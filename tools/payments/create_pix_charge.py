"""Charges a customer by Pix.

It has no business key: two equal charges to one customer may both be meant. What keeps one click
from becoming two charges is the action's own id, which is the provider's key.
"""

from datetime import date, timedelta

from pydantic import Field

from domain.canonical import JsonValue
from domain.cleaning import clean_value
from domain.dates import end_of_day, parse_date
from domain.errors import ToolInputError
from domain.outcomes import ProviderRequest
from domain.payload import int_at, text_at, text_or_none_at
from domain.people import Who
from domain.texts import texts_for
from gateways.contract import Customer as Payer
from gateways.contract import Gateway
from store import charges
from store.charges import NewCharge
from store.clock import current_time
from store.connection import Connection
from store.customers import Customer
from tools.account_time import today
from tools.contract import (
    DatabaseContext,
    NoLongerPossible,
    Payload,
    Prepared,
    ProviderTool,
    Risk,
)
from tools.customer_lookup import customer_for, customer_moved, printed_customer, refuse_blocked
from tools.frozen import frozen, seen_by_model, texts_of
from tools.money_input import AmountInput
from tools.payments.rendering import Render, asking_back, text_or_empty

LEAST_PAYABLE = timedelta(hours=1)
"""A charge due today that is made at 23:58 stays payable this long: nobody pays in two minutes."""

MAX_DESCRIPTION_CHARS = 120
"""One line on a phone, and well within what providers print."""


class CreatePixChargeInput(AmountInput):
    """What the model says."""

    customer: str = Field(description="The customer's name, CPF/CNPJ or id.")
    due_date: str | None = Field(
        default=None, description="Due day in ISO 8601, e.g. 2026-12-01. Left out, it is today."
    )
    description: str | None = Field(
        default=None, description="What the charge is for, one short line without formatting."
    )


class CreatePixCharge(ProviderTool[CreatePixChargeInput]):
    """Critical: it moves money once the customer pays."""

    name = "create_pix_charge"
    description = (
        "Proposes a Pix charge to one customer of the business. "
        "It charges nothing by itself: the system asks the person, who decides by button. "
        "Give amount_cents (15000 for R$ 150,00) or amount ('150.00'), never both. "
        "Once it is made, the system itself sends the Pix code."
    )
    risk = Risk.CRITICAL
    moves_money = True
    input_model = CreatePixChargeInput

    async def prepare(self, data: CreatePixChargeInput, who: Who, db: Connection) -> Prepared:
        """Resolve customer, amount and due date."""
        say = texts_for(who.language)
        cents = data.cents(who.language)
        customer = await customer_for(db, who, data.customer)
        refuse_blocked(customer, who)
        if customer.document is None:
            raise ToolInputError(say.customer_without_document(customer.name))
        day = await today(db, who)
        due = parse_date(data.due_date, field="due_date") if data.due_date else day
        if due < day:
            raise ToolInputError(f"due_date: {due.isoformat()}: {say.due_date_past()}")
        description: JsonValue = None
        if data.description is not None:
            description = clean_value(
                data.description, field="description", max_chars=MAX_DESCRIPTION_CHARS
            )
        payload = frozen(
            who,
            amount_cents=cents,
            due_date=due.isoformat(),
            description=description,
            **printed_customer(customer),
        )
        return Prepared(
            payload=payload,
            summary=say.charge_summary(payload, today=day),
            render=_render(payload, customer, await _payable_seconds(db, due, who)),
        )

    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Customer as printed and not blocked, due date not past."""
        moved = await customer_moved(db, who, payload)
        if moved is not None:
            return moved
        if date.fromisoformat(text_at(payload, "due_date")) < await today(db, who):
            return NoLongerPossible(reason=texts_for(who.language).due_date_past())
        return None

    def result(self, payload: Payload, data: dict[str, JsonValue]) -> Payload:
        """The provider's id and the Pix code; of each, an empty text where there is none."""
        return {
            "charge_id": text_or_empty(data.get("provider_ref") or data.get("charge_id")),
            "pix_code": text_or_empty(data.get("pix_code") or data.get("qr_code")),
        }

    async def record(self, payload: Payload, result: Payload, context: DatabaseContext) -> None:
        """Write the charge into our books."""
        await charges.insert_charge(
            context.transaction,
            NewCharge(
                account_id=context.who.account_id,
                customer_id=int_at(payload, "customer_id"),
                action_id=context.action_id,
                provider_ref=text_or_empty(result.get("charge_id")),
                amount_cents=int_at(payload, "amount_cents"),
                due_date=date.fromisoformat(text_at(payload, "due_date")),
                pix_code=text_or_empty(result.get("pix_code")),
            ),
        )

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """The feedback, then the Pix code as a message of its own."""
        return texts_of(payload).charge_done(payload, result)

    def already_done(self, payload: Payload, result: Payload) -> Payload:
        """The charge, without its code."""
        return seen_by_model(payload, result)


async def _payable_seconds(db: Connection, due: date, who: Who) -> int:
    """How long the code can be paid: until the due day is over in the account's zone.

    It is no part of the payload: it moves with the clock, and would make equal charges differ.
    """
    left = end_of_day(due, time_zone=who.time_zone) - await current_time(db)
    return int(max(left, LEAST_PAYABLE).total_seconds())


def _render(payload: Payload, customer: Customer, seconds: int) -> Render:
    payer = Payer(
        name=text_at(payload, "customer_name"),
        document=text_at(payload, "document"),
        email=customer.email,
    )
    description = text_or_none_at(payload, "description")

    def render(gateway: Gateway, key: str) -> ProviderRequest:
        return gateway.render_charge(
            key=key,
            amount_cents=int_at(payload, "amount_cents"),
            description=description or texts_of(payload).charge_default_description(),
            customer=payer,
            expires_in_seconds=seconds,
        )

    return asking_back(render)
