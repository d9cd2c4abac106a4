"""Rendering: pure, frozen, and refusing what the provider would cut."""

import json
from typing import Any

import pytest

from domain.outcomes import ProviderRequest
from gateways.contract import Customer, RenderError
from tests.unit.gateways.fakes import (
    CUSTOMER,
    GATEWAY,
    KEY,
    REQUESTS,
    charge_request,
    refund_request,
    transfer_request,
)


def charge(**changes: Any) -> ProviderRequest:
    arguments: dict[str, Any] = {
        "key": KEY,
        "amount_cents": 15_000,
        "description": "Corte",
        "customer": CUSTOMER,
        "expires_in_seconds": 600,
    }
    return GATEWAY.render_charge(**{**arguments, **changes})


def test_the_same_arguments_give_the_same_bytes() -> None:
    """A retried proposal finds the digest it froze."""
    assert charge_request().sha256() == charge_request().sha256()
    assert charge_request().body == charge_request().body


def test_any_changed_field_changes_the_digest() -> None:
    """The digest covers operation, path, headers, body and what is expected."""
    request = charge_request()
    changed = [
        request.model_copy(update={"operation": "refund"}),
        request.model_copy(update={"method": "PUT"}),
        request.model_copy(update={"path": "/other"}),
        request.model_copy(update={"headers": {}}),
        request.model_copy(update={"body": request.body + " "}),
        request.model_copy(update={"expect": {"x": 1}}),
    ]
    assert len({request.sha256(), *(other.sha256() for other in changed)}) == 7


def test_a_stored_request_comes_back_equal() -> None:
    """JSON in the database and back gives the same digest."""
    request = charge_request()
    assert ProviderRequest.model_validate_json(request.model_dump_json()).sha256() == (
        request.sha256()
    )


def test_the_key_is_in_the_header_and_in_what_is_looked_up() -> None:
    """Sending and looking up use one key."""
    assert all(request.headers["Idempotency-Key"] == KEY for request in REQUESTS.values())
    assert json.loads(charge_request().body)["code"] == KEY
    assert json.loads(transfer_request().body)["metadata"] == {"aval_action": KEY}


def test_money_is_integer_cents_in_every_place() -> None:
    """Item and payment carry the same integer."""
    body = json.loads(charge(amount_cents=15_050).body)
    assert body["items"][0]["amount"] == body["payments"][0]["amount"] == 15_050
    assert json.loads(refund_request(amount_cents=7).body) == {"amount": 7}


@pytest.mark.parametrize(
    "changes",
    [
        {"amount_cents": 0},
        {"amount_cents": -1},
        {"amount_cents": 10**11},
        {"key": KEY.upper()},
        {"key": KEY + "\n"},
        {"description": ""},
        {"description": "a\nb"},
        {"description": "x" * 257},
        {"expires_in_seconds": 0},
        {"customer": Customer(name="", document="12345678909")},
        {"customer": Customer(name="x" * 65, document="12345678909")},
        {"customer": Customer(name="x", document="123.456.789-09")},
        {"customer": Customer(name="x", document="１２３４５６７８９０９")},
        {"customer": Customer(name="x", document="12345678909\n")},
        {"customer": Customer(name="x", document="12345678909", phone="+1 555")},
    ],
)
def test_what_the_provider_would_cut_or_refuse_is_refused_here(changes: dict[str, Any]) -> None:
    """The person confirms what is sent, so nothing is shortened on the way."""
    with pytest.raises(RenderError):
        charge(**changes)


def test_render_errors_hold_no_personal_data() -> None:
    """Messages may be logged; names and documents may not."""
    with pytest.raises(RenderError) as error:
        charge(customer=Customer(name="Segredo\n", document="12345678909"))
    assert "Segredo" not in str(error.value)


@pytest.mark.parametrize("ref", ["", "../orders", "ch 1", "ch/1", "ch_1?x", "ch_1\n"])
def test_an_id_that_would_change_the_path_is_refused(ref: str) -> None:
    """A charge's id cannot lead to another page of the provider."""
    with pytest.raises(RenderError):
        GATEWAY.render_refund(key=KEY, charge_ref=ref, amount_cents=1, refunded_before_cents=0)


@pytest.mark.parametrize(
    "fields",
    [
        {"path": "//evil.example/"},
        {"path": "orders"},
        {"path": "/a b"},
        {"path": "/a\r\nX: y"},
        {"headers": {"Authorization": "Basic x"}},
        {"headers": {"Cookie": "x"}},
        {"headers": {"X": "a\r\nY: b"}},
        {"headers": {"X Y": "a"}},
        {"method": "GET"},
    ],
)
def test_a_request_that_leaves_the_host_or_stores_a_secret_is_refused(
    fields: dict[str, Any],
) -> None:
    """The frozen request can be kept and sent without further thought."""
    with pytest.raises(ValueError, match="validation error"):
        ProviderRequest.model_validate({**charge_request().model_dump(), **fields})
