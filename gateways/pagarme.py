"""Pagar.me v5 as a gateway.

The trap: Pagar.me keeps a key for 24 hours only and replays its first answer uncompared, failures
included. So every answer is compared with the frozen request, and a failed key is never retried:
a new attempt needs a new action and a new click (facts: payments §4). No vendor library: they
retry by themselves.
"""

import base64
from collections.abc import Callable
from datetime import timedelta

import httpx

from domain.outcomes import GatewayResult, LookupResult, ProviderRequest
from gateways import pagarme_requests
from gateways.answers import READ_KEY, foreign, readable
from gateways.config import checked_base_url, checked_secret
from gateways.contract import Capabilities, ChargeView, Customer, ReadFailedError
from gateways.looked import uncertain
from gateways.pagarme_answers import classify, own_error
from gateways.pagarme_lookup import look_up
from gateways.pagarme_objects import refunded_cents
from gateways.pagarme_requests import CHARGES, KEY_HEADER, PREFIX, RECIPIENTS
from gateways.reading import cents_of, object_of, parse_object, text_of
from gateways.transport import Answer, NotSent, Timeouts, Trip, Wire

CAPABILITIES = Capabilities(
    mechanism="header_key",
    key_retention=timedelta(hours=24),
    # One hour less than the retention, so that clocks and queues cannot outlive the key.
    resend_within=timedelta(hours=23),
    compares_payload=False,
    replays_duplicates=True,
    # Not documented; a minute is assumed.
    lookup_lag=timedelta(seconds=60),
    # Transfers not: that a repeat is recognised on withdrawals is not documented.
    resend_after_absent=frozenset({"charge", "refund"}),
    operations=frozenset({"charge", "refund", "transfer"}),
    refund_has_key=True,
    withdrawal_validation=False,
    money="cents",
)


class PagarmeGateway:
    """Implements `gateways.contract.Gateway` for Pagar.me v5."""

    name = "pagarme"
    capabilities = CAPABILITIES

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        recipient_id: str,
        allow_plain_http: bool = False,
        timeouts: Timeouts | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Take where Pagar.me is, the secret key, and whose balance transfers pay out.

        Plain HTTP is allowed to this machine only, unless `allow_plain_http` (simulators in
        other containers). Raises ValueError for a URL or secret that cannot be used.
        """
        checked_secret(api_key, "Pagar.me")
        credentials = base64.b64encode(f"{api_key}:".encode("ascii")).decode("ascii")
        self._recipient_id = pagarme_requests.check_ref(recipient_id)
        self._wire = Wire(
            base_url=checked_base_url(base_url, allow_plain_http=allow_plain_http),
            credentials={"Authorization": f"Basic {credentials}"},
            timeouts=timeouts or Timeouts(),
            transport=transport,
        )

    def render_charge(
        self,
        *,
        key: str,
        amount_cents: int,
        description: str,
        customer: Customer,
        expires_in_seconds: int,
    ) -> ProviderRequest:
        """Return the order that creates a Pix charge. Raises RenderError."""
        return pagarme_requests.render_charge(
            key=key,
            amount_cents=amount_cents,
            description=description,
            customer=customer,
            expires_in_seconds=expires_in_seconds,
        )

    def render_refund(
        self, *, key: str, charge_ref: str, amount_cents: int, refunded_before_cents: int
    ) -> ProviderRequest:
        """Return the refund (or cancellation, if unpaid) of a charge. Raises RenderError."""
        return pagarme_requests.render_refund(
            key=key,
            charge_ref=charge_ref,
            amount_cents=amount_cents,
            refunded_before_cents=refunded_before_cents,
        )

    def render_transfer(self, *, key: str, amount_cents: int) -> ProviderRequest:
        """Return the withdrawal to the recipient's own bank account. Raises RenderError."""
        return pagarme_requests.render_transfer(
            key=key, amount_cents=amount_cents, recipient_id=self._recipient_id
        )

    async def send(
        self, key: str, request: ProviderRequest, *, before_wire: Callable[[], None]
    ) -> GatewayResult:
        """Send `request` once and classify what came back (see `Gateway.send`)."""
        if (refused := _foreign(key, request)) is not None:
            return classify(request, refused)
        trip = await self._wire.send(
            key=key,
            method=request.method,
            path=request.path,
            headers=request.headers,
            body=request.body,
            before_wire=before_wire,
        )
        return classify(request, trip)

    async def lookup(self, key: str, request: ProviderRequest) -> LookupResult:
        """Look the effect up: orders by code, charge by id, withdrawals by metadata."""
        if (refused := _foreign(key, request)) is not None:
            return uncertain(refused, refused.reason)
        return await look_up(self._read, key, request)

    async def charge(self, charge_ref: str) -> ChargeView | None:
        """Return a charge as it is now, None if Pagar.me does not know it.

        Raises ReadFailedError, and RenderError for an id that is none.
        """
        trip = await self._read(f"{CHARGES}/{pagarme_requests.check_ref(charge_ref)}")
        body = parse_object(trip.body) if isinstance(trip, Answer) else None
        if isinstance(trip, Answer) and trip.status == 404 and own_error(body) is not None:
            return None
        found = readable(trip, f"charge {charge_ref!r}")
        amount = cents_of(found.get("amount"))
        if amount is None or text_of(found.get("id")) != charge_ref:
            raise ReadFailedError(f"charge {charge_ref!r}: the answer is not that charge")
        code = text_of(object_of(found.get("last_transaction")).get("qr_code"))
        return ChargeView(
            provider_ref=charge_ref,
            status=text_of(found.get("status")) or "unknown",
            amount_cents=amount,
            paid_cents=cents_of(found.get("paid_amount")) or 0,
            refunded_cents=refunded_cents(found),
            code=text_of(found.get("code")),
            pix_code=code,
        )

    async def balance(self) -> int:
        """Return the recipient's available balance in cents. Raises ReadFailedError."""
        trip = await self._read(f"{RECIPIENTS}/{self._recipient_id}/balance")
        available = cents_of(readable(trip, "balance").get("available_amount"))
        if available is None:
            raise ReadFailedError("balance: no available_amount in cents")
        return available

    async def aclose(self) -> None:
        """Do nothing: each request opened and closed its own connection."""

    async def _read(self, path: str) -> Trip:
        return await self._wire.send(
            key=READ_KEY,
            method="GET",
            path=path,
            headers={"Accept": "application/json"},
            body=None,
        )


def _foreign(key: str, request: ProviderRequest) -> NotSent | None:
    ours = request.path.startswith(PREFIX)
    return foreign(request, key, key_header=KEY_HEADER, ours=ours)
