"""From what the model wrote to the one charge that is meant, within what the person may see."""

import re

from domain.cleaning import clean_value
from domain.errors import ToolInputError
from domain.people import Who
from domain.texts import texts_for
from store import charges, customers
from store.charges import Charge
from store.connection import Connection
from tools.customer_lookup import customer_for

SHOWN = 5
"""As many charges as fit a question that is read on a phone."""

_ID = re.compile(r"[0-9]{1,10}", re.ASCII)
_REF = re.compile(r"[A-Za-z]{1,10}_[A-Za-z0-9]{1,64}", re.ASCII)
"""A provider's id such as `ch_a1b2c3`: no name of a person has this form."""


async def charge_for(db: Connection, who: Who, asked: str | None, *, newest: bool) -> Charge:
    """Return the charge that `asked` means: its number, the provider's id, or its customer.

    Without `asked`, or for a customer with several, the newest one if `newest`, else an error that
    lists them. Public people see their own only. Raises ToolInputError.
    """
    say = texts_for(who.language)
    text = clean_value(asked, field="charge") if asked is not None else None
    if text is not None and (_ID.fullmatch(text) or _REF.fullmatch(text)):
        return await _by_id(db, who, text)
    named = text is not None or not who.is_member
    customer = await customer_for(db, who, text) if named else None
    found = await charges.charges_of(
        db, who.account_id, customer.id if customer else None, limit=SHOWN
    )
    if not found:
        raise ToolInputError(say.charge_not_found(text or ""))
    if len(found) > 1 and not newest:
        options = [
            say.charge_option(one.id, amount_cents=one.amount_cents, due=one.due_date)
            for one in found
        ]
        raise ToolInputError(say.which_charge(text or "", options))
    return found[0]


async def _by_id(db: Connection, who: Who, text: str) -> Charge:
    if _ID.fullmatch(text):
        found = await charges.charge(db, who.account_id, int(text))
    else:
        found = await charges.charge_by_ref(db, who.account_id, text)
    if found is None or not await _may_see(db, who, found):
        raise ToolInputError(texts_for(who.language).charge_not_found(text))
    return found


async def _may_see(db: Connection, who: Who, charge: Charge) -> bool:
    if who.is_member:
        return True
    own = await customers.linked_to(db, who.account_id, who.person)
    return own is not None and own.id == charge.customer_id
