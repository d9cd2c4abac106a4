"""What every provider's adapter promises, whatever its provider does.

The trap: a repeated key is a replay at one provider, an error at the next, a second payment at a
third. So an adapter says what its provider can do as data (`Capabilities`), answers with outcome
classes only, never makes a key and never retries.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Literal, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from domain.outcomes import GatewayResult, LookupResult, Operation, ProviderRequest


class GatewayError(Exception):
    """Base of what a gateway raises. Sends and look-ups answer with results instead."""


class RenderError(GatewayError, ValueError):
    """The values cannot become a request of this provider; the person has to change them."""


class ReadFailedError(GatewayError):
    """A plain read (balance, charge) gave no usable answer; trying again is harmless."""


class Capabilities(BaseModel):
    """What a provider does with our key, as data (facts: payments §7 and §9)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mechanism: Literal["path_key", "header_key", "body_key", "lookup_only"]
    key_retention: timedelta | None
    """How long a repeated key is recognised; None where the provider never forgets or never
    knew it (`lookup_only`)."""
    resend_within: timedelta
    """Up to this age of the first send the same key may be sent again; zero: never."""
    compares_payload: bool
    replays_duplicates: bool
    lookup_lag: timedelta
    """An absent within this time after a send proves nothing."""
    resend_after_absent: frozenset[Operation]
    """Operations where the same key may go again after the look-ups stayed empty."""
    operations: frozenset[Operation]
    refund_has_key: bool
    withdrawal_validation: bool
    money: Literal["cents", "decimal_number", "decimal_string"]


class Customer(BaseModel):
    """Who is charged. Personal data: goes to the provider, never to logs or ids."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    document: str
    """CPF (11 digits) or CNPJ (14 letters or digits), without punctuation."""
    email: str | None = None
    phone: str | None = None
    """Digits with country code, e.g. 5541999998888."""


class ChargeView(BaseModel):
    """A charge as the provider shows it now. Amounts in cents."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider_ref: str
    status: str
    """The provider's word: pending, paid, canceled, failed, ..."""
    amount_cents: int
    paid_cents: int
    refunded_cents: int
    code: str | None = None
    pix_code: str | None = None


class Gateway(Protocol):
    """A provider that moves money.

    The `render_*` methods are pure: same arguments, same bytes, no clock and no network. They
    raise RenderError. `key` is the action id, 32 lower-case hex characters.
    """

    @property
    def name(self) -> str:
        """The name under which the registry built it, e.g. "pagarme"."""

    @property
    def capabilities(self) -> Capabilities:
        """What this provider does with keys, amounts and look-ups."""

    def render_charge(
        self,
        *,
        key: str,
        amount_cents: int,
        description: str,
        customer: Customer,
        expires_in_seconds: int,
    ) -> ProviderRequest:
        """Return the request that creates a Pix charge, payable for `expires_in_seconds`."""

    def render_refund(
        self, *, key: str, charge_ref: str, amount_cents: int, refunded_before_cents: int
    ) -> ProviderRequest:
        """Return the request that refunds `amount_cents` of the charge `charge_ref`.

        `refunded_before_cents` is what was refunded when the action was prepared (`charge`):
        without it a look-up could not tell this refund from an earlier one of equal amount.
        """

    def render_transfer(self, *, key: str, amount_cents: int) -> ProviderRequest:
        """Return the request that pays `amount_cents` of the balance out to the own account."""

    async def send(
        self, key: str, request: ProviderRequest, *, before_wire: Callable[[], None]
    ) -> GatewayResult:
        """Send once and classify; never raises for what the network or the provider does.

        `before_wire` is called once, after the connection stands and immediately before the
        first byte of the request; if it raises, nothing is sent and the result is NOT_SENT.
        Cancellation passes through: whoever cancels no longer knows the outcome (UNKNOWN).
        """

    async def lookup(self, key: str, request: ProviderRequest) -> LookupResult:
        """Look the effect of `request` up by `key`. Read-only; failures are UNCERTAIN."""

    async def charge(self, charge_ref: str) -> ChargeView | None:
        """Return the charge, or None if the provider does not know it. Raises ReadFailedError."""

    async def balance(self) -> int:
        """Return the available balance in cents. Raises ReadFailedError."""

    async def aclose(self) -> None:
        """Free what the gateway holds. Harmless to repeat."""


@runtime_checkable
class Readies(Protocol):
    """A gateway whose send needs something read first, such as an access token.

    Between the fence and the wire there are two seconds and room for one request. So whatever else
    a send needs is read before the fence.
    """

    async def ready(self, key: str, request: ProviderRequest) -> None:
        """Read it. What is missing makes the send NOT_SENT; raises nothing but cancellation."""


async def get_ready(gateway: Gateway, key: str, request: ProviderRequest) -> None:
    """Let `gateway` read what the send of `request` needs, if it needs anything."""
    if isinstance(gateway, Readies):
        await gateway.ready(key, request)
