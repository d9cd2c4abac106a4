"""One path for every request to the provider: journal, fault, act, answer."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Message, Receive, Scope, Send

from simulators.payments.breaking import Broken, Dripping, encode, padded
from simulators.payments.dialects import Dialect
from simulators.payments.faults import Fault, FaultBook, FaultKind
from simulators.payments.journal import Entry, Journal
from simulators.payments.provider import Act, Provider
from simulators.payments.replies import RefusedError, Reply, Twist

_PROXY_PAGE = "<html><head><title>502 Bad Gateway</title></head><body>proxy</body></html>"


class Bank:
    """What all dialects share: provider, faults, journal."""

    def __init__(self, provider: Provider) -> None:
        """Start with an empty journal and no faults."""
        self.provider = provider
        self.faults = FaultBook()
        self.journal = Journal()
        self.keys_under_way: set[str] = set()


class Desk:
    """Where one dialect is served."""

    def __init__(self, bank: Bank, dialect: Dialect) -> None:
        """Take what is shared, and the dialect that is spoken here."""
        self.provider = bank.provider
        self._bank = bank
        self._dialect = dialect
        self._rule = dialect.key_rule(bank.provider.config)

    async def write(
        self,
        request: Request,
        act: Callable[[str | None, bytes], Act],
        *,
        key_in: Callable[[bytes], str | None] | None = None,
    ) -> Response:
        """Serve a request with an effect; `act` gets the key and the body.

        The key is the header Idempotency-Key, or what `key_in` finds in the body (or in the path,
        which it may close over).
        """
        body = await request.body()
        key = request.headers.get("idempotency-key") if key_in is None else key_in(body)
        mark = hashlib.sha256(f"{request.method} {request.url.path} ".encode() + body).hexdigest()

        def run(twist: Twist) -> Reply:
            return self.provider.execute(key, mark, twist, act(key, body), self._rule)

        return await self._serve(request, key, body, run)

    async def read(self, request: Request, show: Callable[[], Reply]) -> Response:
        """Serve a request without effect."""
        return await self._serve(request, None, await request.body(), lambda _twist: show())

    async def _serve(
        self, request: Request, key: str | None, body: bytes, run: Callable[[Twist], Reply]
    ) -> Response:
        path = request.url.path
        target = f"{path}?{request.url.query}" if request.url.query else path
        journal, now = self._bank.journal, self.provider.state.now()
        entry = journal.begin(at=now, method=request.method, path=target, key=key, body=body)
        if key in self._bank.keys_under_way and self._rule is not None and self._rule.busy:
            return _Journaled(self._wire(self._rule.busy), journal, entry)
        fault = self._bank.faults.take(method=request.method, path=path, key=key)
        entry.fault = None if fault is None else fault.kind.value
        under_way = set() if key is None else {key}
        self._bank.keys_under_way |= under_way
        try:
            response = await self._answer(request, entry, fault, run)
        except BaseException:
            journal.end(entry)
            raise
        finally:
            self._bank.keys_under_way -= under_way
        return _Journaled(response, journal, entry)

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
        return self._wire(reply) if fault is None else self._broken(reply, fault)

    def _run(self, request: Request, run: Callable[[Twist], Reply], twist: Twist) -> Reply:
        if not self._dialect.authorized(request, self.provider.config):
            return self._dialect.refusal(401)
        try:
            return run(twist)
        except RefusedError as refused:
            return refused.reply

    def _broken(self, reply: Reply, fault: Fault) -> Response:
        body = encode(reply)
        match fault.kind:
            case FaultKind.ACT_DROP | FaultKind.DROP:
                return _Raw(Broken(), reply.status)
            case FaultKind.ACT_500:
                return self._refusal(500)
            case FaultKind.REFUSE:
                return self._refusal(fault.status or 400)
            case FaultKind.LOOKUP_503:
                return self._refusal(503)
            case FaultKind.THROTTLE:
                return self._refusal(429, {"Retry-After": str(round(fault.seconds) or 1)})
            case FaultKind.HTML_502:
                return HTMLResponse(_PROXY_PAGE, status_code=502)
            case FaultKind.HTML_REFUSAL:
                return HTMLResponse(_PROXY_PAGE, status_code=fault.status or 403)
            case FaultKind.CUT_JSON:
                cut = Broken(status=reply.status, body=body, sent=len(body) // 2)
                return _Raw(cut, reply.status)
            case FaultKind.BROKEN_JSON:
                return self._wire(reply, body[: len(body) // 2])
            case FaultKind.HUGE_BODY:
                return self._wire(reply, padded(reply))
            case FaultKind.SLOW_DRIP:
                dripping = Dripping(status=reply.status, body=body, seconds=fault.seconds)
                return _Raw(dripping, reply.status)
            case _:
                return self._wire(reply)

    def _refusal(self, status: int, headers: dict[str, str] | None = None) -> Response:
        return self._wire(replace(self._dialect.refusal(status), headers=headers or {}))

    def _wire(self, reply: Reply, body: bytes | None = None) -> Response:
        return Response(
            encode(reply) if body is None else body,
            reply.status,
            headers={**self._dialect.headers(reply), **reply.headers},
            media_type="application/json",
        )


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
        crash=kind is FaultKind.ACT_500,
        alter=kind is FaultKind.ALTER,
        ignore_key=kind is FaultKind.IGNORE_KEY,
        lookup_lag=fault.seconds if kind is FaultKind.LOOKUP_LAG else 0.0,
        settle_after=fault.seconds if kind is FaultKind.SETTLE_SLOWLY else 0.0,
    )
