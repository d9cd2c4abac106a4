"""Finds an effect at Stripe by our key, read-only: the only step after an unknown outcome.

The trap: repeating the POST under the same key looks like a look-up and is none. Past the key's
memory it executes again, and before that it may replay a 500. Lists are current, but long; the
search knows all intents, but lags behind by up to an hour (facts: payments §3). So an intent is
absent only if neither the complete list of the last hours nor the search shows it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode

from domain.outcomes import LookupResult, ProviderRequest
from gateways.looked import judge, page_of, uncertain
from gateways.reading import Json, objects_of, text_of
from gateways.stripe_objects import belongs_to, key_of, see
from gateways.stripe_requests import (
    METADATA_KEY,
    PAYMENT_INTENTS,
    PAYOUTS,
    REFUNDS,
    fields_of,
    refund_target,
)
from gateways.transport import Trip

Read = Callable[[str], Awaitable[Trip]]
"""Takes a path with query, GETs it once."""

PAGE_SIZE = 100
"""Stripe's largest page."""
MAX_PAGES = 20
"""2,000 objects back; a longer list is uncertain rather than a reason to read for minutes."""
LISTED_SECONDS = 6 * 3600
"""How far back intents are listed: six times the longest lag of the search."""
_EXPAND = ("expand[]", "data.payment_method")

Query = list[tuple[str, str]]


@dataclass
class _Look:
    """What pages showed so far. `trip` is the last one."""

    trip: Trip
    mine: list[Json] = field(default_factory=list)
    complete: bool = False
    trouble: str | None = None


async def look_up(read: Read, key: str, request: ProviderRequest, *, now: float) -> LookupResult:
    """Return what the provider shows of `request` under `key`. `now`: Unix seconds."""
    if request.operation == "charge":
        return await _look_up_charge(read, key, request, now)
    if request.operation == "refund":
        return await _look_up_refund(read, key, request)
    look = await _list(read, PAYOUTS, [], key)
    return _verdict(look, request)


async def _look_up_charge(
    read: Read, key: str, request: ProviderRequest, now: float
) -> LookupResult:
    since = [("created[gte]", str(int(now) - LISTED_SECONDS)), _EXPAND]
    listed = await _list(read, PAYMENT_INTENTS, since, key)
    if listed.trouble is not None:
        return uncertain(listed.trip, listed.trouble)
    found = await _search(read, key)
    known = {text_of(intent.get("id")) for intent in listed.mine}
    listed.mine += [one for one in found.mine if text_of(one.get("id")) not in known]
    if listed.mine:
        return _verdict(listed, request)
    return _verdict(found if found.trouble is not None else listed, request)


async def _look_up_refund(read: Read, key: str, request: ProviderRequest) -> LookupResult:
    target = next(name for name in ("charge", "payment_intent") if name in fields_of(request))
    ref = fields_of(request)[target]
    look = await _list(
        read,
        REFUNDS,
        [(refund_target(ref), ref)],
        key,
        honoured=lambda refund: belongs_to(refund, ref),
    )
    return _verdict(look, request)


def _verdict(look: _Look, request: ProviderRequest) -> LookupResult:
    if look.trouble is not None:
        return uncertain(look.trip, look.trouble)
    if not look.mine and not look.complete:
        return uncertain(look.trip, f"not among the last {MAX_PAGES * PAGE_SIZE} objects")
    return judge(look.trip, [see(request, one) for one in look.mine])


async def _list(
    read: Read,
    path: str,
    query: Query,
    key: str,
    *,
    honoured: Callable[[Json], bool] = lambda _one: True,
) -> _Look:
    """Read pages, newest first, to their end or to the one that shows our key."""
    after: Query = []
    for number in range(1, MAX_PAGES + 1):
        trip = await read(f"{path}?{urlencode([('limit', str(PAGE_SIZE)), *query, *after])}")
        objects, more = _page(trip)
        if objects is None or more is None:
            return _Look(trip, trouble=f"no readable list on page {number}")
        if not all(honoured(one) for one in objects):
            return _Look(trip, trouble="the filter was not honoured")
        mine = [one for one in objects if key_of(one) == key]
        if mine or not more:
            return _Look(trip, mine=mine, complete=not more)
        last = text_of(objects[-1].get("id")) if objects else None
        if last is None:
            return _Look(trip, trouble=f"page {number} cannot be continued")
        after = [("starting_after", last)]
    return _Look(trip)


async def _search(read: Read, key: str) -> _Look:
    query = f"metadata['{METADATA_KEY}']:'{key}'"
    asked = urlencode([("query", query), ("limit", str(PAGE_SIZE)), _EXPAND])
    trip = await read(f"{PAYMENT_INTENTS}/search?{asked}")
    objects, more = _page(trip)
    if objects is None or more is not False:
        return _Look(trip, trouble="no readable search result")
    if any(key_of(one) != key for one in objects):
        return _Look(trip, trouble="the search was not by our key")
    return _Look(trip, mine=objects, complete=True)


def _page(trip: Trip) -> tuple[list[Json] | None, bool | None]:
    """Return the objects of one page and whether more follow; None for what is not said."""
    page = page_of(trip)
    if page is None:
        return None, None
    more = page.get("has_more")
    return objects_of(page.get("data")), more if isinstance(more, bool) else None
