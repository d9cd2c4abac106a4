"""The world of the store's attacks with an account at Asaas, and the API's endpoint beside it."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import httpx
from fastapi import FastAPI

from api.withdrawals import Withdrawals
from domain.outcomes import ProviderRequest
from gateways.contract import Gateway
from tests.integration.store.kit import ADMIN, API_KEY, World

TOKEN_VARIABLE = "AVAL_ASAAS_WITHDRAWAL_TOKEN"
TOKEN = "token-of-a-test"
PIX_KEY = "loja@simulador.example"
PATH = "/providers/asaas/demo/withdrawal-validation"
APPROVED = {"status": "APPROVED"}
JOAO = "52912345634"
"""The document of the demo's customer João Silva."""


def endpoint(world: World) -> FastAPI:
    """The public application's part that Asaas calls."""
    app = FastAPI()
    app.include_router(Withdrawals(world.pool).router())
    return app


@dataclass
class Asaas:
    """What Asaas does and asks, and what it is told."""

    world: World
    http: httpx.AsyncClient

    async def ask(
        self,
        payload: Any,
        *,
        token: str | None = TOKEN,
        path: str = PATH,
        raw: bytes | None = None,
    ) -> httpx.Response:
        """One call of the validation."""
        headers = {} if token is None else {"asaas-access-token": token}
        body = json.dumps(payload).encode() if raw is None else raw
        return await self.http.post(path, content=body, headers=headers)

    async def word(self, payload: Any, **how: Any) -> dict[str, Any]:
        """The answer's body; anything but 200 fails."""
        answer = await self.ask(payload, **how)
        assert answer.status_code == 200, answer.text
        said: dict[str, Any] = answer.json()
        return said

    async def gateway(self) -> Gateway:
        """The account's gateway, as the worker builds it."""
        async with self.world.pool.acquire() as connection:
            return await self.world.deps.gateways.of(connection, "demo")

    async def request(self, action: str) -> ProviderRequest:
        """The action's frozen request."""
        row = await self.world.row(action)
        return ProviderRequest.model_validate(row["request"])

    async def transfer(self) -> str:
        """A confirmed transfer of R$ 7,00 that is on the wire: fenced, its outcome not written."""
        action = await self.world.executing(
            tool="transfer_balance", arguments={"amount_cents": 700}
        )
        attempt = await self.world.open_attempt(action)
        assert attempt is not None
        assert await self.world.fence(action, attempt) == 1
        return action

    async def rows(self) -> list[dict[str, Any]]:
        """What is bound."""
        found = await self.world.pool.fetch("SELECT * FROM withdrawals ORDER BY decided_at")
        return [dict(row) for row in found]


def payload(key: str | None, operation: str = "op-1", **changes: Any) -> dict[str, Any]:
    """What Asaas POSTs about a transfer of R$ 7,00 to the account's Pix key."""
    transfer: dict[str, Any] = {
        "object": "transfer",
        "id": operation,
        "dateCreated": "2026-12-01",
        "status": "PENDING",
        "value": 7.0,
        "netValue": 7.0,
        "externalReference": key,
        "operationType": "PIX",
        "bankAccount": {"pixAddressKey": PIX_KEY},
    }
    return {"type": "TRANSFER", "transfer": {**transfer, **changes}}


async def move_to_asaas(world: World) -> None:
    """The demo's account is one at Asaas, in the simulator, with a validation token."""
    await world.pool.execute(
        "UPDATE accounts SET gateway = 'asaas', gateway_config = gateway_config || $1",
        {
            "mode": "sandbox",
            "recipient_id": PIX_KEY,
            "withdrawal_token": {"secret": TOKEN_VARIABLE},
        },
    )
    await world.pool.execute("UPDATE recipients SET provider_ref = $1", PIX_KEY)
    async with httpx.AsyncClient(base_url=world.payments_url, trust_env=False) as http:
        made = await http.post(
            "/v3/customers",
            json={"name": "João Silva", "cpfCnpj": JOAO},
            headers={"access_token": API_KEY},
        )
    made.raise_for_status()


async def order_validation(world: World, *, ask: str | None, **order: Any) -> None:
    """Let the simulated Asaas ask at `ask` before each transfer; None: not at all."""
    async with httpx.AsyncClient(base_url=world.payments_url, trust_env=False) as http:
        answer = await http.put(
            "/admin/asaas/validation", json={"url": ask, **order}, headers={"X-Sim-Secret": ADMIN}
        )
    answer.raise_for_status()


async def validation_calls(world: World, *, count: int) -> list[dict[str, Any]]:
    """What Asaas asked and was told, once it asked so often; fails after five seconds."""
    headers = {"X-Sim-Secret": ADMIN}
    async with httpx.AsyncClient(
        base_url=world.payments_url, trust_env=False, headers=headers
    ) as http:
        for _ in range(250):
            answer = await http.get("/admin/asaas/validation")
            calls: list[dict[str, Any]] = answer.raise_for_status().json()["calls"]
            if len(calls) >= count:
                return calls
            await asyncio.sleep(0.02)
    raise AssertionError(f"{count} calls expected, there are {len(calls)}")


async def transfer_of_a_thief(world: World, copied: ProviderRequest) -> str:
    """The very same transfer, made past Aval by somebody who has the API key; its id."""
    async with httpx.AsyncClient(base_url=world.payments_url, trust_env=False) as http:
        answer = await http.post(
            copied.path, content=copied.body, headers={"access_token": API_KEY}
        )
    return str(answer.raise_for_status().json()["id"])
