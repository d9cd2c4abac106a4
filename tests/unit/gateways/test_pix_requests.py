"""Requests of the API Pix are frozen bytes with our key as the id in the path."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.contract import Customer, RenderError
from tests.unit.gateways.fakes import CUSTOMER, KEY, OTHER_KEY
from tests.unit.gateways.pix_fakes import (
    E2EID,
    GATEWAY,
    PIX_KEY,
    TO_PIX_KEY,
    TXID,
    charge_request,
    refund_request,
    transfer_request,
)


def test_a_charge_is_one_put_under_our_key() -> None:
    """The whole of it, byte for byte; the key stands in the path and nowhere else."""
    request = charge_request()
    assert (request.method, request.path) == ("PUT", f"/v2/cob/{KEY}")
    assert request.body == (
        '{"calendario":{"expiracao":600},"chave":"loja@banco.example",'
        '"devedor":{"cpf":"12345678909","nome":"Cliente"},'
        '"solicitacaoPagador":"Corte de cabelo","valor":{"original":"150.00"}}'
    )
    assert charge_request() == request
    assert charge_request(OTHER_KEY).body == request.body


def test_a_refund_is_one_put_under_the_pix_and_our_key() -> None:
    """By e2eid whole; by txid with the place of the Pix open, and the charge frozen."""
    by_pix, by_charge = refund_request(E2EID), refund_request(TXID)
    assert by_pix.path == f"/v2/pix/{E2EID}/devolucao/{KEY}"
    assert by_charge.path == f"/v2/pix/:e2eid/devolucao/{KEY}"
    assert by_pix.body == by_charge.body == '{"valor":"5.00"}'
    assert by_charge.expect["charge"] == TXID
    assert by_charge.sha256() != refund_request("d" * 32).sha256()


def test_a_transfer_is_one_put_under_our_key() -> None:
    """From the own key to the configured one."""
    request = transfer_request()
    assert (request.method, request.path) == ("PUT", f"/v2/gn/pix/{KEY}")
    assert json.loads(request.body) == {
        "favorecido": {"chave": TO_PIX_KEY},
        "pagador": {"chave": PIX_KEY},
        "valor": "7.00",
    }


def test_no_request_bears_a_secret() -> None:
    """What is stored has neither token nor credentials."""
    for request in (charge_request(), refund_request(), transfer_request()):
        assert "s3cret" not in request.model_dump_json()
        assert set(request.headers) == {"Content-Type"}


@given(st.integers(min_value=1, max_value=10**11 - 1))
def test_money_is_a_decimal_text_and_exact(cents: int) -> None:
    """Never a number: 150.00, two decimals, no exponent, and back to the same cents."""
    value = json.loads(charge_request(amount_cents=cents).body)["valor"]["original"]
    assert isinstance(value, str)
    reais, _, rest = value.partition(".")
    assert (int(reais) * 100 + int(rest), len(rest)) == (cents, 2)


@pytest.mark.parametrize("document", ["12345678000195", "12ABC34501DE35"])
def test_a_company_is_named_by_its_cnpj(document: str) -> None:
    """Also one with letters; never both documents."""
    request = GATEWAY.render_charge(
        key=KEY,
        amount_cents=1,
        description="x",
        customer=Customer(name="Loja", document=document),
        expires_in_seconds=600,
    )
    assert json.loads(request.body)["devedor"] == {"cnpj": document, "nome": "Loja"}


@pytest.mark.parametrize(
    "changes",
    [
        {"key": "A" * 32},
        {"key": KEY[:-1]},
        {"amount_cents": 0},
        {"amount_cents": -1},
        {"amount_cents": 10**11},
        {"description": ""},
        {"description": "x" * 141},
        {"description": "two\nlines"},
        {"customer": CUSTOMER.model_copy(update={"name": "x" * 201})},
        {"customer": CUSTOMER.model_copy(update={"document": "123"})},
        {"expires_in_seconds": 0},
        {"expires_in_seconds": 30 * 24 * 3600 + 1},
    ],
)
def test_what_a_bank_would_cut_or_refuse_is_refused_here(changes: dict[str, Any]) -> None:
    """The person confirms what is printed, not what fits."""
    values: dict[str, Any] = {
        "key": KEY,
        "amount_cents": 100,
        "description": "x",
        "customer": CUSTOMER,
        "expires_in_seconds": 600,
    }
    with pytest.raises(RenderError):
        GATEWAY.render_charge(**{**values, **changes})


@pytest.mark.parametrize(
    "ref", ["", "x", "../cob", "E1", "a" * 25, "a" * 36, "a" * 31 + "/", "é" * 32]
)
def test_what_is_no_charge_is_not_given_back(ref: str) -> None:
    """Neither a txid nor an e2eid: nothing that could lead to another path."""
    with pytest.raises(RenderError):
        refund_request(ref)
