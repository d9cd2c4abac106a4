"""Finds an effect at Pagar.me by our key, read-only: the only step after an unknown outcome.

The trap: refunds have no key of their own here, only a running sum on the charge, so an earlier
equal refund looks like ours unless the sum before it was frozen with the request.
"""

import json
from collections.abc import Awaitable, Callable

from domain.outcomes import LookupResult, ProviderRequest
from gateways.looked import absent, judge, page_of, present, uncertain
from gateways.pagarme_objects import refunded_cents, see, see_refund
from gateways.pagarme_requests import METADATA_KEY, ORDERS
from gateways.reading import Json, cents_of, object_of, objects_of, parse_object, text_of
from gateways.seen import Seen, Stage
from gateways.transport import Answer, Trip

Read = Callable[[str], Awaitable[Trip]]
"""Takes a path with query, GETs it once."""

PAGE_SIZE = 30
"""Pagar.me's largest page."""
MAX_PAGES = 10
"""300 withdrawals back; a longer list is uncertain rather than a reason to read for minutes."""


async def look_up(read: Read, key: str, request: ProviderRequest) -> LookupResult:
    """Return what the provider shows of `request` under `key`."""
    if request.operation == "charge":
        return await _look_up_charge(read, key, request)
    if request.operation == "refund":
        return await _look_up_refund(read, request)
    return await _look_up_transfer(read, key, request)


async def _look_up_charge(read: Read, key: str, request: ProviderRequest) -> LookupResult:
    trip = await read(f"{ORDERS}?code={key}&page=1&size={PAGE_SIZE}")
    orders = _page(trip)
    if orders is None:
        return uncertain(trip, "no readable list of orders")
    mine = [order for order in orders if order.get("code") == key]
    if len(mine) != len(orders):
        return uncertain(trip, "the filter by code was not honoured")
    return judge(trip, [see(request, order) for order in mine])


async def _look_up_transfer(read: Read, key: str, request: ProviderRequest) -> LookupResult:
    mine: list[Seen] = []
    for page in range(1, MAX_PAGES + 1):
        trip = await read(f"{request.path}?page={page}&size={PAGE_SIZE}")
        found = _page(trip)
        if found is None:
            return uncertain(trip, f"no readable list of withdrawals on page {page}")
        mine += [
            see(request, withdrawal)
            for withdrawal in found
            if object_of(withdrawal.get("metadata")).get(METADATA_KEY) == key
        ]
        if mine or len(found) < PAGE_SIZE:
            return judge(trip, mine)
    return uncertain(trip, f"not among the first {MAX_PAGES * PAGE_SIZE} withdrawals")


async def _look_up_refund(read: Read, request: ProviderRequest) -> LookupResult:
    trip = await read(request.path)
    charge = parse_object(trip.body) if isinstance(trip, Answer) and trip.status == 200 else None
    if charge is None or text_of(charge.get("id")) is None:
        return uncertain(trip, "no readable charge")
    seen = see_refund(request, object_of(json.loads(request.body)), charge)
    before = cents_of(request.expect.get("refunded_before_cents")) or 0
    if seen.differences:
        return uncertain(trip, *seen.differences)
    if seen.stage is Stage.WORKING:
        return present(trip, seen, final=False)
    if refunded_cents(charge) == before:
        return absent(trip, seen)
    return present(trip, seen, final=True)


def _page(trip: Trip) -> list[Json] | None:
    page = page_of(trip)
    return None if page is None else objects_of(page.get("data"))
