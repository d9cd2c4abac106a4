"""Asaas API v3 as a gateway.

The trap: Asaas knows no key at all. The same request twice is two charges, two refunds, two
transfers, and `externalReference` finds them both. So our key is looked up before each send, one
POST is made, whatever is not clear afterwards is looked up, and nothing in doubt is ever sent
again, also not by an operator (facts: payments §2, §9). No vendor library.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import httpx

from domain.outcomes import GatewayResult, LookupResult, Outcome, Presence, ProviderRequest
from gateways import asaas_requests
from gateways.answers import READ_KEY, from_seen, readable
from gateways.asaas_answers import classify, own_error
from gateways.asaas_lookup import NoCustomerError, customer_of, look_up, read_object
from gateways.asaas_objects import add_code
from gateways.asaas_requests import (
    BALANCE,
    KEY_FIELD,
    PAYMENTS,
    check_ref,
    needs_customer,
    pix_key_type,
    with_customer,
)
from gateways.asaas_views import view_charge
from gateways.config import Mode, checked_base_url, checked_secret
from gateways.contract import Capabilities, ChargeView, Customer, ReadFailedError
from gateways.looked import uncertain
from gateways.money import cents_of_number
from gateways.reading import parse_object
from gateways.seen import Seen, Stage
from gateways.transport import Answer, NotSent, Timeouts, Trip, Wire

CAPABILITIES = Capabilities(
    mechanism="lookup_only",
    key_retention=None,
    # Nothing recognises a repeat.
    resend_within=timedelta(0),
    compares_payload=False,
    replays_duplicates=False,
    # Not documented; a minute is assumed.
    lookup_lag=timedelta(seconds=60),
    resend_after_absent=frozenset(),
    operations=frozenset({"charge", "refund", "transfer"}),
    refund_has_key=False,
    withdrawal_validation=True,
    money="decimal_number",
)

_READ_TIMEOUTS = Timeouts(connect=5.0, read=8.0, total=10.0)
"""Two reads before the fence and one after the POST have to fit into one *execute*."""


@dataclass(frozen=True, kw_only=True)
class _Before:
    """What was read before the fence: `instead` is the result where nothing may be sent."""

    customer: str | None = None
    instead: GatewayResult | None = None


class AsaasGateway:
    """Implements `gateways.contract.Gateway` and `Readies` for Asaas."""

    name = "asaas"
    capabilities = CAPABILITIES

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        pix_key: str,
        mode: Mode,
        time_zone: str = "America/Sao_Paulo",
        allow_plain_http: bool = False,
        timeouts: Timeouts | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take where Asaas is, the API key, the Pix key that transfers go to, the mode, and in
        which zone a due day is one. Raises ValueError for what cannot be used."""
        checked_secret(api_key, "Asaas")
        pix_key_type(pix_key)
        self._pix_key = pix_key
        self._mode = mode
        self._time_zone = time_zone
        self._clock = clock
        self._before: dict[str, _Before] = {}
        self._wire = Wire(
            base_url=checked_base_url(base_url, allow_plain_http=allow_plain_http),
            credentials={"access_token": api_key},
            timeouts=timeouts or Timeouts(),
            transport=transport,
        )
        self._reads = replace(self._wire, timeouts=timeouts or _READ_TIMEOUTS)

    def render_charge(
        self,
        *,
        key: str,
        amount_cents: int,
        description: str,
        customer: Customer,
        expires_in_seconds: int,
    ) -> ProviderRequest:
        """Return the Pix charge with its due day. Raises RenderError."""
        return self._marked(
            asaas_requests.render_charge(
                key=key,
                amount_cents=amount_cents,
                description=description,
                customer=customer,
                expires_in_seconds=expires_in_seconds,
                now=datetime.fromtimestamp(self._clock(), UTC),
                time_zone=self._time_zone,
            )
        )

    def render_refund(
        self, *, key: str, charge_ref: str, amount_cents: int, refunded_before_cents: int
    ) -> ProviderRequest:
        """Return the refund of a paid charge. Raises RenderError."""
        return self._marked(
            asaas_requests.render_refund(
                key=key,
                charge_ref=charge_ref,
                amount_cents=amount_cents,
                refunded_before_cents=refunded_before_cents,
            )
        )

    def render_transfer(self, *, key: str, amount_cents: int) -> ProviderRequest:
        """Return the Pix to the own account elsewhere. Raises RenderError."""
        return self._marked(
            asaas_requests.render_transfer(
                key=key, amount_cents=amount_cents, pix_key=self._pix_key
            )
        )

    async def ready(self, key: str, request: ProviderRequest) -> None:
        """Look our key up, and for a charge its customer (see `Readies`). Reads only."""
        if self._foreign(key, request) is None:
            self._before[key] = await self._read_before(key, request)

    async def send(
        self, key: str, request: ProviderRequest, *, before_wire: Callable[[], None]
    ) -> GatewayResult:
        """Send `request` once and classify what came back (see `Gateway.send`).

        What `ready` read serves one send; without it nothing is sent.
        """
        if (refused := self._foreign(key, request)) is not None:
            return classify(request, refused)[0]
        before = self._before.pop(key, None)
        if before is None:
            unread = NotSent(reason="our key was not looked up before", exception="LookupError")
            return classify(request, unread)[0]
        if before.instead is not None:
            return before.instead
        customer = before.customer
        trip = await self._wire.send(
            key=key,
            method=request.method,
            path=request.path,
            headers=request.headers,
            body=request.body if customer is None else with_customer(request, customer),
            before_wire=before_wire,
        )
        result, seen = classify(request, trip, customer=customer)
        if not isinstance(trip, Answer) or seen is None or request.operation != "charge":
            return result
        return await self._with_code(trip, seen)

    async def lookup(self, key: str, request: ProviderRequest) -> LookupResult:
        """Look the effect up by `externalReference`, a refund in its charge's list."""
        if (refused := self._foreign(key, request)) is not None:
            return uncertain(refused, refused.reason)
        return await look_up(self._read, key, request)

    async def charge(self, charge_ref: str) -> ChargeView | None:
        """Return a charge as it is now, None if Asaas does not know it.

        Raises ReadFailedError, and RenderError for an id that is none.
        """
        ref = check_ref(charge_ref)
        trip = await self._read(f"{PAYMENTS}/{ref}")
        if isinstance(trip, Answer) and trip.status == 404 and own_error(parse_object(trip.body)):
            return None
        return view_charge(ref, readable(trip, f"charge {ref!r}"))

    async def balance(self) -> int:
        """Return the available balance in cents. Raises ReadFailedError."""
        cents = cents_of_number(readable(await self._read(BALANCE), "balance").get("balance"))
        if cents is None:
            raise ReadFailedError("balance: no amount in whole cents")
        return cents

    async def aclose(self) -> None:
        """Forget what was read for sends that never came."""
        self._before.clear()

    async def _read_before(self, key: str, request: ProviderRequest) -> _Before:
        look = await look_up(self._read, key, request)
        if look.presence is not Presence.ABSENT or look.final:
            return _Before(instead=_instead(look))
        if not needs_customer(request):
            return _Before()
        try:
            return _Before(customer=await customer_of(self._read, str(request.expect["document"])))
        except NoCustomerError as error:
            return _Before(
                instead=GatewayResult(
                    outcome=Outcome.REJECTED if error.missing else Outcome.NOT_SENT,
                    reason=str(error),
                    evidence={"exception": type(error).__name__},
                )
            )

    async def _with_code(self, trip: Answer, seen: Seen) -> GatewayResult:
        """The charge is made; its code is one read more, and where that fails a later look's."""
        if seen.stage is Stage.DONE and not seen.differences:
            add_code(seen, await read_object(self._read, PAYMENTS, seen.provider_ref, "/pixQrCode"))
        return from_seen(trip, seen)

    def _marked(self, request: ProviderRequest) -> ProviderRequest:
        expect = {**request.expect, "gateway": f"{self.name}:{self._mode}"}
        return request.model_copy(update={"expect": expect})

    def _foreign(self, key: str, request: ProviderRequest) -> NotSent | None:
        """Why this may be neither sent nor looked up here, None if it may (see
        `gateways.answers.foreign`)."""
        marked = request.expect.get("gateway") == f"{self.name}:{self._mode}"
        body = parse_object(request.body.encode("utf-8")) or {}
        bears = key in (body.get(KEY_FIELD), body.get(asaas_requests.REFUND_KEY_FIELD))
        if marked and bears and request.expect.get("key") == key:
            return None
        reason = f"the request {request.path!r} was not rendered by this gateway for key {key!r}"
        return NotSent(reason=reason, exception="ValueError")

    async def _read(self, path: str) -> Trip:
        return await self._reads.send(
            key=READ_KEY,
            method="GET",
            path=path,
            headers={"Accept": "application/json"},
            body=None,
        )


def _instead(look: LookupResult) -> GatewayResult:
    """What a send is where something bears our key already, or nobody can say. Nothing is sent."""
    outcome: Outcome = Outcome.NOT_SENT
    reason: str | None = "whether our key is taken could not be read"
    if look.presence is Presence.ABSENT:
        outcome, reason = Outcome.REJECTED, "what bears our key has failed"
    elif look.presence is Presence.FOUND:
        outcome, reason = Outcome.CREATED, None
        if look.differences:
            outcome, reason = Outcome.CONFLICT, "; ".join(look.differences)
        elif not look.final:
            outcome, reason = Outcome.IN_PROGRESS, "our key is taken, and not final yet"
    return GatewayResult(
        outcome=outcome,
        provider_ref=look.provider_ref,
        data=look.data,
        evidence={**look.evidence, "looked_up_before": True, "differences": list(look.differences)},
        reason=reason,
    )
