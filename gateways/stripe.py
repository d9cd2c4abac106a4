"""Stripe as a gateway: Pix by payment intents, refunds, payouts.

The trap: Stripe may forget a key once it is 24 hours old and then executes the same request again,
so look-ups go by our key in the metadata, never by repeating the POST (facts: payments §3). No
vendor library: it retries by itself, under a random key where none is given.
"""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta

import httpx

from domain.outcomes import GatewayResult, LookupResult, ProviderRequest
from gateways import stripe_requests
from gateways.answers import READ_KEY, foreign, readable
from gateways.config import Mode, check_mode, checked_base_url, checked_secret
from gateways.contract import Capabilities, ChargeView, Customer, ReadFailedError
from gateways.looked import uncertain
from gateways.reading import Json, cents_of, object_of, objects_of, parse_object, text_of
from gateways.stripe_answers import classify, own_error
from gateways.stripe_lookup import look_up
from gateways.stripe_objects import key_of, pix_of, word_of
from gateways.stripe_requests import (
    BALANCE,
    CHARGES,
    CURRENCY,
    KEY_HEADER,
    PATHS,
    PAYMENT_INTENTS,
    VERSION_HEADERS,
    refund_target,
)
from gateways.transport import Answer, NotSent, Timeouts, Trip, Wire

KEY_PREFIXES: Mapping[Mode, tuple[str, ...]] = {
    "sandbox": ("sk_test_", "rk_test_"),
    "live": ("sk_live_", "rk_live_"),
}
"""How Stripe's secret and restricted keys begin."""

CAPABILITIES = Capabilities(
    mechanism="header_key",
    key_retention=timedelta(hours=24),
    # One hour less than the retention, so that clocks and queues cannot outlive the key.
    resend_within=timedelta(hours=23),
    compares_payload=True,
    replays_duplicates=True,
    # Lists are current; a minute for what is not documented.
    lookup_lag=timedelta(seconds=60),
    # The key is honoured on every POST of v1.
    resend_after_absent=frozenset({"charge", "refund", "transfer"}),
    operations=frozenset({"charge", "refund", "transfer"}),
    refund_has_key=True,
    withdrawal_validation=False,
    money="cents",
)


class StripeGateway:
    """Implements `gateways.contract.Gateway` for Stripe's API v1."""

    name = "stripe"
    capabilities = CAPABILITIES

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        bank_account: str,
        mode: Mode,
        allow_plain_http: bool = False,
        timeouts: Timeouts | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take where Stripe is, the secret key, which bank account payouts go to (`ba_…`), and
        the mode, which has to be that of the key.

        `clock` gives Unix seconds. Raises ValueError for a URL, key or account that cannot be
        used.
        """
        checked_secret(api_key, "Stripe")
        check_mode(mode, api_key=api_key, prefixes=KEY_PREFIXES, base_url=base_url)
        if not bank_account.startswith("ba_"):
            raise ValueError(f"{bank_account!r} is no bank account of Stripe (ba_…)")
        self._bank_account = stripe_requests.check_ref(bank_account)
        self._livemode = mode == "live"
        self._clock = clock
        self._wire = Wire(
            base_url=checked_base_url(base_url, allow_plain_http=allow_plain_http),
            credentials={"Authorization": f"Bearer {api_key}"},
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
        """Return the payment intent with a Pix code. Raises RenderError."""
        return stripe_requests.render_charge(
            key=key,
            amount_cents=amount_cents,
            description=description,
            customer=customer,
            expires_in_seconds=expires_in_seconds,
            livemode=self._livemode,
        )

    def render_refund(
        self, *, key: str, charge_ref: str, amount_cents: int, refunded_before_cents: int
    ) -> ProviderRequest:
        """Return the refund of a paid charge. Raises RenderError.

        `refunded_before_cents` is not needed here: each refund bears its own key.
        """
        return stripe_requests.render_refund(
            key=key, charge_ref=charge_ref, amount_cents=amount_cents, livemode=self._livemode
        )

    def render_transfer(self, *, key: str, amount_cents: int) -> ProviderRequest:
        """Return the payout to the own bank account. Raises RenderError."""
        return stripe_requests.render_transfer(
            key=key,
            amount_cents=amount_cents,
            bank_account=self._bank_account,
            livemode=self._livemode,
        )

    async def send(
        self, key: str, request: ProviderRequest, *, before_wire: Callable[[], None]
    ) -> GatewayResult:
        """Send `request` once and classify what came back (see `Gateway.send`)."""
        if (refused := self._foreign(key, request)) is not None:
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
        """Look the effect up by our key in the metadata: lists, and the search for intents."""
        if (refused := self._foreign(key, request)) is not None:
            return uncertain(refused, refused.reason)
        return await look_up(self._read, key, request, now=self._clock())

    async def charge(self, charge_ref: str) -> ChargeView | None:
        """Return a payment intent (or a charge `ch_…`) as it is now, None if Stripe knows none.

        Raises ReadFailedError, and RenderError for an id that is none.
        """
        ref = stripe_requests.check_ref(charge_ref)
        intent = refund_target(ref) == "payment_intent"
        trip = await self._read(
            f"{PAYMENT_INTENTS}/{ref}?expand%5B%5D=latest_charge" if intent else f"{CHARGES}/{ref}"
        )
        if isinstance(trip, Answer) and trip.status == 404 and own_error(parse_object(trip.body)):
            return None
        found = readable(trip, f"charge {ref!r}")
        if text_of(found.get("id")) != ref:
            raise ReadFailedError(f"charge {ref!r}: the answer is not that charge")
        return _view_intent(ref, found) if intent else _view_charge(ref, found)

    async def balance(self) -> int:
        """Return the available balance in cents of reais. Raises ReadFailedError."""
        found = readable(await self._read(BALANCE), "balance")
        if found.get("livemode") is not self._livemode:
            raise ReadFailedError("balance: it is that of another mode")
        parts = objects_of(found.get("available"))
        if parts is None:
            raise ReadFailedError("balance: no list of available amounts")
        amounts = [cents_of(part.get("amount")) for part in parts if _in_reais(part)]
        if None in amounts:
            raise ReadFailedError("balance: an available amount is not in cents")
        return sum(amount for amount in amounts if amount is not None)

    async def aclose(self) -> None:
        """Do nothing: each request opened and closed its own connection."""

    def _foreign(self, key: str, request: ProviderRequest) -> NotSent | None:
        ours = request.path in PATHS and request.expect.get("livemode") is self._livemode
        return foreign(request, key, key_header=KEY_HEADER, ours=ours)

    async def _read(self, path: str) -> Trip:
        return await self._wire.send(
            key=READ_KEY,
            method="GET",
            path=path,
            headers={"Accept": "application/json", **VERSION_HEADERS},
            body=None,
        )


def _in_reais(part: Json) -> bool:
    return part.get("currency") == CURRENCY


def _view_intent(ref: str, intent: Json) -> ChargeView:
    latest = intent.get("latest_charge")
    if isinstance(latest, str):
        raise ReadFailedError(f"charge {ref!r}: what was refunded is not shown")
    charge = object_of(latest)
    return ChargeView(
        provider_ref=ref,
        status=word_of(intent) or "unknown",
        amount_cents=_cents(ref, intent, "amount"),
        paid_cents=_cents(ref, intent, "amount_received"),
        refunded_cents=_cents(ref, charge, "amount_refunded") if charge else 0,
        code=key_of(intent),
        pix_code=text_of(pix_of(intent).get("data")),
    )


def _view_charge(ref: str, charge: Json) -> ChargeView:
    return ChargeView(
        provider_ref=ref,
        status=text_of(charge.get("status")) or "unknown",
        amount_cents=_cents(ref, charge, "amount"),
        paid_cents=_cents(ref, charge, "amount_captured"),
        refunded_cents=_cents(ref, charge, "amount_refunded"),
        code=key_of(charge),
    )


def _cents(ref: str, found: Json, name: str) -> int:
    cents = cents_of(found.get(name))
    if cents is None:
        raise ReadFailedError(f"charge {ref!r}: no {name} in cents")
    return cents
