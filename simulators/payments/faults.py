"""Faults a test orders for coming requests.

The line that matters runs between "acted" and "did not act": the same broken answer is one
payment or none, and the client cannot see which.
"""

from enum import StrEnum, auto
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class FaultKind(StrEnum):
    """What goes wrong. `Fault.seconds` and `Fault.status` are read where named."""

    ACT_DROP = auto()
    """Act, then drop the connection."""
    ACT_500 = auto()
    """Act, answer 500; some dialects keep and replay that 500."""
    ACT_DELAY = auto()
    """Act, answer after `seconds`."""
    DROP = auto()
    """Do not act, drop the connection."""
    REFUSE = auto()
    """Do not act, answer `status` (default 400) in the dialect's own error shape."""
    FAILED = auto()
    """200 with status failed, kept under the key; no effect."""
    PRECONDITION = auto()
    """A refusal after execution began (Pagar.me 412, Stripe 402), kept under the key; no effect."""
    THROTTLE = auto()
    """429 with Retry-After `seconds`; not acted."""
    HTML_502 = auto()
    """A proxy's page; `acted` says what happened behind it."""
    HTML_REFUSAL = auto()
    """A proxy's page with `status` (default 403); `acted` says what happened behind it."""
    CUT_JSON = auto()
    """Act, send half of the announced body, close."""
    BROKEN_JSON = auto()
    """Act, send half of the JSON as a complete body."""
    HUGE_BODY = auto()
    """Act, answer with 3 MiB."""
    SLOW_DRIP = auto()
    """Act, spread the body over `seconds`."""
    DELAY_BEFORE = auto()
    """Wait `seconds`, then act and answer."""
    LOOKUP_LAG = auto()
    """Act; look-ups see it after `seconds`."""
    LOOKUP_503 = auto()
    """Answer a GET with 503."""
    ALTER = auto()
    """Act, but for one real more than asked."""
    SETTLE_SLOWLY = auto()
    """Act; a refund or transfer stays pending for `seconds`."""
    IGNORE_KEY = auto()
    """Act as a provider without idempotency would."""


_NEVER_ACT = frozenset({FaultKind.DROP, FaultKind.REFUSE, FaultKind.THROTTLE, FaultKind.LOOKUP_503})
_MAY_ACT = frozenset({FaultKind.HTML_502, FaultKind.HTML_REFUSAL})


class Fault(BaseModel):
    """One order: which requests, how many of them, what goes wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: FaultKind
    times: int = Field(default=1, ge=1)
    method: str | None = None
    """None: writes only (GET only for lookup_503)."""
    path_prefix: str | None = None
    key: str | None = None
    seconds: float = Field(default=0.0, ge=0)
    status: int = Field(default=0, ge=0, le=599)
    acted: bool | None = None
    """Only for a proxy's pages; default False there."""

    @model_validator(mode="after")
    def _acted_only_where_it_is_open(self) -> Self:
        if self.acted is not None and self.kind not in _MAY_ACT:
            raise ValueError(f"{self.kind!r} fixes by itself whether the provider acts")
        return self

    def acts(self) -> bool:
        """Return whether the provider does what it is asked."""
        if self.kind in _MAY_ACT:
            return bool(self.acted)
        return self.kind not in _NEVER_ACT

    def matches(self, *, method: str, path: str, key: str | None) -> bool:
        """Return whether this request is meant."""
        if self.method is None:
            if (method == "GET") != (self.kind is FaultKind.LOOKUP_503):
                return False
        elif self.method.upper() != method:
            return False
        if self.path_prefix is not None and not path.startswith(self.path_prefix):
            return False
        return self.key is None or self.key == key


class FaultBook:
    """The open orders, first come first served."""

    def __init__(self) -> None:
        """Start without any."""
        self._open: list[tuple[Fault, int]] = []

    def add(self, fault: Fault) -> None:
        """Open an order."""
        self._open.append((fault, fault.times))

    def clear(self) -> None:
        """Close all orders."""
        self._open.clear()

    def take(self, *, method: str, path: str, key: str | None) -> Fault | None:
        """Return the fault for this request, using it up once."""
        for index, (fault, left) in enumerate(self._open):
            if fault.matches(method=method, path=path, key=key):
                if left > 1:
                    self._open[index] = (fault, left - 1)
                else:
                    del self._open[index]
                return fault
        return None

    def remaining(self) -> list[dict[str, object]]:
        """Return the open orders with how often each still applies."""
        return [{**fault.model_dump(mode="json"), "times": left} for fault, left in self._open]
