"""A tiny HTTP receiver for AVAL_ALERT_URL that counts what is posted to it, and can be down."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request, Response

from tests.harness.serving import serving


@dataclass
class Receiver:
    """`got`: the bodies that were taken, in order. `status`: what is answered; only 2xx takes.
    `stall_s`: how long it lets the caller wait."""

    url: str = ""
    status: int = 200
    stall_s: float = 0.0
    tries: int = 0
    got: list[dict[str, Any]] = field(default_factory=list)

    def of(self, action: str) -> list[dict[str, Any]]:
        """The alerts of an action."""
        return [one for one in self.got if one["action_id"] == action]


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """A receiver on a port of its own, behind a path with a token."""
    receiver = Receiver()
    app = FastAPI()

    @app.post("/services/T0/secret-token-of-a-test")
    async def take(request: Request) -> Response:
        receiver.tries += 1
        status = receiver.status
        body = await request.json()
        await asyncio.sleep(receiver.stall_s)
        if 200 <= status < 300:
            receiver.got.append(body)
        return Response("ok", status_code=status)

    async with serving(app) as base:
        receiver.url = f"{base}/services/T0/secret-token-of-a-test"
        yield receiver
