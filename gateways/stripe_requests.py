"""Renders Stripe requests: form-encoded, pure, and the same bytes for the same arguments.

Stripe compares a repeat with the first request under its key (facts: payments §3), so a body
rendered anew would be refused as a conflict: what is frozen goes again, byte for byte. The version
of the API is frozen with it, because the account's default may be moved in Stripe's panel.
"""

from urllib.parse import parse_qsl

from domain.outcomes import Operation, ProviderRequest
from gateways import rendering
from gateways.contract import Customer, RenderError
from gateways.rendering import check, form_body, is_person, one_line

PAYMENT_INTENTS = "/v1/payment_intents"
CHARGES = "/v1/charges"
REFUNDS = "/v1/refunds"
PAYOUTS = "/v1/payouts"
BALANCE = "/v1/balance"
PATHS = frozenset({PAYMENT_INTENTS, REFUNDS, PAYOUTS})
"""Where requests of ours go."""
KEY_HEADER = "Idempotency-Key"
METADATA_KEY = "aval_action"
"""Under this name every object carries our key: the only way to look it up later."""
CURRENCY = "brl"
VERSION_HEADERS = {"Stripe-Version": "2025-06-30.basil"}
"""From this version on an intent's billing details hold the payer's CPF or CNPJ."""

MAX_NAME = 64
MAX_DESCRIPTION = 256
LEAST_EXPIRY_SECONDS = 10
MAX_EXPIRY_SECONDS = 14 * 24 * 3600


def render_charge(
    *,
    key: str,
    amount_cents: int,
    description: str,
    customer: Customer,
    expires_in_seconds: int,
    livemode: bool,
) -> ProviderRequest:
    """Return the payment intent that is confirmed at once, so that it has a Pix code.

    Raises RenderError.
    """
    check(key, amount_cents)
    if not LEAST_EXPIRY_SECONDS <= expires_in_seconds <= MAX_EXPIRY_SECONDS:
        raise RenderError(
            f"a Pix charge cannot expire in {expires_in_seconds!r} seconds; Stripe takes "
            f"{LEAST_EXPIRY_SECONDS} to {MAX_EXPIRY_SECONDS} (14 days)"
        )
    return _post(
        "charge",
        key,
        PAYMENT_INTENTS,
        {
            "amount": str(amount_cents),
            "currency": CURRENCY,
            "confirm": "true",
            "description": one_line(description, MAX_DESCRIPTION, "description"),
            "payment_method_types[]": "pix",
            "payment_method_data[type]": "pix",
            **_payer(customer),
            "payment_method_options[pix][expires_after_seconds]": str(expires_in_seconds),
            "expand[]": "payment_method",
        },
        livemode=livemode,
    )


def render_refund(
    *, key: str, charge_ref: str, amount_cents: int, livemode: bool
) -> ProviderRequest:
    """Return the refund of a payment intent, or of a charge `ch_…`/`py_…`. Raises RenderError."""
    check(key, amount_cents)
    fields = {refund_target(charge_ref): check_ref(charge_ref), "amount": str(amount_cents)}
    return _post("refund", key, REFUNDS, fields, livemode=livemode)


def render_transfer(
    *, key: str, amount_cents: int, bank_account: str, livemode: bool
) -> ProviderRequest:
    """Return the payout of a part of the balance to the own bank account. Raises RenderError."""
    check(key, amount_cents)
    fields = {
        "amount": str(amount_cents),
        "currency": CURRENCY,
        "destination": check_ref(bank_account),
    }
    return _post("transfer", key, PAYOUTS, fields, livemode=livemode)


def check_ref(ref: str) -> str:
    """Return a provider's id that is safe inside a path. Raises RenderError."""
    return rendering.check_ref(ref, "Stripe")


def refund_target(charge_ref: str) -> str:
    """Return the name of the field that names what is refunded."""
    return "charge" if charge_ref.startswith(("ch_", "py_")) else "payment_intent"


def fields_of(request: ProviderRequest) -> dict[str, str]:
    """Return what was frozen in the form."""
    return dict(parse_qsl(request.body, keep_blank_values=True))


def _payer(customer: Customer) -> dict[str, str]:
    is_person(customer.document)
    details = {"name": one_line(customer.name, MAX_NAME, "customer name")}
    if customer.email is not None:
        details["email"] = one_line(customer.email, MAX_NAME, "email")
    if customer.phone is not None:
        details["phone"] = f"+{one_line(customer.phone, 20, 'phone')}"
    details["tax_id"] = customer.document
    return {
        f"payment_method_data[billing_details][{name}]": value for name, value in details.items()
    }


def _post(
    operation: Operation, key: str, path: str, fields: dict[str, str], *, livemode: bool
) -> ProviderRequest:
    return ProviderRequest(
        operation=operation,
        method="POST",
        path=path,
        headers={
            "Content-Type": "application/x-www-form-urlencoded",
            KEY_HEADER: key,
            **VERSION_HEADERS,
        },
        body=form_body({**fields, f"metadata[{METADATA_KEY}]": key}),
        expect={"livemode": livemode},
    )
