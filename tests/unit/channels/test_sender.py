"""What the sender may claim. The far side counts: NOT_SENT means that it received nothing."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from channels.whatsapp.outcome import Refusal
from channels.whatsapp.sender import SendOutcome, SendResult, WhatsAppSender
from domain.outbound import Recipient, TextMessage
from tests.unit.channels.envelopes import ANA, NUMBER

OK = json.dumps({"messages": [{"id": "wamid.X"}]}).encode()


def http(status: int, body: bytes, *headers: str) -> bytes:
    """An HTTP/1.1 answer that keeps its connection open unless told otherwise."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass
class FarSide:
    """A TCP server that counts connections and complete requests, then behaves as told."""

    behave: Callable[[asyncio.StreamWriter], Awaitable[None]]
    connections: int = 0
    received: list[bytes] = field(default_factory=list)
    bytes_seen: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: read whole requests until the other side stops."""
        self.connections += 1
        try:
            while head := await self._head(reader):
                size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.received.append(head + await reader.readexactly(size))
                await self.behave(writer)
        finally:
            writer.close()

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            head = b""
            self.bytes_seen += len(error.partial)
        self.bytes_seen += len(head)
        return head


@asynccontextmanager
async def far_side(far: FarSide) -> AsyncIterator[str]:
    """The base URL of `far`, listening on a free port."""
    server = await asyncio.start_server(far.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await asyncio.sleep(0)


def answering(answer: bytes) -> FarSide:
    """A far side that answers every request with these bytes."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return FarSide(behave)


async def send(
    base_url: str, *, before_wire: Callable[[], None] | None = None, total: float = 2.0
) -> SendResult:
    """One text to Ana with short time-outs."""
    async with WhatsAppSender(
        base_url=base_url,
        version="v26.0",
        token="secret-token",
        connect_seconds=0.5,
        read_seconds=0.3,
        total_seconds=total,
    ) as sender:
        return await sender.send(
            phone_number_id=NUMBER,
            recipient=Recipient(wa_id=ANA),
            message=TextMessage(text="Olá 🙂"),
            callback_data="turn:1:reply:0",
            before_wire=before_wire,
        )


async def test_accepted() -> None:
    """One POST to Meta's path with the token; before_wire ran once, before any byte arrived."""
    far = answering(http(200, OK))
    seen: list[int] = []
    async with far_side(far) as url:
        result = await send(url, before_wire=lambda: seen.append(far.bytes_seen))
    assert result == SendResult(outcome=SendOutcome.ACCEPTED, wamid="wamid.X")
    assert seen == [0]
    (request,) = far.received
    assert request.startswith(f"POST /v26.0/{NUMBER}/messages HTTP/1.1\r\n".encode())
    assert b"Authorization: Bearer secret-token\r\n" in request
    body = json.loads(request.split(b"\r\n\r\n")[1])
    assert (body["to"], body["biz_opaque_callback_data"]) == (f"+{ANA}", "turn:1:reply:0")


async def test_before_wire_forbids() -> None:
    """If before_wire raises, not one byte of the request leaves."""

    def forbid() -> None:
        raise RuntimeError("fence lost")

    far = answering(http(200, OK))
    async with far_side(far) as url:
        result = await send(url, before_wire=forbid)
        await asyncio.sleep(0.05)
    assert result.outcome is SendOutcome.NOT_SENT_RETRY
    assert result.retry_after is not None
    assert "before_wire refused: RuntimeError" in result.detail
    assert (far.connections, far.received, far.bytes_seen) == (1, [], 0)


async def test_refused_connection() -> None:
    """Nobody listens: certainly not sent, and before_wire was never asked."""
    async with far_side(answering(b"")) as url:
        pass
    called: list[int] = []
    result = await send(url, before_wire=lambda: called.append(1))
    assert (result.outcome, called) == (SendOutcome.NOT_SENT_RETRY, [])


async def test_silence_before_tls() -> None:
    """A far side that never finishes TLS got no request: certainly not sent."""
    async with far_side(answering(b"")) as url:
        result = await send(url.replace("http:", "https:"))
    assert result.outcome is SendOutcome.NOT_SENT_RETRY


async def hang(writer: asyncio.StreamWriter) -> None:
    """Takes the request and says nothing."""
    await asyncio.sleep(0.6)


async def reset(writer: asyncio.StreamWriter) -> None:
    """Takes the request and drops the connection."""
    writer.transport.abort()


async def trickle(writer: asyncio.StreamWriter) -> None:
    """Answers a byte at a time, for longer than the whole call may take."""
    for byte in http(200, OK):
        writer.write(bytes([byte]))
        await asyncio.sleep(0.05)


async def half(writer: asyncio.StreamWriter) -> None:
    """Dies in the middle of a refusal."""
    writer.write(http(400, b'{"error":{"code":131047}}')[:-5])
    writer.close()


@pytest.mark.parametrize("behave", [hang, reset, trickle, half])
async def test_lost_after_the_wire(
    behave: Callable[[asyncio.StreamWriter], Awaitable[None]],
) -> None:
    """The far side has the request and we have no whole answer: unknown, and sent only once."""
    far = FarSide(behave)
    async with far_side(far) as url:
        result = await send(url, total=0.5)
        await asyncio.sleep(0.15)
    assert result.outcome is SendOutcome.UNKNOWN
    assert len(far.received) == 1


async def test_own_connection_for_every_send() -> None:
    """Also with an injected client that would keep connections alive: none is used twice."""
    far = answering(http(200, OK, "Connection: keep-alive"))
    async with far_side(far) as url, httpx.AsyncClient(trust_env=False) as client:
        sender = WhatsAppSender(base_url=url, version="v26.0", token="t", client=client)
        for _ in range(3):
            result = await sender.send(
                phone_number_id=NUMBER,
                recipient=Recipient(wa_id=ANA),
                message=TextMessage(text="oi"),
                callback_data="k",
            )
            assert result.outcome is SendOutcome.ACCEPTED
        await sender.aclose()
        assert not client.is_closed
    assert (far.connections, len(far.received)) == (3, 3)


async def test_no_redirects() -> None:
    """A redirect is no answer of Meta's and is not followed with our token."""
    other = answering(http(200, OK))
    moved = answering(b"")
    async with far_side(other) as elsewhere, far_side(moved) as url:
        moved.behave = answering(http(307, b"", f"Location: {elsewhere}/x")).behave
        result = await send(url)
    assert len(moved.received) == 1
    assert result.outcome is SendOutcome.UNKNOWN
    assert other.connections == 0


def client_answering(status: int, body: bytes, **headers: str) -> httpx.AsyncClient:
    """A client whose far side is a function; it tells the trace event like a real transport."""

    async def handler(request: httpx.Request) -> httpx.Response:
        await request.extensions["trace"]("http11.send_request_headers.started", {})
        return httpx.Response(status, content=body, headers=headers)

    return httpx.AsyncClient(transport=httpx.MockTransport(handler))


async def judged(status: int, body: bytes, **headers: str) -> SendResult:
    """The result for an answer."""
    async with client_answering(status, body, **headers) as client:
        sender = WhatsAppSender(
            base_url="https://meta.invalid", version="v26.0", token="t", client=client
        )
        return await sender.send(
            phone_number_id=NUMBER,
            recipient=Recipient(wa_id=ANA),
            message=TextMessage(text="oi"),
            callback_data="k",
        )


def error(code: object) -> bytes:
    """Meta's error shape."""
    return json.dumps({"error": {"code": code, "message": "x", "fbtrace_id": "y"}}).encode()


@pytest.mark.parametrize(
    ("status", "code", "outcome", "reason"),
    [
        (400, 131047, SendOutcome.NOT_SENT_FINAL, Refusal.WINDOW),
        (400, 131026, SendOutcome.NOT_SENT_FINAL, Refusal.RECIPIENT),
        (400, 131030, SendOutcome.NOT_SENT_FINAL, Refusal.RECIPIENT),
        (401, 190, SendOutcome.NOT_SENT_FINAL, Refusal.AUTH),
        (403, 200, SendOutcome.NOT_SENT_FINAL, Refusal.AUTH),
        (403, 299, SendOutcome.NOT_SENT_FINAL, Refusal.AUTH),
        (500, 131045, SendOutcome.NOT_SENT_FINAL, Refusal.AUTH),
        (400, 100, SendOutcome.NOT_SENT_FINAL, Refusal.BUG),
        (400, 132012, SendOutcome.NOT_SENT_FINAL, Refusal.BUG),
        (400, 131049, SendOutcome.NOT_SENT_FINAL, Refusal.LONG_WAIT),
        (400, 999999, SendOutcome.NOT_SENT_FINAL, Refusal.UNLISTED),
        (500, 999999, SendOutcome.UNKNOWN, None),
        (200, 999999, SendOutcome.UNKNOWN, None),
        (400, 131056, SendOutcome.NOT_SENT_RETRY, None),
        (500, 131016, SendOutcome.NOT_SENT_RETRY, None),
        (503, 133004, SendOutcome.NOT_SENT_RETRY, None),
        (429, 130429, SendOutcome.NOT_SENT_RETRY, None),
        (429, 999999, SendOutcome.NOT_SENT_RETRY, None),
        (500, 1, SendOutcome.UNKNOWN, None),
        (400, 1, SendOutcome.UNKNOWN, None),
        (503, 2, SendOutcome.UNKNOWN, None),
        (500, 131000, SendOutcome.UNKNOWN, None),
    ],
)
async def test_codes(status: int, code: int, outcome: SendOutcome, reason: Refusal | None) -> None:
    """The code decides, not the HTTP status; with a 5xx only the table promises NOT_SENT."""
    result = await judged(status, error(code))
    assert (result.outcome, result.reason, result.error_code) == (outcome, reason, code)
    assert (result.retry_after is not None) == (outcome is SendOutcome.NOT_SENT_RETRY)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b""),
        (200, b"{}"),
        (200, b'{"messages":[]}'),
        (200, b'{"messages":[{"id":""}]}'),
        (200, b'{"messages":[{"id":7}]}'),
        (200, b"<html>ok</html>"),
        (200, b"[" * 100_000),
        (200, b" " * 300_000 + OK),
        (301, OK),
        (400, b"<html>proxy</html>"),
        (403, b""),
        (404, b'{"error":"not found"}'),
        (400, b'{"error":{"code":"131047"}}'),
        (400, b'{"error":{"code":true}}'),
        (500, OK),
        (502, b"<html>bad gateway</html>"),
    ],
)
async def test_not_metas_shape(status: int, body: bytes) -> None:
    """A proxy's page or a 200 without an id proves nothing, whatever its status."""
    assert (await judged(status, body)).outcome is SendOutcome.UNKNOWN


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("90", 90), ("1", 30), ("-5", 30), ("nan", 30), ("1e9", 3600), ("Mon, 01 Jan", 30)],
)
async def test_retry_after(header: str, seconds: float) -> None:
    """A 429 waits as long as asked, within our floor of 30 s and a ceiling of an hour."""
    result = await judged(429, b"", **{"Retry-After": header})
    assert (result.outcome, result.retry_after) == (SendOutcome.NOT_SENT_RETRY, seconds)


async def test_transport_without_trace() -> None:
    """If a transport tells nothing, a lost answer is unknown; only a failed connection is not."""

    def losing(kind: type[httpx.TransportError]) -> httpx.AsyncClient:
        def handler(request: httpx.Request) -> httpx.Response:
            raise kind("lost")

        return httpx.AsyncClient(transport=httpx.MockTransport(handler))

    outcomes = {}
    for kind in (httpx.ReadTimeout, httpx.ConnectError, httpx.ConnectTimeout):
        async with losing(kind) as client:
            sender = WhatsAppSender(
                base_url="https://meta.invalid", version="v26.0", token="t", client=client
            )
            result = await sender.mark_read(phone_number_id=NUMBER, wamid="w", typing=False)
            outcomes[kind] = result.outcome
    assert outcomes == {
        httpx.ReadTimeout: SendOutcome.UNKNOWN,
        httpx.ConnectError: SendOutcome.NOT_SENT_RETRY,
        httpx.ConnectTimeout: SendOutcome.NOT_SENT_RETRY,
    }


async def test_message_that_does_not_fit() -> None:
    """An over-long text is refused before the wire, with its length and without its words."""
    far = answering(http(200, OK))
    async with (
        far_side(far) as url,
        WhatsAppSender(base_url=url, version="v26.0", token="t") as sender,
    ):
        result = await sender.send(
            phone_number_id=NUMBER,
            recipient=Recipient(wa_id=ANA),
            message=TextMessage(text="segredo" * 1000),
            callback_data="k",
        )
    assert (result.outcome, result.reason) == (SendOutcome.NOT_SENT_FINAL, Refusal.BUG)
    assert "7000" in result.detail
    assert "segredo" not in result.detail
    assert far.connections == 0


@pytest.mark.parametrize("number", ["", "../me", "1?x=1", "1\n"])
async def test_number_that_is_no_path(number: str) -> None:
    """A number id cannot lead the token to another path."""
    async with WhatsAppSender(base_url="http://x.invalid", version="v26.0", token="t") as sender:
        result = await sender.mark_read(phone_number_id=number, wamid="w", typing=True)
    assert (result.outcome, result.reason) == (SendOutcome.NOT_SENT_FINAL, Refusal.BUG)


async def test_mark_read() -> None:
    """Read with typing: Meta's `success` is enough, there is no id."""
    far = answering(http(200, b'{"success":true}'))
    async with (
        far_side(far) as url,
        WhatsAppSender(base_url=url, version="v26.0", token="t") as sender,
    ):
        result = await sender.mark_read(phone_number_id=NUMBER, wamid="w", typing=True)
    assert result.outcome is SendOutcome.ACCEPTED
    assert b'"typing_indicator":{"type":"text"}' in far.received[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "graph.example"},
        {"version": "26"},
        {"version": "v26.0\n"},
        {"token": ""},
        {"token": "se cret"},
    ],
)
def test_settings_that_cannot_work(wrong: dict[str, str]) -> None:
    """A wrong setting does not start, and the token is never quoted."""
    right = {"base_url": "https://x.invalid", "version": "v26.0", "token": "t"}
    with pytest.raises(ValueError, match=r"must|needs") as caught:
        WhatsAppSender(**{**right, **wrong})  # type: ignore[arg-type]  # one dict of texts for all
    assert "se cret" not in str(caught.value)


async def test_cancellation_is_not_swallowed() -> None:
    """A cancelled send tells nothing, so that its caller leaves the row unknown."""
    async with far_side(FarSide(hang)) as url:
        call = asyncio.create_task(send(url))
        await asyncio.sleep(0.1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
