"""The one function that puts a request of ours on a wire, and says whether it got there.

The trap: "the call failed" hides two opposite facts. If no byte of the request left, the same key
may go again; if one byte may have left, only a look-up may follow. The exception class alone does
not tell them apart for every library version, so the line is drawn by what the connection did:
until it stands, nothing was sent; from the first request event on, everything counts as sent.

A fresh client for each request: on a kept-alive connection that died in between, a write fails
after it was attempted, which would be a needless unknown (facts: payments §8).
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx

from domain.outcomes import KEY_PATTERN

MAX_ANSWER_BYTES = 1024 * 1024
"""No provider's answer comes near it; more is a fault and must not fill the worker's memory."""


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Seconds. `total` bounds the whole trip by the wall clock, dripping answers included."""

    connect: float = 5.0
    read: float = 15.0
    total: float = 20.0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A complete HTTP answer: the provider's, or that of something in front of it."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class NotSent:
    """Provably no byte of the request was handed to the socket."""

    reason: str
    exception: str


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The request may have arrived; no complete answer came back."""

    reason: str
    exception: str
    status: int | None = None


Trip = Answer | NotSent | Lost


class AnswerTooLargeError(Exception):
    """The answer is longer than MAX_ANSWER_BYTES."""


class AnswerEncodedError(Exception):
    """The answer is compressed although we asked for none; unpacking it has no bound."""


class SentTwiceError(Exception):
    """The HTTP library tried to put one request on the wire a second time."""


@dataclass
class _Line:
    """Watches httpcore's trace events and marks the moment the wire is reached.

    Events of making the connection are named `connection.*`; the first event of any other name
    is the request itself (`http11.send_request_headers.started`). Judging by that, not by one
    exact name, means that a renamed event cannot turn a sent request into "not sent".
    """

    before_wire: Callable[[], None]
    reached: bool = False
    refusal: BaseException | None = None
    seen: set[str] = field(default_factory=set)
    status: int | None = None

    async def trace(self, event: str, _info: Mapping[str, Any]) -> None:
        if event.startswith("connection.") or self.refusal is not None:
            return
        if not self.reached:
            try:
                self.before_wire()
            except BaseException as refusal:
                self.refusal = refusal
                raise
            self.reached = True
        if event.endswith("send_request_headers.started"):
            if event in self.seen:
                raise SentTwiceError(f"{event!r} fired twice for one request")
            self.seen.add(event)


def _nothing() -> None:
    return None


@cache
def _tls() -> ssl.SSLContext:
    """Read the root certificates once; it takes 20 ms and each request has its own client."""
    return httpx.create_ssl_context(trust_env=False)


@dataclass(frozen=True, kw_only=True, repr=False)
class Wire:
    """How to reach one provider. Holds the credentials, so it has no readable repr."""

    base_url: str
    """Scheme, host and port only; the path comes with each request."""
    credentials: Mapping[str, str]
    """Headers added to each request and never stored."""
    timeouts: Timeouts = Timeouts()
    transport: httpx.AsyncBaseTransport | None = None
    """Replaces the sockets in tests. It must fire the request event (see `_Line`)."""
    tls: ssl.SSLContext = field(default_factory=_tls)

    async def send(
        self,
        *,
        key: str,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: str | None,
        before_wire: Callable[[], None] = _nothing,
    ) -> Trip:
        """Send one request once and return how far it came.

        `body` goes as UTF-8, byte for byte. `before_wire` runs once, when the connection stands
        and before the first byte; what it raises stops the request. Raises nothing but
        cancellation.
        """
        line = _Line(before_wire)
        if not KEY_PATTERN.fullmatch(key):
            return NotSent(reason=f"key {key!r} is not 32 hex characters", exception="ValueError")
        try:
            async with asyncio.timeout(self.timeouts.total):
                answer = await self._exchange(line, method, path, headers, body)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            # The bound is wide on purpose: whatever broke, the line alone says if bytes left.
            return _failed(line, error)
        if not line.reached:
            return Lost(
                reason="an answer came, but the request was never seen leaving: fence not run",
                exception="None",
                status=answer.status,
            )
        return answer

    async def _exchange(
        self,
        line: _Line,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: str | None,
    ) -> Answer:
        limits = self.timeouts
        async with httpx.AsyncClient(
            verify=self.tls,
            transport=self.transport,
            timeout=httpx.Timeout(limits.read, connect=limits.connect, pool=limits.connect),
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
        ) as client:
            request = client.build_request(
                method,
                self.base_url + path,
                headers={"Accept-Encoding": "identity", **headers, **self.credentials},
                content=None if body is None else body.encode("utf-8"),
                extensions={"trace": line.trace},
            )
            response = await client.send(request, stream=True)
            line.status = response.status_code
            try:
                content = await _read_capped(response)
            finally:
                await response.aclose()
        return Answer(
            status=response.status_code, headers=dict(response.headers.items()), body=content
        )


async def _read_capped(response: httpx.Response) -> bytes:
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise AnswerEncodedError(f"content-encoding {response.headers['content-encoding']!r}")
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise AnswerTooLargeError(f"more than {MAX_ANSWER_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def _failed(line: _Line, error: Exception) -> NotSent | Lost:
    name = type(error).__name__
    if line.refusal is not None:
        return NotSent(reason="refused before the wire", exception=type(line.refusal).__name__)
    if not line.reached and line.status is None:
        return NotSent(reason="no connection was made", exception=name)
    return Lost(reason="no complete answer", exception=name, status=line.status)
