"""The Central Bank's API Pix as a gateway, for the banks in `pix_bcb_profiles`.

The trap: our key is the id in the path, and what a bank does with a known one differs from bank to
bank, a silent change of the charge included. So no answer is taken for more than it shows: every
object is compared with the frozen request, its `revisao` too, and a known key is looked up, never
replaced by another. No vendor library: Efí's has no timeout and sends again after a 401.
"""

import base64
import ssl
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx

from domain.outcomes import GatewayResult, LookupResult, Outcome, ProviderRequest
from gateways import pix_bcb_requests
from gateways.answers import READ_KEY, readable
from gateways.config import Mode, checked_base_url, checked_secret
from gateways.contract import Capabilities, ChargeView, Customer, ReadFailedError
from gateways.looked import uncertain
from gateways.money import cents_of_text
from gateways.pix_bcb_answers import classify, is_absent
from gateways.pix_bcb_lookup import NoPixError, look_up, pix_of
from gateways.pix_bcb_profiles import Profile
from gateways.pix_bcb_requests import (
    PIX_OF_CHARGE,
    charge_to_resolve,
    check_pix_key,
    is_e2eid,
    is_ours,
)
from gateways.pix_bcb_token import Tokens
from gateways.pix_bcb_views import view_charge, view_pix
from gateways.reading import parse_object
from gateways.transport import Answer, NotSent, Timeouts, Trip, Wire

CAPABILITIES = Capabilities(
    mechanism="path_key",
    # A txid, a refund's id and an idEnvio are taken for good.
    key_retention=None,
    # As long as machines look; the key itself would hold longer.
    resend_within=timedelta(hours=24),
    compares_payload=False,
    # A repeat is refused (409), never answered with the first answer.
    replays_duplicates=False,
    # Not documented; a minute is assumed.
    lookup_lag=timedelta(seconds=60),
    # Sent Pix not: which version of the path a bank serves is not certain, and money that went out
    # does not come back.
    resend_after_absent=frozenset({"charge", "refund"}),
    operations=frozenset({"charge", "refund", "transfer"}),
    refund_has_key=True,
    withdrawal_validation=False,
    money="decimal_string",
)

_TOKEN_TIMEOUTS = Timeouts(connect=5.0, read=8.0, total=10.0)


class PixBcbGateway:
    """Implements `gateways.contract.Gateway` and `Readies` for the API Pix."""

    name = "pix_bcb"
    capabilities = CAPABILITIES

    def __init__(
        self,
        *,
        profile: Profile,
        mode: Mode,
        client_id: str,
        client_secret: str,
        pix_key: str,
        to_pix_key: str,
        base_url: str | None = None,
        allow_plain_http: bool = False,
        tls: ssl.SSLContext | None = None,
        timeouts: Timeouts | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the bank, the mode, the OAuth client, the Pix key that is charged to and the one
        that transfers go to.

        `tls` shows the client certificate; without it only plain HTTP (a simulator) is taken.
        Raises ValueError for what cannot be used.
        """
        checked_secret(client_secret, "API Pix")
        if (
            not client_id.isascii()
            or not client_id.isprintable()
            or ":" in client_id
            or not client_id.strip()
        ):
            raise ValueError(f"{client_id!r} is no client id")
        url = checked_base_url(
            base_url or profile.base_urls[mode], allow_plain_http=allow_plain_http
        )
        if url.startswith("https:") and tls is None:
            raise ValueError("the API Pix needs a client certificate")
        if mode == "live" and not url.startswith("https:"):
            raise ValueError(f"mode 'live' goes over https only, not to {url!r}")
        self._profile = profile
        self._pix_key = check_pix_key(pix_key)
        self._to_pix_key = check_pix_key(to_pix_key)
        self._expect = {"bank": f"{profile.name}:{mode}", "chave": pix_key}
        more: dict[str, Any] = {"transport": transport, **({"tls": tls} if tls else {})}
        self._wire = Wire(base_url=url, credentials={}, timeouts=timeouts or Timeouts(), **more)
        pair = f"{client_id}:{client_secret}".encode("ascii")
        basic = base64.b64encode(pair).decode("ascii")
        self._tokens = Tokens(
            wire=Wire(
                base_url=url,
                credentials={"Authorization": f"Basic {basic}"},
                timeouts=timeouts or _TOKEN_TIMEOUTS,
                **more,
            ),
            path=profile.oauth_path,
            clock=clock,
        )
        self._pix_of: dict[str, str] = {}
        self._no_pix: dict[str, NoPixError] = {}

    def render_charge(
        self,
        *,
        key: str,
        amount_cents: int,
        description: str,
        customer: Customer,
        expires_in_seconds: int,
    ) -> ProviderRequest:
        """Return the immediate charge (cob). Raises RenderError."""
        return self._marked(
            pix_bcb_requests.render_charge(
                self._profile,
                key=key,
                amount_cents=amount_cents,
                description=description,
                customer=customer,
                expires_in_seconds=expires_in_seconds,
                pix_key=self._pix_key,
            )
        )

    def render_refund(
        self, *, key: str, charge_ref: str, amount_cents: int, refunded_before_cents: int
    ) -> ProviderRequest:
        """Return the devolução of a paid charge (txid) or a received Pix (e2eid). Raises
        RenderError.

        `refunded_before_cents` is not needed here: each refund bears its own key.
        """
        return self._marked(
            pix_bcb_requests.render_refund(
                self._profile, key=key, charge_ref=charge_ref, amount_cents=amount_cents
            )
        )

    def render_transfer(self, *, key: str, amount_cents: int) -> ProviderRequest:
        """Return the Pix to the own account elsewhere. Raises RenderError."""
        return self._marked(
            pix_bcb_requests.render_transfer(
                self._profile,
                key=key,
                amount_cents=amount_cents,
                pix_key=self._pix_key,
                to_pix_key=self._to_pix_key,
            )
        )

    async def ready(self, key: str, request: ProviderRequest) -> None:
        """Fetch the token, and for a refund the Pix that paid its charge (see `Readies`)."""
        if self._foreign(key, request) is not None or await self._tokens.fetch() is None:
            return
        txid = charge_to_resolve(request)
        if txid is None or txid in self._pix_of:
            return
        self._no_pix.pop(txid, None)
        try:
            self._pix_of[txid] = pix_of(await self._read(self._profile.charges + txid), txid)
        except NoPixError as error:
            self._no_pix[txid] = error

    async def send(
        self, key: str, request: ProviderRequest, *, before_wire: Callable[[], None]
    ) -> GatewayResult:
        """Send `request` once and classify what came back (see `Gateway.send`).

        Uses what `ready` read; without it nothing is sent.
        """
        if (refused := self._foreign(key, request)) is not None:
            return classify(self._profile, request, refused)
        if (token := self._tokens.held()) is None:
            return classify(self._profile, request, self._tokens.missing())
        path = request.path
        if (txid := charge_to_resolve(request)) is not None:
            if txid not in self._pix_of:
                return _no_refund(self._no_pix.get(txid))
            path = path.replace(PIX_OF_CHARGE, self._pix_of[txid])
        trip = await self._wire.send(
            key=key,
            method=request.method,
            path=path,
            headers={**request.headers, "Authorization": f"Bearer {token}"},
            body=request.body,
            before_wire=before_wire,
        )
        self._drop_if_refused(trip, token)
        return classify(self._profile, request, trip)

    async def lookup(self, key: str, request: ProviderRequest) -> LookupResult:
        """Look the effect up by the key in its path."""
        if (refused := self._foreign(key, request)) is not None:
            return uncertain(refused, refused.reason)
        return await look_up(self._read, self._profile, request)

    async def charge(self, charge_ref: str) -> ChargeView | None:
        """Return a charge (txid) or a received Pix (e2eid) as it is now, None if the bank knows
        none. Raises ReadFailedError, and RenderError for an id that is none."""
        ref = pix_bcb_requests.check_ref(charge_ref)
        by_pix = is_e2eid(ref)
        trip = await self._read((self._profile.received if by_pix else self._profile.charges) + ref)
        if isinstance(trip, Answer) and is_absent(
            self._profile, "refund" if by_pix else "charge", trip.status, parse_object(trip.body)
        ):
            return None
        found = readable(trip, f"charge {ref!r}")
        if found.get("endToEndId" if by_pix else "txid") != ref:
            raise ReadFailedError(f"charge {ref!r}: the answer is not that charge")
        return view_pix(ref, found) if by_pix else view_charge(ref, found)

    async def balance(self) -> int:
        """Return the available balance in cents. Raises ReadFailedError."""
        found = readable(await self._read(self._profile.balance), "balance")
        cents = cents_of_text(found.get("saldo"))
        if cents is None:
            raise ReadFailedError("balance: no saldo of the form 150.00")
        return cents

    async def aclose(self) -> None:
        """Do nothing: each request opened and closed its own connection."""

    def _marked(self, request: ProviderRequest) -> ProviderRequest:
        return request.model_copy(update={"expect": {**request.expect, **self._expect}})

    def _foreign(self, key: str, request: ProviderRequest) -> NotSent | None:
        marked = all(request.expect.get(name) == value for name, value in self._expect.items())
        if marked and is_ours(self._profile, key, request):
            return None
        reason = f"the request {request.path!r} was not rendered by this gateway for key {key!r}"
        return NotSent(reason=reason, exception="ValueError")

    def _drop_if_refused(self, trip: Trip, token: str) -> None:
        if isinstance(trip, Answer) and trip.status == 401:
            self._tokens.drop(token)

    async def _read(self, path: str) -> Trip:
        if (token := await self._tokens.fetch()) is None:
            return self._tokens.missing()
        trip = await self._wire.send(
            key=READ_KEY,
            method="GET",
            path=path,
            headers={"Accept": "application/json", "Authorization": f"Bearer {token}"},
            body=None,
        )
        self._drop_if_refused(trip, token)
        return trip


def _no_refund(why: NoPixError | None) -> GatewayResult:
    """A charge that the bank shows as unpaid cannot be given back; else nothing is known."""
    unpaid = why is not None and why.unpaid
    return GatewayResult(
        outcome=Outcome.REJECTED if unpaid else Outcome.NOT_SENT,
        reason=str(why or "the Pix that paid the charge was not read"),
        evidence={"exception": type(why).__name__},
    )
