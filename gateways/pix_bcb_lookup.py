"""Finds an effect at a bank by our key, read-only: the only step after an unknown outcome.

The trap: a bank may say "not found" with 400 (Efí), as it also refuses what it does not like. Only
status and name together, in the bank's own shape, are an absence.
"""

from collections.abc import Awaitable, Callable

from domain.outcomes import LookupResult, ProviderRequest
from gateways.looked import absent, judge, uncertain
from gateways.pix_bcb_answers import is_absent
from gateways.pix_bcb_objects import IDS, see
from gateways.pix_bcb_profiles import Profile
from gateways.pix_bcb_requests import PIX_OF_CHARGE, charge_to_resolve
from gateways.reading import Json, objects_of, parse_object, text_of
from gateways.transport import Answer, Trip

Read = Callable[[str], Awaitable[Trip]]
"""Takes a path with query, GETs it once."""


class NoPixError(Exception):
    """A charge has no one Pix that could be given back. `unpaid`: the bank itself shows none."""

    def __init__(self, reason: str, *, unpaid: bool = False) -> None:
        """Take why."""
        super().__init__(reason)
        self.unpaid = unpaid


async def look_up(read: Read, profile: Profile, request: ProviderRequest) -> LookupResult:
    """Return what the bank shows of `request`, found by the key in its path."""
    path = request.path
    if request.operation == "transfer":
        path = profile.sent + path.rsplit("/", 1)[-1]
    if (txid := charge_to_resolve(request)) is not None:
        trip = await read(profile.charges + txid)
        try:
            path = path.replace(PIX_OF_CHARGE, pix_of(trip, txid))
        except NoPixError as error:
            return uncertain(trip, str(error))
    trip = await read(path)
    body = parse_object(trip.body) if isinstance(trip, Answer) else None
    if isinstance(trip, Answer) and is_absent(profile, request.operation, trip.status, body):
        return absent(trip)
    if not isinstance(trip, Answer) or trip.status != 200 or body is None:
        return uncertain(trip, "no readable object")
    if text_of(body.get(IDS[request.operation])) is None:
        return uncertain(trip, f"the object has no {IDS[request.operation]}")
    return judge(trip, [see(request, body)])


def pix_of(trip: Trip, txid: str) -> str:
    """Return the e2eid of the Pix that paid the charge which was read. Raises NoPixError."""
    body = charge_in(trip, txid)
    if body is None:
        raise NoPixError(f"the charge {txid!r} could not be read")
    received = objects_of(body.get("pix", []))
    if received == [] and body.get("status") == "ATIVA":
        raise NoPixError(f"the charge {txid!r} is not paid", unpaid=True)
    e2eids = [text_of(one.get("endToEndId")) for one in received or []]
    if len(e2eids) != 1 or e2eids[0] is None or not e2eids[0].isalnum() or len(e2eids[0]) > 64:
        raise NoPixError(f"the charge {txid!r} does not show one Pix: {len(e2eids)}")
    return e2eids[0]


def charge_in(trip: Trip, txid: str) -> Json | None:
    """Return the charge that was read, None if the answer is not that charge."""
    body = parse_object(trip.body) if isinstance(trip, Answer) and trip.status == 200 else None
    return body if body is not None and body.get("txid") == txid else None
