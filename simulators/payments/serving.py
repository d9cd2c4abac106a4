"""One path for every request to the provider: journal, fault, act, answer."""

import asyncio
import base64
import hmac
import secrets
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Message, Receive, Scope, Send

from simulators.payments.breaking import Broken, Dripping, encode, padded
from simulators.payments.faults import Fault, FaultBook, FaultKind
from simulators.payments.journal import Entry, Journal
from simulators.payments.provider import Act, Provider
from simulators.payments.replies import MESSAGES, RefusedError, Reply, Twist, error_doc

_PROXY_PAGE = "<html><head><title>502 Bad Gateway</title></head><body>proxy</body></html>"


class Desk:
    """Holds what serving needs: provider, faults, journal."""

    def __init__(self, provider: Provider) -> None:
        """Start with an empty journal and no faults."""
        self.provider = provider
        self.faults = FaultBook()
        self.journal = Journal()

    async def write(self, request: Request, act: Callable[[str | None, bytes], Act]) -> Response:
        """Serve a request with an effect; `act` gets the key and the body."""
        body = await request.body()
        key = request.headers.get("idempotency-key")

        def run(twist: Twist) -> Reply:
            return self.provider.execute(key, twist, act(key, body))

        return await self._serve(request, key, body, run)

    async def read(self, request: Request, show: Callable[[], Reply]) -> Response:
        """Serve a request without effect."""
        return await self._serve(request, None, await request.body(), lambda _twist: show())

    async def _serve(
        self, request: Request, key: str | None, body: bytes, run: Callable[[Twist], Reply]
    ) -> Response:
        path = request.url.path
        target = f"{path}?{request.url.query}" if request.url.query else path
        now = self.provider.state.now()
        entry = self.journal.begin(at=now, method=request.method, path=target, key=key, body=body)
        fault = self.faults.take(method=request.method, path=path, key=key)
        entry.fault = None if fault is None else fault.kind.value
        try:
            response = await self._answer(request, entry, fault, run)
        except BaseException:
            self.journal.end(entry)
            raise
        return _Journaled(response, self.journal, entry)

    async def _answer(
        self, request: Request, entry: Entry, fault: Fault | None, run: Callable[[Twist], Reply]
    ) -> Response:
        if fault is not None and fault.kind is FaultKind.DELAY_BEFORE:
            await asyncio.sleep(fault.seconds)
        reply = Reply(200, {})
        if fault is None or fault.acts():
            reply = self._run(request, run, _twist(fault))
            entry.acted, entry.replayed = reply.acted, reply.replayed
        if fault is not None and fault.kind is FaultKind.ACT_DELAY:
            await asyncio.sleep(fault.seconds)
        return _response(reply, fault)

    def _run(self, request: Request, run: Callable[[Twist], Reply], twist: Twist) -> Reply:
        pair = base64.b64encode(f"{self.provider.config.api_key}:".encode()).decode("ascii")
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Basic {pair}".encode()):
            return Reply(401, error_doc(MESSAGES[401]))
        try:
            return run(twist)
        except RefusedError as refused:
            return refused.reply


class _Journaled(Response):
    """Sends the inner response, then closes the journal's entry."""

    def __init__(self, inner: Response, journal: Journal, entry: Entry) -> None:
        self.status_code = inner.status_code
        self.background = None
        self.body = b""
        self._inner = inner
        self._journal = journal
        self._entry = entry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._entry.status = self._inner.status_code
            await send(message)

        try:
            await self._inner(scope, receive, noting)
        finally:
            self._journal.end(self._entry)


class _Raw(Response):
    """Gives an ASGI callable the outside of a Response."""

    def __init__(self, inner: Broken | Dripping, status: int) -> None:
        super().__init__(status_code=status)
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._inner(scope, receive, send)


def _twist(fault: Fault | None) -> Twist:
    if fault is None:
        return Twist()
    kind = fault.kind
    return Twist(
        fail=kind is FaultKind.FAILED,
        precondition=kind is FaultKind.PRECONDITION,
        alter=kind is FaultKind.ALTER,
        ignore_key=kind is FaultKind.IGNORE_KEY,
        lookup_lag=fault.seconds if kind is FaultKind.LOOKUP_LAG else 0.0,
        settle_after=fault.seconds if kind is FaultKind.SETTLE_SLOWLY else 0.0,
    )


def _response(reply: Reply, fault: Fault | None) -> Response:
    body = encode(reply)
    if fault is None:
        return _json(reply.status, body)
    match fault.kind:
        case FaultKind.ACT_DROP | FaultKind.DROP:
            return _Raw(Broken(), reply.status)
        case FaultKind.ACT_500:
            return _refusal(500)
        case FaultKind.REFUSE:
            return _refusal(fault.status or 400)
        case FaultKind.LOOKUP_503:
            return _refusal(503)
        case FaultKind.THROTTLE:
            return _refusal(429, {"Retry-After": str(round(fault.seconds) or 1)})
        case FaultKind.HTML_502:
            return HTMLResponse(_PROXY_PAGE, status_code=502)
        case FaultKind.HTML_REFUSAL:
            return HTMLResponse(_PROXY_PAGE, status_code=fault.status or 403)
        case FaultKind.CUT_JSON:
            return _Raw(Broken(status=reply.status, body=body, sent=len(body) // 2), reply.status)
        case FaultKind.BROKEN_JSON:
            return _json(reply.status, body[: len(body) // 2])
        case FaultKind.HUGE_BODY:
            return _json(reply.status, padded(reply))
        case FaultKind.SLOW_DRIP:
            dripping = Dripping(status=reply.status, body=body, seconds=fault.seconds)
            return _Raw(dripping, reply.status)
        case _:
            return _json(reply.status, body)


def _json(status: int, body: bytes, headers: dict[str, str] | None = None) -> Response:
    request_id = {"X-Request-Id": secrets.token_hex(8), **(headers or {})}
    return Response(body, status, headers=request_id, media_type="application/json")


def _refusal(status: int, headers: dict[str, str] | None = None) -> Response:
    message = MESSAGES.get(status, f"Status {status}.")
    return _json(status, encode(Reply(status, error_doc(message))), headers)
