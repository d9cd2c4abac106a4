"""What goes to Asaas is frozen, exact, and bears our key."""

import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.asaas_requests import due_day, pix_key_type, with_customer
from gateways.contract import Customer, RenderError
from gateways.rendering import MAX_AMOUNT_CENTS
from tests.unit.gateways.asaas_fakes import (
    DUE,
    GATEWAY,
    NOW,
    REQUESTS,
    charge_request,
    gateway_answering,
    refund_request,
    transfer_request,
)
from tests.unit.gateways.fakes import CUSTOMER, DOCUMENT, KEY


def test_the_charges_bytes_are_these() -> None:
    """Sorted names, money as a number literal, the mark in the customer's place."""
    request = charge_request()
    assert (request.method, request.path) == ("POST", "/v3/payments")
    assert request.body == (
        '{"billingType":"PIX","customer":"customer-of-document","description":"Corte de cabelo",'
        f'"dueDate":"{DUE}","externalReference":"{KEY}","value":150.00}}'
    )
    assert request.expect["document"] == DOCUMENT
    assert DOCUMENT not in request.body


def test_refund_and_transfer_bear_the_key_too() -> None:
    """A refund in its description, a transfer in its reference with the frozen destination."""
    assert refund_request().body == f'{{"description":"{KEY}","value":5.00}}'
    assert refund_request().path == "/v3/payments/pay_1/refund"
    assert transfer_request().body == (
        f'{{"externalReference":"{KEY}","operationType":"PIX",'
        '"pixAddressKey":"loja@simulador.example","pixAddressKeyType":"EMAIL","value":7.00}'
    )


@pytest.mark.parametrize("operation", list(REQUESTS))
def test_equal_arguments_give_equal_bytes(operation: str) -> None:
    """Nothing is minted: no random and no second clock."""
    again = {
        "charge": charge_request(),
        "refund": refund_request(),
        "transfer": transfer_request(),
    }
    assert again[operation] == REQUESTS[operation]


@given(cents=st.integers(min_value=1, max_value=MAX_AMOUNT_CENTS - 1))
def test_every_amount_is_an_exact_number(cents: int) -> None:
    """Read as a decimal it is the confirmed cents, with two digits behind the point."""
    body = transfer_request(cents).body
    value = json.loads(body, parse_float=Decimal)["value"]
    assert value * 100 == cents
    assert body.rsplit(":", 1)[1][:-1].split(".")[1].isdigit()


@given(description=st.text(min_size=1, max_size=60))
def test_only_the_mark_is_replaced(description: str) -> None:
    """Whatever stands in the description, the customer's id goes into the customer's place."""
    try:
        request = charge_request(description=description)
    except RenderError:
        return
    sent = json.loads(with_customer(request, "cus_9"))
    assert sent == {**json.loads(request.body), "customer": "cus_9"}


def test_a_description_that_imitates_the_mark_changes_nothing() -> None:
    """Its quotes are escaped in the body."""
    text = '"customer":"customer-of-document"'
    sent = json.loads(with_customer(charge_request(description=text), "cus_9"))
    assert (sent["customer"], sent["description"]) == ("cus_9", text)


@pytest.mark.parametrize(
    ("now", "seconds", "zone", "day"),
    [
        (NOW, 86_400, "America/Sao_Paulo", "2026-12-01"),  # made at midnight, due the day's end
        (NOW + 86_280, 3600, "America/Sao_Paulo", "2026-12-01"),  # 23:58, payable until 00:58
        (NOW + 3600, 82_800, "America/Sao_Paulo", "2026-12-01"),
        (NOW, 8 * 86_400, "America/Sao_Paulo", "2026-12-08"),
        (NOW + 3600, 86_400, "America/Manaus", "2026-12-01"),
        (NOW, 600, "America/Sao_Paulo", "2026-12-01"),
    ],
)
def test_the_due_day_is_the_one_that_was_confirmed(
    now: float, seconds: int, zone: str, day: str
) -> None:
    """Asaas takes a day; the seconds end with it, or an hour later for one made near midnight."""
    at = datetime.fromtimestamp(now, UTC)
    assert due_day(at, expires_in_seconds=seconds, time_zone=zone).isoformat() == day


@pytest.mark.parametrize(
    ("pix_key", "kind"),
    [
        ("loja@simulador.example", "EMAIL"),
        ("+5541999990000", "PHONE"),
        ("12345678909", "CPF"),
        ("12ABC34501DE35", "CNPJ"),
        ("7f0c7c52-0000-4000-8000-000000000001", "EVP"),
    ],
)
def test_the_kind_of_a_pix_key_is_told(pix_key: str, kind: str) -> None:
    """A phone is one by its +55: eleven bare digits are a CPF."""
    assert pix_key_type(pix_key) == kind


def test_a_phone_goes_without_its_country() -> None:
    """As Asaas writes it."""
    gateway = gateway_answering(lambda _request: httpx.Response(500), pix_key="+5541999990000")
    request = gateway.render_transfer(key=KEY, amount_cents=700)
    assert json.loads(request.body)["pixAddressKey"] == "41999990000"
    assert request.expect["pix_key"] == "41999990000"


@pytest.mark.parametrize(
    "changes",
    [
        {"key": KEY.upper()},
        {"amount_cents": 0},
        {"amount_cents": -1},
        {"amount_cents": MAX_AMOUNT_CENTS},
        {"description": ""},
        {"description": "a\nb"},
        {"description": "x" * 501},
        {"expires_in_seconds": 0},
        {"customer": Customer(name="x", document="123")},
    ],
)
def test_what_cannot_be_charged_is_refused_without_personal_data(changes: dict[str, Any]) -> None:
    """Before anything is proposed."""
    with pytest.raises(RenderError) as error:
        charge_request(**changes)
    assert CUSTOMER.document not in str(error.value)


def test_capabilities_say_that_nothing_is_ever_resent() -> None:
    """The core reads this: no retention, no age, no operation."""
    said = GATEWAY.capabilities
    assert said.mechanism == "lookup_only"
    assert not said.resend_within
    assert said.resend_after_absent == frozenset()
    assert not said.replays_duplicates
    assert not said.refund_has_key
    assert said.money == "decimal_number"
    assert math.isclose(said.lookup_lag.total_seconds(), 60)
