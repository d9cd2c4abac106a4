"""Renders Asaas requests: the same bytes for the same arguments.

Two traps. Asaas takes money as a JSON number in reais, and a float would lose cents: the number is
written as a literal, `150.00`. And it charges a customer of its own, known by an id that cannot be
known when the request is frozen: the body holds a mark in its place, and the payer's document is
frozen beside it (facts: payments §2).
"""

import re
from datetime import date, datetime
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from domain.outcomes import Operation, ProviderRequest
from gateways import rendering
from gateways.contract import Customer, RenderError
from gateways.money import decimal_text
from gateways.rendering import check, is_person, json_body, one_line

PREFIX = "/v3/"
PAYMENTS = f"{PREFIX}payments"
CUSTOMERS = f"{PREFIX}customers"
TRANSFERS = f"{PREFIX}transfers"
BALANCE = f"{PREFIX}finance/balance"

KEY_FIELD = "externalReference"
"""Where charges and transfers carry our key. It is not unique at Asaas."""
REFUND_KEY_FIELD = "description"
"""Where a refund carries it: there is no other text of ours on one."""
_MARK = '"customer":"customer-of-document"'
"""In a rendered body quotes inside texts are escaped, so this stands at one place only."""

MAX_DESCRIPTION = 500
MAX_EXPIRY_SECONDS = 365 * 24 * 3600
PAYABLE_PAST_MIDNIGHT_SECONDS = 3600
"""A charge that is due today and made shortly before midnight is payable this much longer."""

_PIX_KEY_TYPES = {
    "EMAIL": re.compile(r"[^@\s]{1,64}@[^@\s]{1,64}", re.ASCII),
    "PHONE": re.compile(r"\+55[0-9]{10,11}", re.ASCII),
    "CPF": re.compile(r"[0-9]{11}", re.ASCII),
    "CNPJ": re.compile(r"[0-9A-Z]{12}[0-9]{2}", re.ASCII),
    "EVP": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII),
}


def render_charge(
    *,
    key: str,
    amount_cents: int,
    description: str,
    customer: Customer,
    expires_in_seconds: int,
    now: datetime,
    time_zone: str,
) -> ProviderRequest:
    """Return the Pix charge. Raises RenderError.

    Asaas takes a due day instead of seconds, so the one clock of all renderings is here: `now` is
    the moment of proposing, and what it gave is frozen.
    """
    check(key, amount_cents)
    if not 1 <= expires_in_seconds <= MAX_EXPIRY_SECONDS:
        raise RenderError(f"a charge cannot expire in {expires_in_seconds!r} seconds")
    is_person(customer.document)
    due = due_day(now, expires_in_seconds=expires_in_seconds, time_zone=time_zone)
    return _post(
        "charge",
        key,
        PAYMENTS,
        amount_cents,
        {
            "billingType": "PIX",
            "customer": "customer-of-document",
            "description": one_line(description, MAX_DESCRIPTION, "description"),
            "dueDate": due.isoformat(),
            KEY_FIELD: key,
        },
        expect={"document": customer.document, "due_date": due.isoformat()},
    )


def render_refund(
    *, key: str, charge_ref: str, amount_cents: int, refunded_before_cents: int
) -> ProviderRequest:
    """Return the refund of `amount_cents` of a paid charge. Raises RenderError."""
    check(key, amount_cents)
    if refunded_before_cents < 0:
        raise RenderError(f"refunded before cannot be {refunded_before_cents!r} cents")
    ref = check_ref(charge_ref)
    return _post(
        "refund",
        key,
        f"{PAYMENTS}/{ref}/refund",
        amount_cents,
        {REFUND_KEY_FIELD: key},
        expect={"charge": ref, "refunded_before_cents": refunded_before_cents},
    )


def render_transfer(*, key: str, amount_cents: int, pix_key: str) -> ProviderRequest:
    """Return the Pix of a part of the balance to `pix_key`. Raises RenderError."""
    check(key, amount_cents)
    kind = pix_key_type(pix_key)
    return _post(
        "transfer",
        key,
        TRANSFERS,
        amount_cents,
        {
            KEY_FIELD: key,
            "operationType": "PIX",
            "pixAddressKey": plain_pix_key(pix_key),
            "pixAddressKeyType": kind,
        },
        expect={"pix_key": plain_pix_key(pix_key)},
    )


def with_customer(request: ProviderRequest, customer: str) -> str:
    """Return the body with the customer's id in the place of the mark, all else as frozen."""
    return request.body.replace(_MARK, f'"customer":"{check_ref(customer)}"', 1)


def needs_customer(request: ProviderRequest) -> bool:
    """Return whether a customer's id has to be found before `request` can go."""
    return request.operation == "charge"


def due_day(now: datetime, *, expires_in_seconds: int, time_zone: str) -> date:
    """Return the day on which a code that is payable for so long is due."""
    seconds = max(0, expires_in_seconds - PAYABLE_PAST_MIDNIGHT_SECONDS)
    return datetime.fromtimestamp(now.timestamp() + seconds, ZoneInfo(time_zone)).date()


def check_ref(ref: str) -> str:
    """Return a provider's id that is safe inside a path. Raises RenderError."""
    return rendering.check_ref(ref, "Asaas")


def pix_key_type(pix_key: str) -> str:
    """Return Asaas' word for the kind of a Pix key. Raises RenderError."""
    for kind, form in _PIX_KEY_TYPES.items():
        if form.fullmatch(pix_key):
            return kind
    raise RenderError("the Pix key is no e-mail, +55 phone, CPF, CNPJ or random key")


def plain_pix_key(pix_key: str) -> str:
    """Return the key as Asaas writes it: phones without +55."""
    return pix_key.removeprefix("+55")


def _post(
    operation: Operation,
    key: str,
    path: str,
    amount_cents: int,
    fields: dict[str, JsonValue],
    *,
    expect: dict[str, JsonValue],
) -> ProviderRequest:
    # `value` is the last name by the alphabet in every one of these bodies, so they stay canonical.
    body = f'{json_body(fields)[:-1]},"value":{decimal_text(amount_cents)}}}'
    return ProviderRequest(
        operation=operation,
        method="POST",
        path=path,
        headers={"Content-Type": "application/json; charset=utf-8"},
        body=body,
        expect={"key": key, "amount_cents": amount_cents, **expect},
    )
