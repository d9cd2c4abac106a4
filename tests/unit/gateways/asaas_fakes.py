"""Asaas behind a fake wire, and documents it would answer."""

from collections.abc import Callable
from typing import Any

import httpx

from domain.outcomes import GatewayResult, ProviderRequest
from gateways.asaas import AsaasGateway
from tests.unit.gateways.fakes import AMOUNT, CUSTOMER, DOCUMENT, KEY, PIX_CODE, TracingTransport

NOW = 1_796_094_000.0  # 2026-12-01 03:00 UTC: midnight in São Paulo
PIX_KEY = "loja@simulador.example"
DUE = "2026-12-01"


def gateway_answering(
    answer: Callable[[httpx.Request], httpx.Response], **changes: Any
) -> AsaasGateway:
    """A gateway whose provider is `answer`."""
    given: dict[str, Any] = {
        "base_url": "http://127.0.0.1:1",
        "api_key": "key_of_a_test",
        "pix_key": PIX_KEY,
        "mode": "sandbox",
        "transport": TracingTransport(answer),
        "clock": lambda: NOW,
    }
    return AsaasGateway(**{**given, **changes})


class Far:
    """The provider: nothing under our key before, and `post` for what has an effect."""

    def __init__(self, post: httpx.Response, **reads: httpx.Response) -> None:
        self.post = post
        self.reads = reads
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if request.method == "POST":
            return self.post
        last = request.url.path.rsplit("/", 1)[-1]
        if last in self.reads:
            return self.reads[last]
        if last == "customers":
            return httpx.Response(200, json=listed(customer_doc()))
        if last == "pixQrCode":
            return httpx.Response(200, json={"success": True, "payload": PIX_CODE})
        if request.url.path.startswith("/v3/customers/"):
            return httpx.Response(200, json=customer_doc())
        return httpx.Response(200, json=listed())

    @property
    def posts(self) -> list[httpx.Request]:
        """What had an effect."""
        return [one for one in self.asked if one.method == "POST"]


async def sent(far: Far, request: ProviderRequest) -> GatewayResult:
    """Read before the fence, then one send."""
    gateway = gateway_answering(far)
    await gateway.ready(KEY, request)
    return await gateway.send(KEY, request, before_wire=lambda: None)


GATEWAY = gateway_answering(lambda _request: httpx.Response(500))


def charge_request(key: str = KEY, amount_cents: int = AMOUNT, **changes: Any) -> ProviderRequest:
    given: dict[str, Any] = {
        "description": "Corte de cabelo",
        "customer": CUSTOMER,
        "expires_in_seconds": 600,
    }
    return GATEWAY.render_charge(key=key, amount_cents=amount_cents, **{**given, **changes})


def refund_request(before: int = 0, amount_cents: int = 500) -> ProviderRequest:
    return GATEWAY.render_refund(
        key=KEY, charge_ref="pay_1", amount_cents=amount_cents, refunded_before_cents=before
    )


def transfer_request(amount_cents: int = 700) -> ProviderRequest:
    return GATEWAY.render_transfer(key=KEY, amount_cents=amount_cents)


REQUESTS = {
    "charge": charge_request(),
    "refund": refund_request(),
    "transfer": transfer_request(),
}


def listed(*docs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    page = {"object": "list", "hasMore": False, "totalCount": len(docs), "data": list(docs)}
    return {**page, **changes}


def customer_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {"id": "cus_1", "cpfCnpj": DOCUMENT, "dateCreated": "2026-01-02"}
    return {**doc, **changes}


def charge_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "object": "payment",
        "id": "pay_1",
        "customer": "cus_1",
        "value": 150.0,
        "billingType": "PIX",
        "status": "PENDING",
        "dueDate": DUE,
        "externalReference": KEY,
        "deleted": False,
        "refunds": None,
    }
    return {**doc, **changes}


def refund_doc(**changes: Any) -> dict[str, Any]:
    return {"value": 5.0, "status": "DONE", "description": KEY, **changes}


def transfer_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "object": "transfer",
        "id": "7f0c7c52-0000-4000-8000-000000000001",
        "value": 7,
        "status": "DONE",
        "externalReference": KEY,
        "bankAccount": {"pixAddressKey": PIX_KEY},
        "failReason": None,
    }
    return {**doc, **changes}


def error_doc() -> dict[str, Any]:
    return {"errors": [{"code": "invalid_action", "description": "O valor é inválido."}]}
