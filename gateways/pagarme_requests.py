"""Renders Pagar.me v5 requests: pure, and the same bytes for the same arguments.

Source: facts payments §4. Money is integer cents. What the provider would cut or refuse is
refused here, because the person confirms what is printed, not what fits.
"""

import json
import re

from pydantic import JsonValue

from domain.outcomes import KEY_PATTERN, ProviderRequest
from gateways.contract import Customer, RenderError

ORDERS = "/core/v5/orders"
CHARGES = "/core/v5/charges"
RECIPIENTS = "/core/v5/recipients"
KEY_HEADER = "Idempotency-Key"
METADATA_KEY = "aval_action"
"""Where a transfer carries our key: withdrawals have no `code` field to look up by."""

MAX_AMOUNT_CENTS = 10**11
MAX_NAME = 64
MAX_DESCRIPTION = 256
MAX_EXPIRY_SECONDS = 30 * 24 * 3600
_REF = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CPF = re.compile(r"[0-9]{11}")
_CNPJ = re.compile(r"[0-9A-Z]{12}[0-9]{2}")
_BR_PHONE = re.compile(r"55([0-9]{2})([0-9]{8,9})")


def render_charge(
    *, key: str, amount_cents: int, description: str, customer: Customer, expires_in_seconds: int
) -> ProviderRequest:
    """Return the order with one item and one Pix payment. Raises RenderError."""
    _check(key, amount_cents)
    if not 1 <= expires_in_seconds <= MAX_EXPIRY_SECONDS:
        raise RenderError(f"a Pix charge cannot expire in {expires_in_seconds!r} seconds")
    body: dict[str, JsonValue] = {
        "code": key,
        "closed": True,
        "customer": _customer(customer),
        "items": [
            {
                "amount": amount_cents,
                "code": key,
                "description": _text(description, MAX_DESCRIPTION, "description"),
                "quantity": 1,
            }
        ],
        "payments": [
            {
                "amount": amount_cents,
                "payment_method": "pix",
                "pix": {"expires_in": expires_in_seconds},
            }
        ],
    }
    return ProviderRequest(
        operation="charge", method="POST", path=ORDERS, headers=_headers(key), body=_json(body)
    )


def render_refund(
    *, key: str, charge_ref: str, amount_cents: int, refunded_before_cents: int
) -> ProviderRequest:
    """Return the cancellation of `amount_cents` of a charge. Raises RenderError."""
    _check(key, amount_cents)
    if refunded_before_cents < 0:
        raise RenderError(f"refunded before cannot be {refunded_before_cents!r} cents")
    return ProviderRequest(
        operation="refund",
        method="DELETE",
        path=f"{CHARGES}/{check_ref(charge_ref)}",
        headers=_headers(key),
        body=_json({"amount": amount_cents}),
        expect={"refunded_before_cents": refunded_before_cents},
    )


def render_transfer(*, key: str, amount_cents: int, recipient_id: str) -> ProviderRequest:
    """Return the withdrawal of a recipient's balance to its own account. Raises RenderError."""
    _check(key, amount_cents)
    return ProviderRequest(
        operation="transfer",
        method="POST",
        path=f"{RECIPIENTS}/{check_ref(recipient_id)}/withdrawals",
        headers=_headers(key),
        body=_json({"amount": amount_cents, "metadata": {METADATA_KEY: key}}),
    )


def check_ref(ref: str) -> str:
    """Return a provider's id that is safe inside a path. Raises RenderError."""
    if not _REF.fullmatch(ref):
        raise RenderError(f"{ref!r} is not an id of Pagar.me")
    return ref


def _check(key: str, amount_cents: int) -> None:
    if not KEY_PATTERN.fullmatch(key):
        raise RenderError(f"key {key!r} is not 32 lower-case hex characters")
    if not 1 <= amount_cents < MAX_AMOUNT_CENTS:
        raise RenderError(f"amount {amount_cents!r} cents is out of range")


def _text(text: str, limit: int, what: str) -> str:
    if not text.strip() or len(text) > limit or not text.isprintable():
        # The text itself may be personal data and stays out of the message.
        raise RenderError(f"{what} must be one printable line of 1 to {limit} characters")
    return text


def _customer(customer: Customer) -> dict[str, JsonValue]:
    person = _CPF.fullmatch(customer.document) is not None
    if not person and not _CNPJ.fullmatch(customer.document):
        raise RenderError("the customer's document is neither 11 (CPF) nor 14 (CNPJ) characters")
    rendered: dict[str, JsonValue] = {
        "name": _text(customer.name, MAX_NAME, "customer name"),
        "type": "individual" if person else "company",
        "document": customer.document,
        "document_type": "CPF" if person else "CNPJ",
    }
    if customer.email is not None:
        rendered["email"] = _text(customer.email, MAX_NAME, "email")
    if customer.phone is not None:
        phone = _BR_PHONE.fullmatch(customer.phone)
        if phone is None:
            raise RenderError("the customer's phone is not 55 + area + 8 or 9 digits")
        rendered["phones"] = {
            "mobile_phone": {
                "country_code": "55",
                "area_code": phone.group(1),
                "number": phone.group(2),
            }
        }
    return rendered


def _headers(key: str) -> dict[str, str]:
    return {"Content-Type": "application/json; charset=utf-8", KEY_HEADER: key}


def _json(body: dict[str, JsonValue]) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
