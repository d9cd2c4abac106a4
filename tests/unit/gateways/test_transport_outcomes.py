"""Real sockets: whether a byte may have left decides between NOT_SENT and UNKNOWN."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from domain.outcomes import GatewayResult, Outcome
from gateways.pagarme import PagarmeGateway
from gateways.transport import MAX_ANSWER_BYTES, Lost, NotSent, Timeouts, Wire
from tests.unit.gateways.fakes import KEY, charge_request, order_doc

QUICK = Timeouts(connect=0.3, read=0.3, total=0.8)
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Far:
    """A far side that counts what reached it."""

    def __init__(self, talk: Talk) -> None:
        self.connections = 0
        self.received = b""
        self._talk = talk

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._talk(reader, writer)
        finally:
            writer.close()

    async def read_request(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        self.received += head + await reader.readexactly(length)


@asynccontextmanager
async def far_side(talk: Callable[[Far], Talk]) -> AsyncIterator[tuple[str, Far]]:
    far = Far(lambda reader, writer: talk(far)(reader, writer))
    server = await asyncio.start_server(far.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", far
    finally:
        server.close()
        await server.wait_closed()


def gateway(url: str) -> PagarmeGateway:
    return PagarmeGateway(base_url=url, api_key="sk", recipient_id="re_1", timeouts=QUICK)


async def send(url: str, before_wire: Callable[[], None] = lambda: None) -> GatewayResult:
    return await gateway(url).send(KEY, charge_request(), before_wire=before_wire)


def answering(data: bytes, *, pause: float = 0.0) -> Callable[[Far], Talk]:
    """Read the request, write `data`, wait `pause` seconds, close."""

    def talk(far: Far) -> Talk:
        async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await far.read_request(reader)
            writer.write(data)
            await asyncio.sleep(pause)

        return run

    return talk


def head(length: int, more: str = "") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{more}\r\n".encode()


async def test_a_refused_port_is_not_sent_and_never_fenced() -> None:
    """No connection, no byte: the same key may go again, and the fence did not run."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        calls: list[int] = []
        result = await send(f"http://127.0.0.1:{taken.getsockname()[1]}", lambda: calls.append(1))
    assert result.outcome is Outcome.NOT_SENT
    assert result.evidence["exception"] == "ConnectError"
    assert calls == []


async def test_an_unknown_host_is_not_sent() -> None:
    """A name that does not resolve sends nothing."""
    wire = Wire(base_url="http://aval.invalid", credentials={}, timeouts=QUICK)
    trip = await wire.send(key=KEY, method="POST", path="/", headers={}, body="")
    assert isinstance(trip, NotSent)


async def test_a_full_backlog_times_out_as_not_sent() -> None:
    """A connection that never stands is not sent, by timeout."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(8)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        await asyncio.sleep(0.05)
        result = await send(f"http://127.0.0.1:{address[1]}")
        for filler in fillers:
            filler.close()
    assert result.outcome is Outcome.NOT_SENT
    assert result.evidence["exception"] == "ConnectTimeout"


def closing_at_once(_far: Far) -> Talk:
    async def run(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        return

    return run


async def test_accept_then_close_is_unknown() -> None:
    """The request was handed to a socket; that the peer closed does not say it was not read."""
    async with far_side(closing_at_once) as (url, _):
        result = await send(url)
    assert result.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.1 2",
        b"garbage\r\n\r\n",
        head(1000) + b'{"id": "or_1"',
        head(10, "Transfer-Encoding: chunked\r\n") + b"zz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        head(5, "Content-Encoding: gzip\r\n") + b"\x1f\x8b\x08\x00\x00",
    ],
)
async def test_a_broken_answer_is_unknown(data: bytes) -> None:
    """Nothing, a cut line, garbage, a cut body, bad chunks, endless headers, compression."""
    async with far_side(answering(data)) as (url, far):
        result = await send(url)
    assert result.outcome is Outcome.UNKNOWN
    assert far.received.count(b"POST ") == 1


async def test_accept_then_stall_is_unknown_by_timeout() -> None:
    """No answer within the read timeout: it may have been done."""
    async with far_side(answering(b"", pause=1.0)) as (url, _):
        result = await send(url)
    assert result.outcome is Outcome.UNKNOWN
    assert result.evidence["exception"] == "ReadTimeout"


def dripping(far: Far) -> Talk:
    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await far.read_request(reader)
        writer.write(head(1000))
        for _ in range(20):
            writer.write(b" ")
            await asyncio.sleep(0.1)

    return run


async def test_a_dripping_answer_is_cut_by_the_wall_clock() -> None:
    """Each byte renews the read timeout; the total does not renew."""
    async with far_side(dripping) as (url, _):
        before = asyncio.get_running_loop().time()
        result = await send(url)
        took = asyncio.get_running_loop().time() - before
    assert result.outcome is Outcome.UNKNOWN
    assert result.evidence["exception"] == "TimeoutError"
    assert took < 1.5


async def test_an_answer_beyond_the_cap_is_unknown() -> None:
    """A huge body is not read into memory, and proves nothing."""
    body = b" " * (MAX_ANSWER_BYTES + 1)
    async with far_side(answering(head(len(body)) + body)) as (url, _):
        result = await send(url)
    assert result.outcome is Outcome.UNKNOWN
    assert result.evidence["exception"] == "AnswerTooLargeError"


async def test_a_compressed_answer_is_not_unpacked() -> None:
    """We asked for none: unpacking has no bound, so the answer is not read at all."""
    body = gzip.compress(httpx.Response(200, json=order_doc()).content)
    data = head(len(body), "Content-Encoding: gzip\r\n") + body
    async with far_side(answering(data)) as (url, _):
        result = await send(url)
    assert result.outcome is Outcome.UNKNOWN
    assert result.evidence["exception"] == "AnswerEncodedError"


async def test_a_redirect_is_not_followed() -> None:
    """A redirect would send the same act to another place; it is unknown instead."""
    moved = b"HTTP/1.1 307 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    async with far_side(answering(moved)) as (url, far):
        result = await send(url)
    assert result.outcome is Outcome.UNKNOWN
    assert far.connections == 1


async def test_the_fence_runs_when_the_connection_stands_and_before_any_byte() -> None:
    """At the time of `before_wire` the far side is connected and has read nothing; once only."""
    loop = asyncio.get_running_loop()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        listener.setblocking(False)
        at_fence: list[bytes | None] = []

        def before_wire() -> None:
            # Read from the accepted connection without giving the loop a turn.
            connection, _ = listener.accept()
            connection.setblocking(False)
            try:
                at_fence.append(connection.recv(1))
            except BlockingIOError:
                at_fence.append(None)
            connection.close()

        result = await send(f"http://127.0.0.1:{listener.getsockname()[1]}", before_wire)
    assert loop.is_running()
    assert at_fence == [None]
    assert result.outcome is Outcome.UNKNOWN


class FenceLostError(Exception):
    pass


@pytest.mark.parametrize("error", [FenceLostError, TimeoutError, httpx.ReadError("x"), ValueError])
async def test_a_raising_fence_sends_nothing(error: type[Exception] | Exception) -> None:
    """If the fence raises, whatever it raises, not one byte arrives and the result is NOT_SENT."""

    def before_wire() -> None:
        raise error

    received: list[bytes] = []

    def listening(_far: Far) -> Talk:
        async def run(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            received.append(await reader.read())

        return run

    async with far_side(listening) as (url, far):
        result = await send(url, before_wire)
        await asyncio.sleep(0.05)
    assert result.outcome is Outcome.NOT_SENT
    assert result.reason == "refused before the wire"
    assert far.connections == 1
    assert received == [b""]


async def test_cancellation_passes_through() -> None:
    """A cancelled send raises; it is never turned into a result."""
    async with far_side(answering(b"", pause=0.3)) as (url, _):
        task = asyncio.create_task(send(url))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("key", ["", KEY.upper(), KEY + "\n", KEY[:-1], "g" * 32, KEY + KEY])
async def test_a_malformed_key_is_not_sent(key: str) -> None:
    """Only 32 lower-case hex characters reach a header; a trailing newline does not slip in."""
    async with far_side(answering(head(0))) as (url, far):
        wire = Wire(base_url=url, credentials={}, timeouts=QUICK)
        trip = await wire.send(key=key, method="POST", path="/", headers={}, body="")
    assert isinstance(trip, NotSent)
    assert far.connections == 0


async def test_a_header_that_cannot_be_encoded_is_not_sent() -> None:
    """A local bug is not sent."""
    async with far_side(answering(head(0))) as (url, far):
        wire = Wire(base_url=url, credentials={}, timeouts=QUICK)
        trip = await wire.send(key=KEY, method="POST", path="/", headers={"X": "é\r\n"}, body="")
    assert isinstance(trip, NotSent)
    assert far.received == b""


async def test_an_answer_without_the_request_event_is_lost() -> None:
    """If the library ever stops announcing requests, nothing counts as fenced or not sent."""
    wire = Wire(
        base_url="http://127.0.0.1:1",
        credentials={},
        transport=httpx.MockTransport(
            lambda _request: httpx.Response(200, stream=httpx.ByteStream(b"{}"))
        ),
    )
    trip = await wire.send(key=KEY, method="POST", path="/", headers={}, body="{}")
    assert isinstance(trip, Lost)


async def test_a_renamed_event_still_counts_as_the_wire() -> None:
    """Whatever is not about making the connection is the request."""

    class Renamed(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            trace = request.extensions["trace"]
            await trace("connection.connect_tcp.complete", {})
            await trace("http3.something_new", {})
            raise httpx.ConnectError("late")

    calls: list[int] = []
    wire = Wire(base_url="http://127.0.0.1:1", credentials={}, transport=Renamed())
    trip = await wire.send(
        key=KEY,
        method="POST",
        path="/",
        headers={},
        body="{}",
        before_wire=lambda: calls.append(1),
    )
    assert isinstance(trip, Lost)
    assert calls == [1]


async def test_a_second_trip_of_one_request_is_stopped() -> None:
    """A library that retries by itself is stopped at the wire, and the outcome is unknown."""
    trips: list[str] = []

    class Retrying(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            for number in ("first", "second"):
                await request.extensions["trace"]("http11.send_request_headers.started", {})
                trips.append(number)
            return httpx.Response(200, stream=httpx.ByteStream(b"{}"))

    wire = Wire(base_url="http://127.0.0.1:1", credentials={}, transport=Retrying())
    trip = await wire.send(key=KEY, method="POST", path="/", headers={}, body="{}")
    assert isinstance(trip, Lost)
    assert trips == ["first"]


async def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the machine may put somebody between us and the provider."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with far_side(answering(head(2) + b"{}")) as (url, far):
        await send(url)
    assert far.received.startswith(b"POST /core/v5/orders HTTP/1.1")


async def test_a_good_answer_over_a_real_socket_is_created() -> None:
    """The plain case, byte for byte over a socket."""
    body = httpx.Response(200, json=order_doc()).content
    calls: list[int] = []
    async with far_side(answering(head(len(body)) + body)) as (url, far):
        result = await send(url, lambda: calls.append(1))
    assert result.outcome is Outcome.CREATED
    assert far.received.endswith(charge_request().body.encode("utf-8"))
    assert calls == [1]
