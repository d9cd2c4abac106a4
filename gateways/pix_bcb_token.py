"""The access token that goes with each request of the API Pix.

The trap: a token that is fetched between the fence and the wire makes the sending call two requests
and eats the two seconds that it has. So it is fetched before the fence, and the send takes what is
held; without one nothing is sent. It also finds, before any money is at stake, a client certificate
that the bank refuses: under TLS 1.3 that shows only after the request went (facts: payments §8).
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from gateways.answers import READ_KEY
from gateways.pix_bcb_answers import own_error
from gateways.reading import cents_of, parse_object, text_of
from gateways.transport import Answer, NotSent, Trip, Wire

MARGIN_SECONDS = 60
"""A token that ends sooner is not taken to a send: clocks differ, and a send takes up to 20 s."""
GRANT = '{"grant_type":"client_credentials"}'


@dataclass(repr=False)
class Tokens:
    """The current token, kept until shortly before it ends. Has no readable repr."""

    wire: Wire
    path: str
    clock: Callable[[], float] = time.monotonic
    problem: str = "none was fetched"
    _token: str | None = None
    _until: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def held(self) -> str | None:
        """Return the token, None if there is none that lives long enough."""
        return self._token if self.clock() < self._until else None

    def missing(self) -> NotSent:
        """Return why nothing can be sent without a token."""
        return NotSent(reason=f"no access token: {self.problem}", exception="None")

    async def fetch(self) -> str | None:
        """Return the token, asking the bank for one if need be; None, with `problem`, if it gives
        none. Raises nothing but cancellation."""
        async with self._lock:
            if (token := self.held()) is not None:
                return token
            self._keep(
                await self.wire.send(
                    key=READ_KEY,
                    method="POST",
                    path=self.path,
                    headers={"Content-Type": "application/json", "Accept": "application/json"},
                    body=GRANT,
                )
            )
            return self.held()

    def drop(self, token: str) -> None:
        """Forget a token that the bank refused; a newer one stays."""
        if self._token == token:
            self._token, self._until, self.problem = None, 0.0, "the last one was refused"

    def _keep(self, trip: Trip) -> None:
        self._token, self._until = None, 0.0
        if not isinstance(trip, Answer):
            self.problem = f"{trip.reason} ({trip.exception})"
            return
        body = parse_object(trip.body)
        error = own_error(trip.status, body)
        self.problem = f"status {trip.status}{f', {error.name!r}' if error else ''}"
        if trip.status not in (200, 201) or body is None:
            return
        token, seconds = text_of(body.get("access_token")), cents_of(body.get("expires_in"))
        if token is None or not token.isascii() or not token.isprintable() or " " in token:
            self.problem = "the answer has no usable access_token"
        elif seconds is None or seconds <= MARGIN_SECONDS:
            self.problem = f"the token lives for {seconds!r} seconds only"
        else:
            self._token, self._until = token, self.clock() + seconds - MARGIN_SECONDS
