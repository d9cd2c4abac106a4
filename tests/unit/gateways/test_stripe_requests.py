"""Requests to Stripe: pure, complete, and refused where Stripe or the person would be surprised."""

from typing import Any
from urllib.parse import parse_qsl

import pytest

from gateways.contract import Customer, RenderError
from tests.unit.gateways.fakes import AMOUNT, CUSTOMER, KEY
from tests.unit.gateways.stripe_fakes import (
    BANK,
    GATEWAY,
    charge_request,
    refund_request,
    transfer_request,
)


def fields(body: str) -> dict[str, str]:
    return dict(parse_qsl(body, strict_parsing=True))


def test_a_charge_is_a_pix_intent_confirmed_at_once() -> None:
    """Amount, payer, expiry and our key in the metadata; nothing else may be paid by."""
    request = charge_request()
    assert (request.method, request.path) == ("POST", "/v1/payment_intents")
    assert request.headers["Idempotency-Key"] == KEY
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert request.expect == {"livemode": False}
    billing = "payment_method_data[billing_details]"
    assert fields(request.body) == {
        "amount": str(AMOUNT),
        "currency": "brl",
        "confirm": "true",
        "description": "Corte de cabelo",
        "payment_method_types[]": "pix",
        "payment_method_data[type]": "pix",
        f"{billing}[name]": "Cliente",
        f"{billing}[phone]": "+5541999998888",
        f"{billing}[tax_id]": "12345678909",
        "payment_method_options[pix][expires_after_seconds]": "600",
        "expand[]": "payment_method",
        "metadata[aval_action]": KEY,
    }


@pytest.mark.parametrize("text", ["a&amount=1", "a=b", "100% só", "São João + 1", "emoji 😀"])
def test_no_text_can_become_a_field_of_its_own(text: str) -> None:
    """A description with `&` and `=` stays one value, and every sign survives."""
    request = GATEWAY.render_charge(
        key=KEY, amount_cents=1, description=text, customer=CUSTOMER, expires_in_seconds=60
    )
    assert request.body.isascii()
    assert fields(request.body)["description"] == text
    assert fields(request.body)["amount"] == "1"


def test_rendering_is_pure() -> None:
    """The same arguments give the same bytes: a repeat is compared by Stripe."""
    assert charge_request() == charge_request()
    assert charge_request().sha256() == charge_request().sha256()


@pytest.mark.parametrize(
    ("ref", "name"), [("pi_1", "payment_intent"), ("ch_1", "charge"), ("py_1", "charge")]
)
def test_a_refund_names_what_it_gives_back(ref: str, name: str) -> None:
    """An intent by its id, a charge that was made otherwise by its own."""
    request = refund_request(charge_ref=ref)
    assert request.path == "/v1/refunds"
    assert fields(request.body) == {name: ref, "amount": "500", "metadata[aval_action]": KEY}


def test_a_transfer_is_a_payout_to_the_configured_account() -> None:
    """The destination is said, so that a change of the default at Stripe changes nothing."""
    request = transfer_request()
    assert request.path == "/v1/payouts"
    assert fields(request.body) == {
        "amount": "700",
        "currency": "brl",
        "destination": BANK,
        "metadata[aval_action]": KEY,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"key": "A" * 32},
        {"key": "a" * 31},
        {"amount_cents": 0},
        {"amount_cents": -1},
        {"amount_cents": 10**11},
        {"expires_in_seconds": 9},
        {"expires_in_seconds": 1_209_601},
        {"description": ""},
        {"description": "x" * 257},
        {"description": "two\nlines"},
        {"customer": Customer(name="", document="12345678909")},
        {"customer": Customer(name="Cliente", document="123")},
        {"customer": Customer(name="Cliente", document="12345678909", email="a\nb")},
    ],
)
def test_what_cannot_be_charged_is_refused_when_it_is_rendered(changes: dict[str, Any]) -> None:
    """Found before the person is asked, and without personal data in the message."""
    given: dict[str, Any] = {
        "key": KEY,
        "amount_cents": AMOUNT,
        "description": "Corte",
        "customer": CUSTOMER,
        "expires_in_seconds": 600,
        **changes,
    }
    with pytest.raises(RenderError) as error:
        GATEWAY.render_charge(**given)
    assert "12345678909" not in str(error.value)


@pytest.mark.parametrize("ref", ["", "../x", "pi_1/cancel", "pi 1", "pi_1?x", "p" * 65])
def test_a_ref_that_is_none_is_refused(ref: str) -> None:
    """What would leave the path or the field is no id."""
    with pytest.raises(RenderError):
        refund_request(charge_ref=ref)
