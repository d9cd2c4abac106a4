"""Cutting a connection before a single byte is answered.

ASGI has no message for it, so the application notes the server's transport in the scope and the
fault aborts it. Works under uvicorn; elsewhere it says so instead of pretending.
"""

import asyncio
from typing import Any

from fastapi import FastAPI, Request
from starlette.types import Receive, Scope, Send

_KEY = "simulator.transport"


class DroppableApp(FastAPI):
    """A FastAPI application whose handlers can cut the connection they answer on."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note the transport behind `send` and go on as usual."""
        cycle: Any = getattr(send, "__self__", None)
        scope[_KEY] = getattr(cycle, "transport", None)
        await super().__call__(scope, receive, send)


async def cut(request: Request) -> None:
    """Abort the connection of this request; raises RuntimeError where there is none to abort."""
    transport = request.scope.get(_KEY)
    if not isinstance(transport, asyncio.BaseTransport):
        raise RuntimeError("the 'drop' fault needs uvicorn; this server shows no transport")
    abort = getattr(transport, "abort", transport.close)
    abort()
    await asyncio.sleep(0)


async def wait(request: Request, *, seconds: float) -> bool:
    """Wait, but no longer than the caller does; return whether the caller is still there."""
    ends_at = asyncio.get_running_loop().time() + seconds
    while (left := ends_at - asyncio.get_running_loop().time()) > 0:
        if await request.is_disconnected():
            return False
        await asyncio.sleep(min(left, 0.05))
    return True
