"""One send: one POST, no retry, and an honest word on what became of it.

The trap: WhatsApp has no idempotency key, so a repeat after a lost answer is a second message.
Therefore NOT_SENT is said only if no byte of the request left or Meta itself refused, and
`before_wire` runs at the last moment at which that can still be promised: when the connection (TLS
included) stands and before the first byte. A kept-alive connection that died meanwhile would make
an UNKNOWN out of nothing, so every send has its own connection.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpx

from channels.whatsapp.answer import judge, judge_receipt
from channels.whatsapp.limits import MessageRefusedError
from channels.whatsapp.messages import read_receipt, render
from channels.whatsapp.outcome import Refusal, SendOutcome, SendResult
from domain.outbound import PromptMessage, Recipient, TextMessage

__all__ = ["Refusal", "SendOutcome", "SendResult", "WhatsAppSender"]

CONNECT_SECONDS = 5.0
"""Seconds for TCP and TLS; a failure here is certainly not sent."""
READ_SECONDS = 10.0
"""Seconds without a byte of the answer; Meta usually answers within one or two."""
TOTAL_SECONDS = 15.0
"""Seconds for the whole call, against an answer that trickles."""
RECONNECT_SECONDS = 2.0
"""Seconds before the next try if no connection was made."""
MAX_ANSWER = 256 * 1024
"""Bytes of an answer that are read; Meta's have under a thousand."""

_VERSION = re.compile(r"v[0-9]{2}\.0", re.ASCII)
_NUMBER_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_TOKEN = re.compile(r"[\x21-\x7e]+", re.ASCII)
_WIRE_EVENT = ".send_request_headers.started"

_NEVER_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

_Judge = Callable[..., SendResult]


class WhatsAppSender:
    """Sends for any number of the token. Closes only a client that it made itself.

    `base_url` with scheme, `version` like `v26.0`, `token` a system user's. An injected `client`
    needs a transport that tells httpx's trace events (httpx's own does); without them `before_wire`
    is never called and every loss but a failed connection is UNKNOWN.
    Raises `ValueError` for a setting that cannot work, without quoting the token.
    """

    def __init__(
        self,
        *,
        base_url: str,
        version: str,
        token: str,
        client: httpx.AsyncClient | None = None,
        connect_seconds: float = CONNECT_SECONDS,
        read_seconds: float = READ_SECONDS,
        total_seconds: float = TOTAL_SECONDS,
    ) -> None:
        if httpx.URL(base_url).scheme not in ("http", "https"):
            raise ValueError(f"base_url needs http or https, got {base_url!r}")
        if _VERSION.fullmatch(version) is None:
            raise ValueError(f"version must look like 'v26.0', got {version!r}")
        if _TOKEN.fullmatch(token) is None:
            raise ValueError("token must be non-empty printable ASCII without spaces")
        self._root = f"{base_url.rstrip('/')}/{version}"
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept-Encoding": "identity",
            "Connection": "close",  # keeps an injected client from re-using a dying connection
        }
        self._timeout = httpx.Timeout(read_seconds, connect=connect_seconds)
        self._total_seconds = total_seconds
        self._owns_client = client is None
        self._client = client or httpx.AsyncClient(
            trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the client, unless it was injected."""
        if self._owns_client:
            await self._client.aclose()

    async def send(
        self,
        *,
        phone_number_id: str,
        recipient: Recipient,
        message: TextMessage | PromptMessage,
        callback_data: str,
        before_wire: Callable[[], None] | None = None,
    ) -> SendResult:
        """Sends `message` once and says what became of it.

        `callback_data` is our own key, which comes back in statuses. `before_wire` is called at
        most once, just before the first byte; if it raises, nothing is sent (NOT_SENT_RETRY).
        Raises nothing but cancellation; after that the send may have happened.
        """
        try:
            body = render(message, recipient, callback_data=callback_data)
        except MessageRefusedError as error:
            return _refused(str(error))
        return await self._post(phone_number_id, body, _Wire(before_wire), judge)

    async def mark_read(self, *, phone_number_id: str, wamid: str, typing: bool) -> SendResult:
        """Marks a message as read, with the typing sign if wanted. Best effort: never raises."""
        body = read_receipt(wamid, typing=typing)
        return await self._post(phone_number_id, body, _Wire(None), judge_receipt)

    async def _post(
        self, phone_number_id: str, body: Mapping[str, object], wire: "_Wire", verdict: _Judge
    ) -> SendResult:
        if _NUMBER_ID.fullmatch(phone_number_id) is None:
            return _refused(f"phone_number_id cannot be in a path: {phone_number_id!r}")
        try:
            async with (
                asyncio.timeout(self._total_seconds),
                self._client.stream(
                    "POST",
                    f"{self._root}/{phone_number_id}/messages",
                    json=body,
                    headers=self._headers,
                    timeout=self._timeout,
                    follow_redirects=False,
                    extensions={"trace": wire.trace},
                ) as response,
            ):
                answer = await _read_capped(response)
        except Exception as error:
            return wire.lost(error)
        return verdict(
            response.status_code, answer, retry_after=response.headers.get("retry-after")
        )


@dataclass
class _Wire:
    """Watches one request: did it reach the wire, and did `before_wire` agree."""

    before_wire: Callable[[], None] | None
    heard: bool = field(default=False, init=False)
    reached: bool = field(default=False, init=False)
    vetoed: bool = field(default=False, init=False)

    async def trace(self, event: str, info: Mapping[str, object]) -> None:
        """httpx's trace call-back; an exception in it ends the request before its first byte."""
        self.heard = True
        if self.reached or not event.endswith(_WIRE_EVENT):
            return
        if self.before_wire is not None:
            self.vetoed = True
            self.before_wire()
            self.vetoed = False
        self.reached = True

    def lost(self, error: Exception) -> SendResult:
        """The result of a request that ended without an answer."""
        name = type(error).__name__
        blind = not self.heard and not isinstance(error, _NEVER_CONNECTED)
        if self.reached or blind:
            return SendResult(outcome=SendOutcome.UNKNOWN, detail=f"no answer: {name}")
        why = "before_wire refused" if self.vetoed else "no connection"
        return SendResult(
            outcome=SendOutcome.NOT_SENT_RETRY,
            retry_after=RECONNECT_SECONDS,
            detail=f"{why}: {name}",
        )


async def _read_capped(response: httpx.Response) -> bytes:
    """The body, or nothing if it is over `MAX_ANSWER`: then it is no answer of Meta's."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER:
            return b""
    return b"".join(parts)


def _refused(detail: str) -> SendResult:
    return SendResult(outcome=SendOutcome.NOT_SENT_FINAL, reason=Refusal.BUG, detail=detail)
