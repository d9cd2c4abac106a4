"""Finds an effect at Pagar.me by our key, read-only: the only step after an unknown outcome.

The trap: an empty answer is weaker than it looks. A filter may be ignored, a list may go on over
further pages, a proxy may answer in the provider's place. Only a complete list of the right shape
proves an absence; everything else is uncertain.
"""

import json
from collections.abc import Awaitable, Callable

from pydantic import JsonValue

from domain.outcomes import LookupResult, Presence, ProviderRequest
from gateways.pagarme_answers import answer_evidence, parse_object
from gateways.pagarme_objects import (
    Json,
    Seen,
    Stage,
    cents_of,
    object_of,
    refunded_cents,
    see,
    see_refund,
    text_of,
)
from gateways.pagarme_requests import METADATA_KEY, ORDERS
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
        return _uncertain(trip, "no readable list of orders")
    mine = [order for order in orders if order.get("code") == key]
    if len(mine) != len(orders):
        return _uncertain(trip, "the filter by code was not honoured")
    return _judge(trip, [see(request, order) for order in mine])


async def _look_up_transfer(read: Read, key: str, request: ProviderRequest) -> LookupResult:
    mine: list[Seen] = []
    for page in range(1, MAX_PAGES + 1):
        trip = await read(f"{request.path}?page={page}&size={PAGE_SIZE}")
        found = _page(trip)
        if found is None:
            return _uncertain(trip, f"no readable list of withdrawals on page {page}")
        mine += [
            see(request, withdrawal)
            for withdrawal in found
            if object_of(withdrawal.get("metadata")).get(METADATA_KEY) == key
        ]
        if mine or len(found) < PAGE_SIZE:
            return _judge(trip, mine)
    return _uncertain(trip, f"not among the first {MAX_PAGES * PAGE_SIZE} withdrawals")


async def _look_up_refund(read: Read, request: ProviderRequest) -> LookupResult:
    trip = await read(request.path)
    charge = parse_object(trip.body) if isinstance(trip, Answer) and trip.status == 200 else None
    if charge is None or text_of(charge.get("id")) is None:
        return _uncertain(trip, "no readable charge")
    seen = see_refund(request, object_of(json.loads(request.body)), charge)
    before = cents_of(request.expect.get("refunded_before_cents")) or 0
    if seen.differences:
        return _uncertain(trip, *seen.differences)
    if seen.stage is Stage.WORKING:
        return _found(trip, seen, final=False)
    if refunded_cents(charge) == before:
        return LookupResult(
            presence=Presence.ABSENT, final=False, equal=False, evidence=_evidence(trip, seen)
        )
    return _found(trip, seen, final=True)


def _judge(trip: Trip, found: list[Seen]) -> LookupResult:
    """Return the verdict over everything that bears our key."""
    alive = [seen for seen in found if seen.stage is not Stage.FAILED]
    if len(alive) > 1:
        refs = ", ".join(repr(seen.provider_ref) for seen in alive)
        return LookupResult(
            presence=Presence.FOUND,
            final=True,
            equal=False,
            differences=[f"{len(alive)} effects under one key: {refs}"],
            provider_ref=alive[0].provider_ref,
            evidence=_evidence(trip, alive[0]),
        )
    if alive:
        return _found(trip, alive[0], final=alive[0].stage in (Stage.DONE, Stage.UNDONE))
    if found:
        return LookupResult(
            presence=Presence.ABSENT,
            final=True,
            equal=False,
            data=found[0].data,
            evidence={**_evidence(trip, found[0]), "failure": found[0].failure},
        )
    return LookupResult(
        presence=Presence.ABSENT, final=False, equal=False, evidence=_evidence(trip, None)
    )


def _found(trip: Trip, seen: Seen, *, final: bool) -> LookupResult:
    differences = list(seen.differences)
    if seen.stage is Stage.UNDONE:
        differences.append(f"taken back since: {seen.word!r}")
    return LookupResult(
        presence=Presence.FOUND,
        final=final,
        equal=not differences,
        differences=differences,
        provider_ref=seen.provider_ref,
        data=seen.data,
        evidence=_evidence(trip, seen),
    )


def _uncertain(trip: Trip, *differences: str) -> LookupResult:
    return LookupResult(
        presence=Presence.UNCERTAIN,
        final=False,
        equal=False,
        differences=list(differences),
        evidence=_evidence(trip, None),
    )


def _evidence(trip: Trip, seen: Seen | None) -> dict[str, JsonValue]:
    if isinstance(trip, Answer):
        return {**answer_evidence(trip), **(seen.evidence() if seen else {})}
    return {"exception": trip.exception, "reason": trip.reason}


def _page(trip: Trip) -> list[Json] | None:
    """Return the objects of one page, or None if the answer is not a sound list."""
    if not isinstance(trip, Answer) or trip.status != 200:
        return None
    body = parse_object(trip.body)
    data = body.get("data") if body is not None else None
    if not isinstance(data, list):
        return None
    objects = [item for item in data if isinstance(item, dict)]
    return objects if len(objects) == len(data) else None
