"""Finds an effect at Asaas by our key, read-only: before each send, and after an unknown outcome.

Two traps. Asaas makes a second object under the same key, so two are a conflict that names both.
And its refunds have no field for a key: where the list does not show our description, only the sum
before and after tells whether nothing happened, and a moved sum is somebody's refund, not an
absence (facts: payments §2).
"""

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from domain.outcomes import LookupResult, ProviderRequest
from gateways.asaas_objects import add_code, compare_payer, plain_document, see, see_refund
from gateways.asaas_requests import (
    CUSTOMERS,
    KEY_FIELD,
    PAYMENTS,
    REFUND_KEY_FIELD,
    TRANSFERS,
    check_ref,
)
from gateways.contract import RenderError
from gateways.looked import absent, judge, page_of, uncertain
from gateways.money import cents_of_number
from gateways.reading import Json, objects_of, parse_object, text_of
from gateways.seen import Seen, Stage
from gateways.transport import Answer, Trip

Read = Callable[[str], Awaitable[Trip]]
"""Takes a path with query, GETs it once."""

PAGE_SIZE = 100
"""Asaas' largest page; more under one key is uncertain."""


class NoCustomerError(LookupError):
    """The customer to be charged was not found. `missing`: Asaas itself showed that there is none.

    The message holds no personal data.
    """

    def __init__(self, message: str, *, missing: bool) -> None:
        super().__init__(message)
        self.missing = missing


async def look_up(read: Read, key: str, request: ProviderRequest) -> LookupResult:
    """Return what the provider shows of `request` under `key`."""
    if request.operation == "refund":
        return await _look_up_refund(read, key, request)
    path = PAYMENTS if request.operation == "charge" else TRANSFERS
    trip = await read(f"{path}?{urlencode({KEY_FIELD: key, 'limit': PAGE_SIZE})}")
    found = whole_list(trip)
    if found is None:
        return uncertain(trip, f"no complete list at {path}")
    if any(one.get(KEY_FIELD) != key for one in found):
        return uncertain(trip, f"the filter by {KEY_FIELD} was not honoured")
    seen = [see(request, one) for one in found]
    if request.operation == "charge" and len(found) == 1:
        trouble = await _complete_charge(read, request, found[0], seen[0])
        if trouble is not None:
            return uncertain(trip, trouble)
    return judge(trip, seen)


async def _complete_charge(
    read: Read, request: ProviderRequest, charge: Json, seen: Seen
) -> str | None:
    """Read the payer and the code of a found charge; what stands in the way, if anything."""
    customer = await read_object(read, CUSTOMERS, charge.get("customer"))
    if customer is None:
        return "the charge's customer could not be read"
    compare_payer(seen, request, customer)
    if seen.stage is Stage.DONE:
        add_code(seen, await read_object(read, PAYMENTS, charge.get("id"), "/pixQrCode"))
    return None


async def _look_up_refund(read: Read, key: str, request: ProviderRequest) -> LookupResult:
    trip = await read(f"{PAYMENTS}/{request.expect['charge']}/refunds")
    found = whole_list(trip)
    if found is None:
        return uncertain(trip, "no complete list of the charge's refunds")
    mine = [see_refund(request, one) for one in found if one.get(REFUND_KEY_FIELD) == key]
    if mine:
        return judge(trip, mine)
    before = request.expect.get("refunded_before_cents")
    sums = [cents_of_number(one.get("value")) for one in found if one.get("status") != "CANCELLED"]
    if None in sums:
        return uncertain(trip, "a refund without a readable value")
    now = sum(cents for cents in sums if cents is not None)
    if now != before:
        return uncertain(
            trip,
            f"refunded cents: before {before!r}, now {now!r}, and no refund bears our key",
        )
    return absent(trip)


async def customer_of(read: Read, document: str) -> str:
    """Return the id of the customer with this CPF or CNPJ, the oldest of several.

    Only read: a customer is never made, because making one has no key either. Raises
    NoCustomerError.
    """
    trip = await read(f"{CUSTOMERS}?{urlencode({'cpfCnpj': document, 'limit': PAGE_SIZE})}")
    found = whole_list(trip)
    if found is None:
        raise NoCustomerError("the customers at Asaas could not be read", missing=False)
    if any(plain_document(one.get("cpfCnpj")) != document for one in found):
        raise NoCustomerError("the filter by cpfCnpj was not honoured", missing=False)
    alive = [
        (text_of(one.get("dateCreated")) or "", identity)
        for one in found
        if one.get("deleted") is not True and (identity := text_of(one.get("id"))) is not None
    ]
    if not alive:
        raise NoCustomerError(
            "Asaas has no customer with this document: register the customer there first",
            missing=True,
        )
    return min(alive)[1]


def whole_list(trip: Trip) -> list[Json] | None:
    """Return all objects of a list that is known to be complete, else None."""
    page = page_of(trip)
    if page is None or page.get("hasMore") is not False:
        return None
    return objects_of(page.get("data"))


async def read_object(read: Read, path: str, ref: object, more: str = "") -> Json | None:
    """Return the object at `path/ref`, None if it cannot be read."""
    try:
        checked = check_ref(ref) if isinstance(ref, str) else None
    except RenderError:
        checked = None
    if checked is None:
        return None
    trip = await read(f"{path}/{checked}{more}")
    return parse_object(trip.body) if isinstance(trip, Answer) and trip.status == 200 else None
