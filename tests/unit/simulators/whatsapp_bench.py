"""A product side for the simulator's tests: it keeps every webhook and answers as told."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from fastapi import FastAPI

from simulators.whatsapp import SimulatorConfig, create_app
from simulators.whatsapp.client import WhatsAppSimulatorClient

APP_SECRET = "app-secret"
TOKEN = "token-of-the-test"
PAGE_SECRET = "page-secret"
NUMBER = "100200300400500"
MARIA = "+5511988880001"


@dataclass
class Product:
    """A webhook that answers the next `answers` status codes, then 200."""

    answers: list[int] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    signatures: list[str | None] = field(default_factory=list)
    gets: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, request: httpx.Request) -> httpx.Response:
        """Take one HTTP request of the simulator."""
        if request.method == "GET":
            self.gets.append(dict(request.url.params))
            return httpx.Response(200, text=request.url.params["hub.challenge"])
        self.raw.append(await request.aread())
        self.signatures.append(request.headers.get("x-hub-signature-256"))
        return httpx.Response(self.answers.pop(0) if self.answers else 200)

    @property
    def bodies(self) -> list[Any]:
        """All bodies received, parsed."""
        return [json.loads(raw) for raw in self.raw]

    def values(self) -> list[dict[str, Any]]:
        """All `value` objects received, in order."""
        return [c["value"] for b in self.bodies for e in b["entry"] for c in e["changes"]]

    def messages(self) -> list[dict[str, Any]]:
        """All message objects received, in order."""
        return [m for value in self.values() for m in value.get("messages", ())]

    def statuses(self) -> list[dict[str, Any]]:
        """All status objects received, in order."""
        return [s for value in self.values() for s in value.get("statuses", ())]


@dataclass
class Bench:
    """A simulator in-process, its product, its admin client and a Graph API client."""

    app: FastAPI
    product: Product
    admin: WhatsAppSimulatorClient
    graph: httpx.AsyncClient

    async def send(self, **fields: Any) -> httpx.Response:
        """POST a text to Maria, changed by `fields` (a none removes a key)."""
        body = {
            "messaging_product": "whatsapp",
            "to": MARIA,
            "type": "text",
            "text": {"body": "Olá"},
        } | fields
        body = {key: value for key, value in body.items() if value is not None}
        return await self.graph.post(f"/v26.0/{NUMBER}/messages", json=body)

    async def prompt(self, **fields: Any) -> httpx.Response:
        """POST a prompt with Confirmar and Cancelar to Maria."""
        return await self.send(
            **{"type": "interactive", "text": None, "interactive": interactive()} | fields
        )


def interactive(
    *, body: str = "Gerar Pix de R$ 150,00?", buttons: list[tuple[str, str]] | None = None
) -> dict[str, Any]:
    """Return the typed part of a prompt."""
    pairs = buttons or [("pa:confirm:1", "Confirmar"), ("pa:cancel:1", "Cancelar")]
    replies = [{"type": "reply", "reply": {"id": i, "title": t}} for i, t in pairs]
    return {"type": "button", "body": {"text": body}, "action": {"buttons": replies}}


def config(**changes: Any) -> SimulatorConfig:
    """Return settings with short pauses."""
    values: dict[str, Any] = {
        "webhook_url": "http://product/webhook",
        "app_secret": APP_SECRET,
        "token": TOKEN,
        "page_secret": PAGE_SECRET,
        "phone_number_id": NUMBER,
        "status_delay_seconds": 0.0,
        "retry_initial_seconds": 0.01,
        "retry_max_seconds": 0.05,
    }
    return SimulatorConfig.model_validate(values | changes)


@asynccontextmanager
async def bench(settings: SimulatorConfig | None = None) -> AsyncIterator[Bench]:
    """Start a simulator in-process and stop it at the end."""
    product = Product()
    app = create_app(settings or config(), webhook_transport=httpx.MockTransport(product.handle))
    transport = httpx.ASGITransport(app)
    app.state.simulator.start()
    graph = httpx.AsyncClient(
        base_url="http://graph", transport=transport, headers={"Authorization": f"Bearer {TOKEN}"}
    )
    admin = WhatsAppSimulatorClient("http://graph", PAGE_SECRET, transport=transport)
    try:
        yield Bench(app, product, admin, graph)
    finally:
        await graph.aclose()
        await admin.close()
        await app.state.simulator.close()


def expected_signature(raw: bytes) -> str:
    """Return the signature of these bytes, computed without the simulator's code."""
    return "sha256=" + hmac.new(APP_SECRET.encode(), raw, hashlib.sha256).hexdigest()
