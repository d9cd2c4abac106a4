"""Stripe behind a fake wire, and documents it would answer."""

from collections.abc import Callable
from typing import Any

import httpx

from domain.outcomes import ProviderRequest
from gateways.stripe import StripeGateway
from tests.unit.gateways.fakes import AMOUNT, CUSTOMER, DOCUMENT, KEY, PIX_CODE, TracingTransport

NOW = 1_800_000_000.0
BANK = "ba_1"


def gateway_answering(
    answer: Callable[[httpx.Request], httpx.Response], **changes: Any
) -> StripeGateway:
    """A gateway whose provider is `answer`."""
    given: dict[str, Any] = {
        "base_url": "http://127.0.0.1:1",
        "api_key": "sk_test_x",
        "bank_account": BANK,
        "mode": "sandbox",
        "transport": TracingTransport(answer),
        "clock": lambda: NOW,
    }
    return StripeGateway(**{**given, **changes})


GATEWAY = gateway_answering(lambda _request: httpx.Response(500))


def charge_request(key: str = KEY, amount_cents: int = AMOUNT) -> ProviderRequest:
    return GATEWAY.render_charge(
        key=key,
        amount_cents=amount_cents,
        description="Corte de cabelo",
        customer=CUSTOMER,
        expires_in_seconds=600,
    )


def refund_request(charge_ref: str = "pi_1", amount_cents: int = 500) -> ProviderRequest:
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


def method_doc(**changes: Any) -> dict[str, Any]:
    details = {"name": CUSTOMER.name, "email": None, "tax_id": DOCUMENT, **changes}
    return {"id": "pm_1", "type": "pix", "billing_details": details}


def intent_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "id": "pi_1",
        "amount": AMOUNT,
        "amount_received": 0,
        "currency": "brl",
        "description": "Corte de cabelo",
        "last_payment_error": None,
        "latest_charge": None,
        "livemode": False,
        "metadata": {"aval_action": KEY},
        "next_action": {
            "type": "pix_display_qr_code",
            "pix_display_qr_code": {"data": PIX_CODE, "expires_at": 1_800_000_600},
        },
        "payment_method": method_doc(),
        "payment_method_types": ["pix"],
        "status": "requires_action",
    }
    return {**doc, **changes}


def refund_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "id": "re_1",
        "amount": 500,
        "currency": "brl",
        "metadata": {"aval_action": KEY},
        "payment_intent": "pi_1",
        "charge": "py_1",
        "status": "succeeded",
    }
    return {**doc, **changes}


def payout_doc(**changes: Any) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "id": "po_1",
        "amount": 700,
        "currency": "brl",
        "destination": BANK,
        "livemode": False,
        "metadata": {"aval_action": KEY},
        "status": "in_transit",
    }
    return {**doc, **changes}


FAILED = {
    "status": "requires_payment_method",
    "next_action": None,
    "payment_method": None,
    "last_payment_error": {"code": "payment_intent_payment_attempt_failed", "message": "no"},
}
EXPIRED = {
    **FAILED,
    "last_payment_error": {"code": "payment_intent_payment_attempt_expired", "message": "late"},
}


def error_doc(kind: str = "invalid_request_error", **more: Any) -> dict[str, Any]:
    return {"error": {"type": kind, "message": "The request is invalid.", **more}}
