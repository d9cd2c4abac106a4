"""A simulator in this process, spoken to as a stranger would: plain HTTP and JSON."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from simulators.payments import PaymentsSimulatorConfig, create_app

CONFIG = PaymentsSimulatorConfig(api_key="sk", admin_secret="admin")
HEADERS = {
    "Authorization": "Basic " + base64.b64encode(b"sk:").decode(),
    "X-Sim-Secret": "admin",
}
KEY = "a" * 32


@asynccontextmanager
async def provider(
    config: PaymentsSimulatorConfig = CONFIG, headers: dict[str, str] | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a fresh simulator."""
    app = create_app(config)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://sim",
            headers=HEADERS if headers is None else headers,
        ) as http,
    ):
        yield http


def order(amount: int = 15_000, **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "code": KEY,
        "items": [{"amount": amount, "description": "Corte", "quantity": 1}],
        "customer": {"name": "Cliente", "document": "12345678909"},
        "payments": [{"payment_method": "pix", "pix": {"expires_in": 600}}],
    }
    return {**body, **changes}


async def create(
    http: httpx.AsyncClient, key: str | None = KEY, amount: int = 15_000
) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await http.post("/core/v5/orders", json=order(amount), headers=headers)


async def counters(http: httpx.AsyncClient) -> dict[str, Any]:
    found: dict[str, Any] = (await http.get("/admin/counters")).json()
    return found
