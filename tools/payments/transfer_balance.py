"""Pays the business's balance out to its own registered account.

The trap: the wallet is lowered when a transfer is proved. Until then, and while its outcome is
unknown, the money is still in the wallet. So what is executing is taken off before anything else
may go, and two transfers confirmed together cannot both spend the same balance.
"""

import re

from pydantic import Field

from domain.canonical import JsonValue
from domain.cleaning import clean_or_none, clean_value
from domain.errors import ToolInputError
from domain.names import search_words
from domain.outcomes import ProviderRequest
from domain.payload import int_at, text_at
from domain.people import Role, Who
from domain.texts import texts_for
from gateways.contract import Gateway
from store import charges
from store.charges import Recipient
from store.connection import Connection
from tools.contract import (
    DatabaseContext,
    NoLongerPossible,
    Payload,
    Prepared,
    ProviderTool,
    Risk,
)
from tools.frozen import frozen, seen_by_model, texts_of
from tools.money_input import AmountInput
from tools.payments.rendering import Render, asking_back, text_or_empty


class TransferBalanceInput(AmountInput):
    """What the model says."""

    recipient: str | None = Field(
        default=None,
        description="The name of the registered account, if the business has several.",
    )


class TransferBalance(ProviderTool[TransferBalanceInput]):
    """Critical: money leaves. For owners only: staff have no need to empty the account."""

    name = "transfer_balance"
    description = (
        "Proposes to pay out part of the balance to a registered account of the business. "
        "It transfers nothing by itself: the system asks the person, who decides by button. "
        "It cannot pay to any other account, key or person."
    )
    risk = Risk.CRITICAL
    moves_money = True
    roles = frozenset({Role.OWNER})
    input_model = TransferBalanceInput

    async def prepare(self, data: TransferBalanceInput, who: Who, db: Connection) -> Prepared:
        """Resolve account and amount, and check the balance."""
        say = texts_for(who.language)
        cents = data.cents(who.language)
        recipient = await _recipient(db, who, data.recipient)
        held = await charges.available_cents(db, who.account_id) or 0
        available = held - await charges.cents_on_their_way(db, who.account_id, self.name)
        if cents > available:
            raise ToolInputError(say.balance_too_low(max(0, available)))
        payload = frozen(
            who,
            amount_cents=cents,
            recipient_id=recipient.id,
            recipient_name=clean_value(recipient.name, field="recipient"),
            recipient_ref=recipient.provider_ref,
        )
        return Prepared(
            payload=payload, summary=say.transfer_summary(payload), render=_render(payload)
        )

    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Account as printed and not blocked; balance for this and all else that is executing."""
        say = texts_for(who.language)
        found = await charges.recipients(db, who.account_id)
        if not any(_as_printed(one, payload) for one in found):
            return NoLongerPossible(reason=say.recipient_changed())
        held = await charges.available_cents(db, who.account_id) or 0
        # This action is executing itself, so its own amount is in the sum.
        away = await charges.cents_on_their_way(db, who.account_id, self.name)
        if max(away, int_at(payload, "amount_cents")) > held:
            return NoLongerPossible(reason=say.balance_short())
        return None

    async def record(self, payload: Payload, result: Payload, context: DatabaseContext) -> None:
        """Lower the wallet, never below zero: the money has moved already."""
        await charges.lower_wallet(
            context.transaction,
            context.who.account_id,
            cents=int_at(payload, "amount_cents"),
        )

    def result(self, payload: Payload, data: dict[str, JsonValue]) -> Payload:
        """The provider's id of the transfer and its word for the status."""
        ref = data.get("provider_ref") or data.get("transfer_id")
        return {"transfer_id": text_or_empty(ref), "status": data.get("status")}

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """Amount and account."""
        return texts_of(payload).transfer_done(payload)

    def already_done(self, payload: Payload, result: Payload) -> Payload:
        """The transfer that there is."""
        return seen_by_model(payload, result)


async def _recipient(db: Connection, who: Who, asked: str | None) -> Recipient:
    say = texts_for(who.language)
    words = search_words(clean_value(asked, field="recipient")) if asked is not None else []
    found = [
        one
        for one in await charges.recipients(db, who.account_id)
        if not one.blocked and set(words) <= set(search_words(one.name))
    ]
    if not found:
        raise ToolInputError(say.no_recipient())
    if len(found) > 1:
        raise ToolInputError(say.which_recipient([one.name for one in found]))
    return found[0]


def _as_printed(recipient: Recipient, payload: Payload) -> bool:
    return (
        not recipient.blocked
        and recipient.id == int_at(payload, "recipient_id")
        and recipient.provider_ref == text_at(payload, "recipient_ref")
        and clean_or_none(recipient.name) == text_at(payload, "recipient_name")
    )


def _render(payload: Payload) -> Render:
    """The gateway pays to the account that it is configured with; that must be the printed one."""
    ref = text_at(payload, "recipient_ref")

    def render(gateway: Gateway, key: str) -> ProviderRequest:
        request = gateway.render_transfer(key=key, amount_cents=int_at(payload, "amount_cents"))
        if ref not in (*request.path.split("/"), *_texts_in(request.body)):
            raise ToolInputError(
                f"the payment provider is configured for another account than {ref!r}; "
                "an operator has to put it right"
            )
        return request

    return asking_back(render)


def _texts_in(body: str) -> list[str]:
    """The texts of a JSON body, or the names and values of a form; ids need no decoding."""
    return body.split('"')[1::2] if body.startswith("{") else re.split("[&=]", body)
