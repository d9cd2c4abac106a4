"""From what the model wrote to the one customer that is meant, within what the person may see.

The trap: "João" is two people. The model must not choose, so an ambiguous name comes back with the
matches, and the model asks. Public people are found only as themselves: whatever else they name is
"not found", whether it exists or not (design §4).
"""

import re

from domain.cleaning import clean_or_none, clean_value
from domain.documents import parse_document
from domain.errors import ToolInputError
from domain.names import search_words
from domain.payload import Frozen, int_at, text_at, text_or_none_at
from domain.people import Who
from domain.texts import Texts, texts_for
from store import customers
from store.connection import Connection
from store.customers import Customer
from tools.contract import NoLongerPossible, Payload

SHOWN = 5
"""As many matches as fit a question that is read on a phone."""

_ID = re.compile(r"[0-9]{1,10}", re.ASCII)
"""Shorter than a CPF, so that the two are never taken for one another."""


async def customer_for(db: Connection, who: Who, asked: str | None) -> Customer:
    """Return the customer whom `asked` (id, CPF/CNPJ or name) means for `who`.

    Public people may leave it out and get themselves. Raises ToolInputError if nobody, or more than
    one, is meant.
    """
    found = await matches(db, who, asked)
    if len(found) > 1:
        say = texts_for(who.language)
        options = [_option(say, one) for one in found[:SHOWN]]
        raise ToolInputError(say.which_customer(asked or "", options, more=len(found) > SHOWN))
    return found[0]


async def matches(db: Connection, who: Who, asked: str | None) -> list[Customer]:
    """Return whom `asked` may mean, at least one. Raises ToolInputError if nobody."""
    say = texts_for(who.language)
    text = clean_value(asked, field="customer") if asked is not None else None
    if not who.is_member:
        return [await _own(db, who, text, say)]
    if text is None:
        raise ToolInputError(say.say_which_customer())
    found = await _among_all(db, who.account_id, text)
    if not found:
        raise ToolInputError(say.customer_not_found(text))
    exact = [one for one in found if search_words(one.name) == search_words(text)]
    return exact if len(exact) == 1 else found


async def _own(db: Connection, who: Who, text: str | None, say: Texts) -> Customer:
    own = await customers.linked_to(db, who.account_id, who.person)
    if own is None:
        raise ToolInputError(say.no_customer_link())
    if text is None or _means(own, text):
        return own
    raise ToolInputError(say.customer_not_found(text))


def _means(customer: Customer, text: str) -> bool:
    if _ID.fullmatch(text):
        return int(text) == customer.id
    document = _document(text)
    if document is not None:
        return document == customer.document
    names = search_words(customer.name)
    words = search_words(text)
    return bool(words) and all(any(name.startswith(word) for name in names) for word in words)


async def _among_all(db: Connection, account_id: str, text: str) -> list[Customer]:
    if _ID.fullmatch(text):
        one = await customers.get(db, account_id, int(text))
        return [one] if one else []
    document = _document(text)
    if document is not None:
        one = await customers.by_document(db, account_id, document)
        return [one] if one else []
    words = search_words(text)
    return await customers.search(db, account_id, words, limit=SHOWN + 1) if words else []


def _document(text: str) -> str | None:
    try:
        return parse_document(text)
    except ToolInputError:
        return None


def _option(say: Texts, customer: Customer) -> str:
    return say.customer_option(customer.name, document=customer.document, blocked=customer.blocked)


def refuse_blocked(customer: Customer, who: Who) -> None:
    """Raise ToolInputError if the customer is blocked."""
    if customer.blocked:
        raise ToolInputError(texts_for(who.language).customer_blocked())


def printed_customer(customer: Customer) -> Payload:
    """Return what a payload freezes of a customer. Raises ToolInputError if the name is unclean."""
    return {
        "customer_id": customer.id,
        "customer_name": clean_value(customer.name, field="customer name"),
        "document": customer.document,
    }


async def customer_moved(
    db: Connection, who: Who, payload: Frozen, *, may_be_blocked: bool = False
) -> NoLongerPossible | None:
    """Return why the frozen customer is not the one that was printed any more, else None."""
    say = texts_for(who.language)
    customer = await _still_seen(db, who, int_at(payload, "customer_id"))
    if customer is None:
        return NoLongerPossible(reason=say.customer_gone())
    if customer.blocked and not may_be_blocked:
        return NoLongerPossible(reason=say.customer_blocked())
    printed = (text_at(payload, "customer_name"), text_or_none_at(payload, "document"))
    if (clean_or_none(customer.name), customer.document) != printed:
        return NoLongerPossible(reason=say.customer_changed())
    return None


async def _still_seen(db: Connection, who: Who, customer_id: int) -> Customer | None:
    if who.is_member:
        return await customers.get(db, who.account_id, customer_id)
    own = await customers.linked_to(db, who.account_id, who.person)
    return own if own is not None and own.id == customer_id else None
