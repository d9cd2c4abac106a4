"""Stripe's gateway at the simulator, and requests to it."""

import uuid

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from gateways.contract import Customer
from gateways.stripe import StripeGateway
from gateways.transport import Timeouts
from simulators.payments import PaymentsSimulatorClient
from tests.integration.gateways.conftest import API_KEY, QUICK

CUSTOMER = Customer(name="Cliente", document="12345678909")
AMOUNT = 15_000
OPERATIONS = ["charge", "refund", "transfer"]


def stripe_at(url: str, *, api_key: str = API_KEY, timeouts: Timeouts = QUICK) -> StripeGateway:
    return StripeGateway(
        base_url=url,
        api_key=api_key,
        bank_account="ba_simulated",
        mode="sandbox",
        timeouts=timeouts,
    )


def new_key() -> str:
    return uuid.uuid4().hex


def charge_request(gateway: StripeGateway, key: str, cents: int = AMOUNT) -> ProviderRequest:
    return gateway.render_charge(
        key=key,
        amount_cents=cents,
        description="Corte & barba",
        customer=CUSTOMER,
        expires_in_seconds=600,
    )


async def send(gateway: StripeGateway, key: str, request: ProviderRequest) -> GatewayResult:
    return await gateway.send(key, request, before_wire=lambda: None)


async def paid_charge(
    gateway: StripeGateway, simulator: PaymentsSimulatorClient, cents: int = AMOUNT
) -> str:
    key = new_key()
    result = await send(gateway, key, charge_request(gateway, key, cents))
    assert result.outcome is Outcome.CREATED, result
    assert result.provider_ref is not None
    await simulator.pay(result.provider_ref)
    return result.provider_ref


async def any_request(
    operation: str, key: str, gateway: StripeGateway, simulator: PaymentsSimulatorClient
) -> ProviderRequest:
    if operation == "charge":
        return charge_request(gateway, key)
    if operation == "transfer":
        return gateway.render_transfer(key=key, amount_cents=700)
    ref = await paid_charge(gateway, simulator)
    return gateway.render_refund(key=key, charge_ref=ref, amount_cents=500, refunded_before_cents=0)
