"""Changes the e-mail address of a customer record."""

import re

from pydantic import BaseModel, ConfigDict, Field

from domain.cleaning import clean_value
from domain.errors import ToolInputError
from domain.payload import int_at, text_at, text_or_none_at
from domain.people import Who
from domain.texts import texts_for
from store import customers
from store.connection import Connection
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
from tools.customer_lookup import customer_for, customer_moved, printed_customer
from tools.frozen import frozen, seen_by_model, texts_of

MAX_EMAIL_CHARS = 254
"""The longest address that mail can carry (RFC 5321), and the width of the column."""

_EMAIL = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9._%+'-]{0,62}[A-Za-z0-9_%+'-])?"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}",
    re.ASCII,
)
"""Plain addresses only: quoted local parts and other scripts are refused, not guessed at."""


class UpdateEmailInput(BaseModel):
    """What the model says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    email: str = Field(description="The new address, e.g. joao@exemplo.com.br.")
    customer: str | None = Field(
        default=None,
        description="The customer's name, CPF/CNPJ or id. Leave it out if the person is the "
        "customer.",
    )


class UpdateEmail(DatabaseTool[UpdateEmailInput]):
    """Reversible: the old address can be set again."""

    name = "update_email"
    description = (
        "Proposes a new e-mail address for a customer record. "
        "It changes nothing by itself: the system asks the person, who decides by button. "
        "Copy the address exactly as the person wrote it."
    )
    risk = Risk.REVERSIBLE
    confirm = Confirm.BUTTON_OR_YES
    repeat_safe = True
    roles = EVERYONE
    input_model = UpdateEmailInput

    async def prepare(self, data: UpdateEmailInput, who: Who, db: Connection) -> Prepared:
        """Resolve the customer, check the address; no business key: it may change back."""
        say = texts_for(who.language)
        email = clean_value(data.email, field="email", max_chars=MAX_EMAIL_CHARS)
        if _EMAIL.fullmatch(email) is None:
            raise ToolInputError(f"email: {email!r} is not a plain address like ana@exemplo.com")
        customer = await customer_for(db, who, data.customer)
        if customer.email == email:
            raise ToolInputError(say.email_unchanged())
        if customer.email:
            clean_value(customer.email, field="present email", max_chars=MAX_EMAIL_CHARS)
        payload = frozen(who, email=email, old_email=customer.email, **printed_customer(customer))
        return Prepared(payload=payload, summary=say.email_summary(payload))

    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Customer and present address as printed."""
        gone = await customer_moved(db, who, payload, may_be_blocked=True)
        if gone is not None:
            return gone
        customer = await customers.get(db, who.account_id, int_at(payload, "customer_id"))
        if customer is None or customer.email != text_or_none_at(payload, "old_email"):
            return NoLongerPossible(reason=texts_for(who.language).email_changed())
        return None

    async def execute(self, payload: Payload, key: str, context: DatabaseContext) -> Payload:
        """Set it if the present one is still as printed. Raises NoLongerPossibleError."""
        changed = await customers.change_email(
            context.transaction,
            context.who.account_id,
            int_at(payload, "customer_id"),
            old_email=text_or_none_at(payload, "old_email"),
            new_email=text_at(payload, "email"),
        )
        if not changed:
            raise NoLongerPossibleError(texts_of(payload).email_changed())
        return {"email": text_at(payload, "email")}

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """The address that now stands."""
        return texts_of(payload).email_done(payload)

    def already_done(self, payload: Payload, result: Payload) -> Payload:
        """The address that stands."""
        return seen_by_model(payload, result)
