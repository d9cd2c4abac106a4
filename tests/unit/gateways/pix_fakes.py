"""A bank with the API Pix behind a fake wire, and documents it would answer."""

from collections.abc import Callable
from typing import Any

import httpx

from domain.outcomes import ProviderRequest
from gateways.pix_bcb import PixBcbGateway
from gateways.pix_bcb_profiles import EFI
from tests.unit.gateways.fakes import AMOUNT, CUSTOMER, DOCUMENT, KEY, PIX_CODE, TracingTransport

PIX_KEY = "loja@banco.example"
TO_PIX_KEY = "+5541999990000"
TXID = "c" * 32
E2EID = "E0908935620261201123412345678901"
LOCATION = "pix.simulador.example/v2/tran_MEZ5V2Alezm1cwe5"
"""Where PIX_CODE leads."""
TOKEN = {"access_token": "t0ken", "token_type": "Bearer", "expires_in": 3600}


def gateway_answering(
    answer: Callable[[httpx.Request], httpx.Response],
    *,
    token: Callable[[], httpx.Response] = lambda: httpx.Response(200, json=TOKEN),
    **changes: Any,
) -> PixBcbGateway:
    """A gateway whose bank gives `token`, and `answer` to everything else."""

    def both(request: httpx.Request) -> httpx.Response:
        return token() if request.url.path == EFI.oauth_path else answer(request)

    given: dict[str, Any] = {
        "profile": EFI,
        "mode": "sandbox",
        "client_id": "Client_Id_1",
        "client_secret": "s3cret",
        "pix_key": PIX_KEY,
        "to_pix_key": TO_PIX_KEY,
        "base_url": "http://127.0.0.1:1",
        "transport": TracingTransport(both),
    }
    return PixBcbGateway(**{**given, **changes})


GATEWAY = gateway_answering(lambda _request: httpx.Response(500))


def charge_request(key: str = KEY, amount_cents: int = AMOUNT) -> ProviderRequest:
    return GATEWAY.render_charge(
        key=key,
        amount_cents=amount_cents,
        description="Corte de cabelo",
        customer=CUSTOMER,
        expires_in_seconds=600,
    )


def refund_request(charge_ref: str = E2EID, amount_cents: int = 500) -> ProviderRequest:
    return GATEWAY.render_refund(
        key=KEY, charge_ref=charge_ref, amount_cents=amount_cents, refunded_before_cents=0
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
        "calendario": {"criacao": "2026-12-01T12:00:00.000Z", "expiracao": 600},
        "txid": KEY,
        "revisao": 0,
        "location": LOCATION,
        "status": "ATIVA",
        "devedor": {"cpf": DOCUMENT, "nome": CUSTOMER.name},
        "valor": {"original": "150.00"},
        "chave": PIX_KEY,
        "pixCopiaECola": PIX_CODE,
    }
    return {**doc, **changes}


def paid_doc(*pix: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return charge_doc(**{"txid": TXID, "status": "CONCLUIDA", "pix": list(pix), **changes})


def pix_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {"endToEndId": E2EID, "txid": TXID, "valor": "150.00"}
    return {**doc, "horario": "2026-12-01T12:00:00.000Z", **changes}


def refund_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {"id": KEY, "rtrId": "D" + E2EID[1:], "valor": "5.00"}
    return {**doc, "status": "DEVOLVIDO", **changes}


def sent_doc(**changes: Any) -> dict[str, Any]:
    """As a look-up shows it; the answer of the send has neither of the keys."""
    doc: dict[str, Any] = {"idEnvio": KEY, "endToEndId": E2EID, "valor": "7.00"}
    payee = {"chave": TO_PIX_KEY, "identificacao": {"nome": "Loja", "cpf": "***.456.789-**"}}
    return {**doc, "status": "REALIZADO", "chave": PIX_KEY, "favorecido": payee, **changes}


DOCS = {"charge": charge_doc, "refund": refund_doc, "transfer": sent_doc}


def error_doc(name: str = "valor_invalido", message: str = "Campo inválido") -> dict[str, Any]:
    return {"nome": name, "mensagem": message}


def problem_doc(status: int, kind: str = "AcessoNegado") -> dict[str, Any]:
    return {
        "type": f"https://pix.bcb.gov.br/api/v2/error/{kind}",
        "title": "Negado",
        "status": status,
    }
