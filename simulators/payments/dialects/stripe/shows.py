"""What Stripe shows: objects by id, lists with a cursor, the search that lags, the balance."""

import re

from simulators.payments.dialects.stripe.acts import INTENT, PAYOUT, REFUND
from simulators.payments.dialects.stripe.errors import missing, refuse
from simulators.payments.dialects.stripe.form import Form
from simulators.payments.dialects.stripe.views import (
    show_charge,
    show_intent,
    show_payout,
    show_refund,
)
from simulators.payments.provider import Provider
from simulators.payments.replies import Reply
from simulators.payments.state import Doc

MAX_PAGE = 100
_ALL = 1_000_000
_LIST = frozenset({"limit", "starting_after", "created[gte]", "expand[]"})
INTENT_QUERY = _LIST
REFUND_QUERY = _LIST | {"payment_intent", "charge"}
SEARCH_QUERY = frozenset({"query", "limit", "expand[]"})
_CLAUSE = re.compile(r"metadata\['([^']+)'\]:'([^']*)'")


def intent(provider: Provider, intent_id: str, form: Form) -> Reply:
    """Return one intent."""
    doc = provider.state.get(INTENT, intent_id, lagging=True)
    if doc is None:
        raise missing("payment_intent", intent_id, param="intent")
    return Reply(200, show_intent(provider, doc, expand=form.all("expand[]")))


def charge(provider: Provider, charge_id: str) -> Reply:
    """Return the charge of a paid intent."""
    for doc in _visible(provider, INTENT):
        if doc["latest_charge"] == charge_id:
            return Reply(200, show_charge(provider, doc))
    raise missing("charge", charge_id)


def intents(provider: Provider, form: Form) -> Reply:
    """Return a page of intents, newest first; current, unlike the search."""
    expand = _expand(form)
    docs = _since(_visible(provider, INTENT), form)
    return _page(form, [show_intent(provider, doc, expand=expand) for doc in docs])


def search(provider: Provider, form: Form) -> Reply:
    """Return the intents with a value in their metadata, as far as the index has come."""
    clause = _CLAUSE.fullmatch(form.need("query"))
    if clause is None:
        raise refuse(400, "Only metadata['name']:'value' is simulated.", param="query")
    known_until = provider.state.now() - provider.config.search_lag_seconds
    docs = [
        doc
        for doc in _visible(provider, INTENT)
        if doc["metadata"].get(clause[1]) == clause[2] and doc["created"] <= known_until
    ]
    shown = [show_intent(provider, doc, expand=_expand(form)) for doc in docs[:MAX_PAGE]]
    more = len(docs) > MAX_PAGE
    return Reply(200, {"object": "search_result", "data": shown, "has_more": more})


def refunds(provider: Provider, form: Form) -> Reply:
    """Return a page of refunds, newest first."""
    docs = _since(_visible(provider, REFUND), form)
    for name in ("payment_intent", "charge"):
        if (wanted := form.get(name)) is not None:
            docs = [doc for doc in docs if doc[name] == wanted]
    return _page(form, [show_refund(provider, doc) for doc in docs])


def payouts(provider: Provider, form: Form) -> Reply:
    """Return a page of payouts, newest first."""
    docs = _since(_visible(provider, PAYOUT), form)
    return _page(form, [show_payout(provider, doc) for doc in docs])


def balance(provider: Provider) -> Reply:
    """Return the balance."""
    reais = [{"amount": provider.available(), "currency": "brl", "source_types": {}}]
    pending = [{"amount": 0, "currency": "brl", "source_types": {}}]
    return Reply(
        200,
        {"object": "balance", "available": reais, "livemode": False, "pending": pending},
    )


def code_of(provider: Provider, intent_id: str) -> str | None:
    """Return the Pix code of an intent."""
    doc = provider.state.get(INTENT, intent_id)
    return None if doc is None else str(doc["_code"])


def _visible(provider: Provider, kind: str) -> list[Doc]:
    return provider.state.listed(kind, code=None, page=1, size=_ALL)[1]


def _since(docs: list[Doc], form: Form) -> list[Doc]:
    since = form.get("created[gte]")
    return [doc for doc in docs if since is None or doc["created"] >= int(since)]


def _expand(form: Form) -> list[str]:
    return [name.removeprefix("data.") for name in form.all("expand[]")]


def _page(form: Form, docs: list[Doc]) -> Reply:
    after = form.get("starting_after")
    if after is not None:
        ids = [doc["id"] for doc in docs]
        if after not in ids:
            raise missing("object", after, param="starting_after")
        docs = docs[ids.index(after) + 1 :]
    size = form.positive("limit", most=MAX_PAGE) if form.get("limit") is not None else 10
    return Reply(200, {"object": "list", "data": docs[:size], "has_more": len(docs) > size})
