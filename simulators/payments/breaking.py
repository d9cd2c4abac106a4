"""Breaks an answer on the wire: closed, cut, padded or dripping.

A closed connection is what ASGI cannot say, so the outermost `send` of uvicorn is asked for its
socket; where there is none (an in-process client), the break is an exception.
"""

import asyncio
import json
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from simulators.payments.replies import Reply

RAW_SEND = "simulator.raw_send"
_HUGE = 3 * 1024 * 1024
_DRIPS = 20


class Broken:
    """An ASGI response that ends in a closed connection after `sent` bytes of `body`.

    `sent` None: not even a status line.
    """

    def __init__(self, *, status: int = 200, body: bytes = b"", sent: int | None = None) -> None:
        """Take what is announced and how much of it really goes."""
        self._status = status
        self._body = body
        self._sent = sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the part, then close."""
        transport = getattr(getattr(scope[RAW_SEND], "__self__", None), "transport", None)
        if transport is None:
            raise ConnectionResetError("the simulator drops this connection")
        if self._sent is None:
            transport.abort()
            # Two turns of the loop let uvicorn learn that the connection is gone.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        else:
            await send(start(self._status, len(self._body), "application/json"))
            part = self._body[: self._sent]
            await send({"type": "http.response.body", "body": part, "more_body": True})
            transport.close()
            # The part has to be flushed before the connection is gone.
            await asyncio.sleep(0.01)


class Dripping:
    """An ASGI response that spreads its body over `seconds`."""

    def __init__(self, *, status: int, body: bytes, seconds: float) -> None:
        """Take the whole answer and how long it takes."""
        self._status = status
        self._body = body
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send piece by piece."""
        await send(start(self._status, len(self._body), "application/json"))
        size = max(1, -(-len(self._body) // _DRIPS))
        for at in range(0, len(self._body), size):
            await asyncio.sleep(self._seconds / _DRIPS)
            part = self._body[at : at + size]
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def start(status: int, length: int, content_type: str) -> Message:
    """Return the ASGI message that opens an answer of `length` bytes."""
    headers = [
        (b"content-type", content_type.encode("ascii")),
        (b"content-length", str(length).encode("ascii")),
    ]
    return {"type": "http.response.start", "status": status, "headers": headers}


def encode(reply: Reply) -> bytes:
    """Return the reply's JSON."""
    return json.dumps(reply.doc, ensure_ascii=False).encode("utf-8")


def padded(reply: Reply) -> bytes:
    """Return the reply's JSON with 3 MiB of harmless padding; still valid JSON."""
    doc: dict[str, Any] = {**reply.doc, "padding": "x" * _HUGE}
    return json.dumps(doc, ensure_ascii=False).encode("utf-8")
