"""The API Pix's gateway at the simulator, and requests to it."""

import uuid

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from gateways.contract import Customer, get_ready
from gateways.pix_bcb import PixBcbGateway
from gateways.pix_bcb_profiles import EFI
from gateways.transport import Timeouts
from simulators.payments import PaymentsSimulatorClient
from tests.integration.gateways.conftest import API_KEY, QUICK

CUSTOMER = Customer(name="Cliente", document="12345678909")
AMOUNT = 15_000
OPERATIONS = ["charge", "refund", "transfer"]
PIX_KEY = "loja@simulador.example"
TO_PIX_KEY = "+5541999990000"


def pix_at(url: str, *, secret: str = API_KEY, timeouts: Timeouts = QUICK) -> PixBcbGateway:
    return PixBcbGateway(
        profile=EFI,
        mode="sandbox",
        client_id="Client_Id_1",
        client_secret=secret,
        pix_key=PIX_KEY,
        to_pix_key=TO_PIX_KEY,
        base_url=url,
        timeouts=timeouts,
    )


def new_key() -> str:
    return uuid.uuid4().hex


def charge_request(gateway: PixBcbGateway, key: str, cents: int = AMOUNT) -> ProviderRequest:
    return gateway.render_charge(
        key=key,
        amount_cents=cents,
        description="Corte & barba",
        customer=CUSTOMER,
        expires_in_seconds=600,
    )


def refund_request(
    gateway: PixBcbGateway, key: str, charge_ref: str, cents: int = 500
) -> ProviderRequest:
    return gateway.render_refund(
        key=key, charge_ref=charge_ref, amount_cents=cents, refunded_before_cents=0
    )


async def send(gateway: PixBcbGateway, key: str, request: ProviderRequest) -> GatewayResult:
    """As the core does: what is needed is read before the fence, then one request."""
    await get_ready(gateway, key, request)
    return await gateway.send(key, request, before_wire=lambda: None)


async def paid_charge(
    gateway: PixBcbGateway, simulator: PaymentsSimulatorClient, cents: int = AMOUNT
) -> str:
    key = new_key()
    result = await send(gateway, key, charge_request(gateway, key, cents))
    assert result.outcome is Outcome.CREATED, result
    assert result.provider_ref == key
    await simulator.pay(key)
    return key


async def any_request(
    operation: str, key: str, gateway: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> ProviderRequest:
    if operation == "charge":
        return charge_request(gateway, key)
    if operation == "transfer":
        return gateway.render_transfer(key=key, amount_cents=700)
    return refund_request(gateway, key, await paid_charge(gateway, simulator))
