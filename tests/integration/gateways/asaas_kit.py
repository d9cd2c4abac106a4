"""Asaas' gateway at the simulator, and requests to it."""

import asyncio
import uuid
from typing import Any

import httpx

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from gateways.asaas import AsaasGateway
from gateways.contract import Customer, get_ready
from gateways.transport import Timeouts
from simulators.payments import PaymentsSimulatorClient
from tests.integration.gateways.conftest import ADMIN_SECRET, API_KEY, QUICK

CUSTOMER = Customer(name="Cliente", document="12345678909")
AMOUNT = 15_000
OPERATIONS = ["charge", "refund", "transfer"]
PIX_KEY = "loja@simulador.example"


def asaas_at(url: str, *, api_key: str = API_KEY, timeouts: Timeouts = QUICK) -> AsaasGateway:
    return AsaasGateway(
        base_url=url, api_key=api_key, pix_key=PIX_KEY, mode="sandbox", timeouts=timeouts
    )


def new_key() -> str:
    return uuid.uuid4().hex


async def post(url: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """One request of somebody else with the same API key."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        answer = await http.post(path, json=body, headers={"access_token": API_KEY})
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def register(url: str, document: str = CUSTOMER.document) -> str:
    """A customer in Asaas' panel; its id."""
    made = await post(url, "/v3/customers", {"name": "Cliente", "cpfCnpj": document})
    return str(made["id"])


async def order_validation(url: str, *, ask: str | None, **order: Any) -> None:
    """Let the simulator at `url` ask at `ask` before each transfer; None: not at all."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        answer = await http.put(
            "/admin/asaas/validation",
            json={"url": ask, **order},
            headers={"X-Sim-Secret": ADMIN_SECRET},
        )
    answer.raise_for_status()


async def validation_calls(url: str, *, count: int) -> list[dict[str, Any]]:
    """What the simulator asked and was told, once it asked so often; fails after five seconds."""
    headers = {"X-Sim-Secret": ADMIN_SECRET}
    async with httpx.AsyncClient(base_url=url, trust_env=False, headers=headers) as http:
        for _ in range(250):
            answer = await http.get("/admin/asaas/validation")
            calls: list[dict[str, Any]] = answer.raise_for_status().json()["calls"]
            if len(calls) >= count:
                return calls
            await asyncio.sleep(0.02)
    raise AssertionError(f"{count} calls expected, there are {calls!r}")


def charge_request(
    gateway: AsaasGateway, key: str, cents: int = AMOUNT, customer: Customer = CUSTOMER
) -> ProviderRequest:
    return gateway.render_charge(
        key=key,
        amount_cents=cents,
        description='Corte & "barba"',
        customer=customer,
        expires_in_seconds=600,
    )


async def send(gateway: AsaasGateway, key: str, request: ProviderRequest) -> GatewayResult:
    """As the core does: what is needed is read before the fence, then one request."""
    await get_ready(gateway, key, request)
    return await gateway.send(key, request, before_wire=lambda: None)


async def paid_charge(gateway: AsaasGateway, simulator: PaymentsSimulatorClient) -> str:
    key = new_key()
    result = await send(gateway, key, charge_request(gateway, key))
    assert result.outcome is Outcome.CREATED, result
    assert result.provider_ref is not None
    await simulator.pay(result.provider_ref)
    return result.provider_ref


async def any_request(
    operation: str, key: str, gateway: AsaasGateway, simulator: PaymentsSimulatorClient
) -> ProviderRequest:
    if operation == "charge":
        return charge_request(gateway, key)
    if operation == "transfer":
        return gateway.render_transfer(key=key, amount_cents=700)
    ref = await paid_charge(gateway, simulator)
    return gateway.render_refund(key=key, charge_ref=ref, amount_cents=500, refunded_before_cents=0)
