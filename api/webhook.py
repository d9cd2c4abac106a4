"""The webhook: verify, store, ring, answer. 200 means stored; anything else brings it again.

The signature is checked over the raw bytes before anything is parsed. A database that is away is
503: Meta keeps and redelivers for seven days. Temporal that is away is 200: the rows are rung later
(design §7).
"""

import asyncio
import logging
from datetime import timedelta

import asyncpg
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from temporalio.client import Client

from channels.whatsapp.buttons import parse_button_id
from channels.whatsapp.parse import parse_webhook
from channels.whatsapp.signature import handshake, verify
from domain.inbound import Webhook as InboundWebhook
from settings import Settings
from store import inbox
from store.connection import Pool
from store.ringing import Ring
from workflows.ringing import ring_all

log = logging.getLogger(__name__)

MOST_BYTES = 3 * 1024 * 1024  # Meta's own limit of a body (facts/whatsapp.md §1.3)
STORE_WITHIN_S = 10.0  # Meta waits longer than this, and redelivers what was not answered
DEADLOCK_TRIES = 3  # two re-cut batches may meet; the loser only has to come again

UNAVAILABLE = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    asyncpg.QueryCanceledError,
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.AdminShutdownError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.DiskFullError,
)


class Webhook:
    """The endpoint of WhatsApp. `path` is where Meta calls."""

    path = "/webhooks/whatsapp"

    def __init__(self, settings: Settings, pool: Pool, client: Client) -> None:
        self._settings, self._pool, self._client = settings, pool, client

    def router(self) -> APIRouter:
        """The two routes: the handshake and the deliveries."""
        router = APIRouter()
        router.add_api_route(self.path, self.handshake, methods=["GET"])
        router.add_api_route(self.path, self.deliver, methods=["POST"])
        return router

    async def handshake(self, request: Request) -> Response:
        """Answer Meta's verification: the bare challenge, or 403."""
        challenge = handshake(
            dict(request.query_params), self._settings.whatsapp_verify_token.get_secret_value()
        )
        if challenge is None:
            return PlainTextResponse("forbidden", status_code=403)
        return PlainTextResponse(challenge)

    async def deliver(self, request: Request) -> Response:
        """Store a signed delivery and ring for it."""
        body = await _read_capped(request)
        if body is None:
            return PlainTextResponse("too large", status_code=413)
        headers = request.headers.getlist("x-hub-signature-256")
        header = headers[0] if len(headers) == 1 else None
        if not verify(body, header, self._settings.app_secrets):
            log.warning("webhook with a bad signature")
            return PlainTextResponse("bad signature", status_code=401)
        try:
            async with asyncio.timeout(STORE_WITHIN_S):
                rings = await self._store(body)
        except UNAVAILABLE as error:
            log.error("webhook not stored: %s", type(error).__name__)
            return PlainTextResponse("try again", status_code=503)
        await ring_all(self._client, rings)
        return PlainTextResponse("ok")

    async def _store(self, body: bytes) -> list[Ring]:
        webhook = parse_webhook(body)
        for _ in range(DEADLOCK_TRIES - 1):
            try:
                return await self._receive(body, webhook)
            except asyncpg.DeadlockDetectedError:
                continue
        return await self._receive(body, webhook)

    async def _receive(self, body: bytes, webhook: InboundWebhook) -> list[Ring]:
        async with self._pool.acquire() as connection:
            return await inbox.receive(
                connection,
                body=body,
                webhook=webhook,
                parse_button=parse_button_id,
                pause=timedelta(hours=self._settings.pause_hours),
            )


async def _read_capped(request: Request) -> bytes | None:
    """The body, or None as soon as it is over the limit: the length header may lie."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)
