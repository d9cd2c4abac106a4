"""Our requests and the simulator's answers, judged by the Central Bank's own description."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from gateways.contract import Customer
from simulators.payments import PaymentsSimulatorClient
from simulators.payments.process import PaymentsSimulatorProcess
from tests.integration.gateways.conftest import API_KEY
from tests.integration.gateways.pix_kit import (
    charge_request,
    new_key,
    paid_charge,
    pix_at,
    refund_request,
    send,
)
from tests.integration.gateways.pix_schema import faults, operation, patched, spec

GATEWAY = pix_at("http://127.0.0.1:1")
E2EID = "E0908935620261201123412345678901"


@pytest.fixture
async def bank(simulator_process: PaymentsSimulatorProcess) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is no gateway of ours."""
    async with httpx.AsyncClient(base_url=simulator_process.url, trust_env=False) as http:
        answer = await http.post(
            "/oauth/token", auth=("id", API_KEY), json={"grant_type": "client_credentials"}
        )
        http.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
        yield http


def names_of(document: str) -> Customer:
    return Customer(name="Cliente " + "x" * 192, document=document)


@pytest.mark.parametrize("document", ["12345678909", "12345678000195", "12ABC34501DE35"])
@pytest.mark.parametrize("cents", [1, 15_000, 10**11 - 1])
def test_a_rendered_charge_is_a_requested_charge(document: str, cents: int) -> None:
    """CPF, CNPJ and the CNPJ with letters; the least and the most amount; the longest texts."""
    request = GATEWAY.render_charge(
        key="a" * 32,
        amount_cents=cents,
        description="x" * 140,
        customer=names_of(document),
        expires_in_seconds=600,
    )
    body = json.loads(request.body)
    assert faults("CobSolicitada", body) == []
    assert faults("TxId", request.path.rsplit("/", 1)[-1]) == []
    described = operation(request.method, "/cob/{txid}")
    assert described["requestBody"] == {"$ref": "#/components/requestBodies/CobBody"}


def test_a_rendered_refund_is_a_requested_refund() -> None:
    """Amount as a text, our key as its id, the Pix's own id in the path."""
    request = refund_request(GATEWAY, "b" * 32, E2EID)
    found = re.fullmatch(r"/v2/pix/(\w+)/devolucao/(\w+)", request.path)
    assert found is not None
    assert faults("EndToEndId", found[1]) == faults("DevolucaoId", found[2]) == []
    assert faults("DevolucaoSolicitada", json.loads(request.body)) == []
    operation(request.method, "/pix/{e2eid}/devolucao/{id}")


async def test_the_simulators_charges_are_charges(
    bank: httpx.AsyncClient, simulator: PaymentsSimulatorClient, simulator_process: Any
) -> None:
    """Created, looked up, paid and refunded, each as it is described, with the status for it."""
    pix = pix_at(simulator_process.url)
    key = new_key()
    request = charge_request(pix, key)
    made = await bank.put(request.path, content=request.body)
    assert (made.status_code, faults("CobGerada", made.json())) == (201, [])
    assert "201" in operation("put", "/cob/{txid}")["responses"]
    shown = await bank.get(request.path)
    assert (shown.status_code, faults("CobCompleta", shown.json())) == (200, [])
    assert faults("CobCompleta", await simulator.pay(key)) == []
    refund = refund_request(pix, new_key(), key)
    await send(pix, refund.path.rsplit("/", 1)[-1], refund)
    paid = (await bank.get(request.path)).json()
    assert paid["pix"][0]["devolucoes"][0]["status"] == "DEVOLVIDO"
    assert faults("CobCompleta", paid) == []


async def test_the_simulators_refunds_and_pix_are_what_is_described(
    bank: httpx.AsyncClient, simulator: PaymentsSimulatorClient, simulator_process: Any
) -> None:
    """In progress, done, and not carried out; and the received Pix that holds them."""
    charge = await paid_charge(pix_at(simulator_process.url), simulator)
    e2eid = (await bank.get(f"/v2/cob/{charge}")).json()["pix"][0]["endToEndId"]
    for cents, words in (("5.00", "DEVOLVIDO"), ("0.01", "NAO_REALIZADO")):
        path = f"/v2/pix/{e2eid}/devolucao/{new_key()}"
        made = await bank.put(path, json={"valor": cents})
        assert (made.status_code, made.json()["status"]) == (201, "EM_PROCESSAMENTO")
        shown = (await bank.get(path)).json()
        assert (faults("Devolucao", made.json()), faults("Devolucao", shown)) == ([], [])
        assert shown["status"] == words
    assert faults("Pix", (await bank.get(f"/v2/pix/{e2eid}")).json()) == []


async def test_what_the_specification_words_is_a_problem(
    bank: httpx.AsyncClient, simulator: PaymentsSimulatorClient
) -> None:
    """A sent Pix that is not there, and a service that is away; Efí's own shape is none."""
    absent = await bank.get(f"/v2/gn/pix/enviados/id-envio/{new_key()}")
    assert (absent.status_code, faults("Problema", absent.json())) == (404, [])
    await simulator.add_fault("lookup_503")
    away = await bank.get("/v2/gn/saldo")
    assert (away.status_code, faults("Problema", away.json())) == (503, [])
    own = await bank.get(f"/v2/cob/{new_key()}")
    assert (own.status_code, own.json()["nome"]) == (400, "cobranca_nao_encontrada")
    assert faults("Problema", own.json()) != []


@pytest.mark.parametrize(
    ("schema", "changes", "fault"),
    [
        ("CobSolicitada", {"valor": {"original": 150.0}}, "$.valor.original: 150.0 is no string"),
        ("CobSolicitada", {"valor": {"original": "150.001"}}, "is not"),
        ("CobSolicitada", {"valor": {}}, "$.valor: no 'original'"),
        ("CobSolicitada", {"calendario": {"expiracao": "600"}}, "is no integer"),
        ("CobSolicitada", {"devedor": {"cpf": "123", "nome": "x"}}, "0 of oneOf fit"),
        ("CobSolicitada", {"devedor": {"cpf": "12345678909"}}, "0 of oneOf fit"),
        ("CobSolicitada", {"chave": "x" * 78}, "has 78 characters"),
        ("CobSolicitada", {"chave": None}, "None is no string"),
    ],
)
def test_the_judge_finds_faults(schema: str, changes: dict[str, Any], fault: str) -> None:
    """A judge that never says no proves nothing."""
    good = json.loads(charge_request(GATEWAY, "a" * 32).body)
    assert faults(schema, good) == []
    found = faults(schema, {**good, **changes})
    assert any(fault in one for one in found), found


def test_the_judge_knows_the_descriptions_own_faults() -> None:
    """A CPF's pattern stands between slashes, and a txid's has no anchors."""
    assert spec()["components"]["schemas"]["CPF"]["properties"]["cpf"]["pattern"] == r"/^\d{11}$/"
    assert patched(r"/^\d{11}$/") == r"^\d{11}$"
    assert faults("TxId", "a" * 40) != []
    assert faults("Revisao", True) != []
    assert faults("CobrancaStatus", "PAGA") != []
