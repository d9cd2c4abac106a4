"""A provider behind a fake wire, and documents it would answer."""

from collections.abc import Callable
from typing import Any

import httpx

from domain.outcomes import ProviderRequest
from gateways.contract import Customer
from gateways.pagarme import PagarmeGateway

KEY = "0123456789abcdef0123456789abcdef"
OTHER_KEY = "f" * 32
AMOUNT = 15_000
DOCUMENT = "12345678909"
CUSTOMER = Customer(name="Cliente", document=DOCUMENT, phone="5541999998888")
PIX_CODE = (
    "00020101021226680014br.gov.bcb.pix2546pix.simulador.example/v2/tran_MEZ5V2Alezm1cwe5"
    "5204000053039865406150.005802BR5913LOJA SIMULADA6009SAO PAULO62070503***63046962"
)


class TracingTransport(httpx.MockTransport):
    """A mock that, like real sockets, announces that the request is about to leave."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        trace = request.extensions["trace"]
        await trace("connection.connect_tcp.started", {})
        await trace("connection.connect_tcp.complete", {})
        await trace("http11.send_request_headers.started", {})
        answer = await super().handle_async_request(request)
        # Unread, as from a socket.
        return httpx.Response(
            answer.status_code, headers=answer.headers, stream=httpx.ByteStream(answer.content)
        )


def gateway_answering(answer: Callable[[httpx.Request], httpx.Response]) -> PagarmeGateway:
    """A gateway whose provider is `answer`."""
    return PagarmeGateway(
        base_url="http://127.0.0.1:1",
        api_key="sk_test",
        recipient_id="re_1",
        transport=TracingTransport(answer),
    )


GATEWAY = gateway_answering(lambda _request: httpx.Response(500))


def charge_request(key: str = KEY, amount_cents: int = AMOUNT) -> ProviderRequest:
    return GATEWAY.render_charge(
        key=key,
        amount_cents=amount_cents,
        description="Corte de cabelo",
        customer=CUSTOMER,
        expires_in_seconds=600,
    )


def refund_request(before: int = 0, amount_cents: int = 500) -> ProviderRequest:
    return GATEWAY.render_refund(
        key=KEY, charge_ref="ch_1", amount_cents=amount_cents, refunded_before_cents=before
    )


def transfer_request(amount_cents: int = 700) -> ProviderRequest:
    return GATEWAY.render_transfer(key=KEY, amount_cents=amount_cents)


REQUESTS = {
    "charge": charge_request(),
    "refund": refund_request(),
    "transfer": transfer_request(),
}


def charge_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "id": "ch_1",
        "amount": AMOUNT,
        "status": "pending",
        "payment_method": "pix",
        "canceled_amount": 0,
        "last_transaction": {"status": "waiting_payment", "qr_code": PIX_CODE},
    }
    return {**doc, **changes}


def order_doc(charge: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "id": "or_1",
        "code": KEY,
        "amount": AMOUNT,
        "status": "pending",
        "customer": {"document": DOCUMENT},
        "charges": [charge or charge_doc()],
    }
    return {**doc, **changes}


def withdrawal_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "id": 77,
        "amount": 700,
        "status": "transferred",
        "metadata": {"aval_action": KEY},
    }
    return {**doc, **changes}
