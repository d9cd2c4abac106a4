"""Renders Pagar.me v5 requests: pure, and the same bytes for the same arguments.

Source: facts payments §4. Money is integer cents. What the provider would cut or refuse is
refused here, because the person confirms what is printed, not what fits.
"""

import re

from pydantic import JsonValue

from domain.outcomes import ProviderRequest
from gateways import rendering
from gateways.contract import Customer, RenderError
from gateways.rendering import check, is_person, json_body, one_line

PREFIX = "/core/v5/"
ORDERS = f"{PREFIX}orders"
CHARGES = f"{PREFIX}charges"
RECIPIENTS = f"{PREFIX}recipients"
KEY_HEADER = "Idempotency-Key"
METADATA_KEY = "aval_action"
"""Where a transfer carries our key: withdrawals have no `code` field to look up by."""

MAX_NAME = 64
MAX_DESCRIPTION = 256
MAX_EXPIRY_SECONDS = 30 * 24 * 3600
_BR_PHONE = re.compile(r"55([0-9]{2})([0-9]{8,9})")


def render_charge(
    *, key: str, amount_cents: int, description: str, customer: Customer, expires_in_seconds: int
) -> ProviderRequest:
    """Return the order with one item and one Pix payment. Raises RenderError."""
    check(key, amount_cents)
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
                "description": one_line(description, MAX_DESCRIPTION, "description"),
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
        operation="charge", method="POST", path=ORDERS, headers=_headers(key), body=json_body(body)
    )


def render_refund(
    *, key: str, charge_ref: str, amount_cents: int, refunded_before_cents: int
) -> ProviderRequest:
    """Return the cancellation of `amount_cents` of a charge. Raises RenderError."""
    check(key, amount_cents)
    if refunded_before_cents < 0:
        raise RenderError(f"refunded before cannot be {refunded_before_cents!r} cents")
    return ProviderRequest(
        operation="refund",
        method="DELETE",
        path=f"{CHARGES}/{check_ref(charge_ref)}",
        headers=_headers(key),
        body=json_body({"amount": amount_cents}),
        expect={"refunded_before_cents": refunded_before_cents},
    )


def render_transfer(*, key: str, amount_cents: int, recipient_id: str) -> ProviderRequest:
    """Return the withdrawal of a recipient's balance to its own account. Raises RenderError."""
    check(key, amount_cents)
    return ProviderRequest(
        operation="transfer",
        method="POST",
        path=f"{RECIPIENTS}/{check_ref(recipient_id)}/withdrawals",
        headers=_headers(key),
        body=json_body({"amount": amount_cents, "metadata": {METADATA_KEY: key}}),
    )


def check_ref(ref: str) -> str:
    """Return a provider's id that is safe inside a path. Raises RenderError."""
    return rendering.check_ref(ref, "Pagar.me")


def _customer(customer: Customer) -> dict[str, JsonValue]:
    person = is_person(customer.document)
    rendered: dict[str, JsonValue] = {
        "name": one_line(customer.name, MAX_NAME, "customer name"),
        "type": "individual" if person else "company",
        "document": customer.document,
        "document_type": "CPF" if person else "CNPJ",
    }
    if customer.email is not None:
        rendered["email"] = one_line(customer.email, MAX_NAME, "email")
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
