"""The simulated bank behaves as the API Pix and Efí's pages describe."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.unit.simulators.payments_far_side import KEY, counters, provider

CHARGE = f"/v2/cob/{KEY}"
OTHER = "b" * 32


def body(cents: str = "150.00", **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "calendario": {"expiracao": 600},
        "devedor": {"cpf": "12345678909", "nome": "Cliente"},
        "valor": {"original": cents},
        "chave": "loja@simulador.example",
    }
    return {**made, **changes}


def transfer(cents: str = "7.00", **changes: Any) -> dict[str, Any]:
    payer = {"chave": "loja@simulador.example"}
    return {"valor": cents, "pagador": payer, "favorecido": {"chave": "x@y"}, **changes}


@asynccontextmanager
async def bank() -> AsyncIterator[httpx.AsyncClient]:
    """A client with a token."""
    async with provider() as http:
        given = await http.post("/oauth/token", auth=("id", "sk"))
        http.headers["Authorization"] = f"Bearer {given.json()['access_token']}"
        yield http


async def paid(http: httpx.AsyncClient) -> str:
    """The e2eid of a Pix that paid a charge."""
    await http.put(CHARGE, json=body())
    found: str = (await http.post(f"/admin/pay/{KEY}")).json()["pix"][0]["endToEndId"]
    return found


async def test_a_token_is_given_for_the_secret_alone_and_ends() -> None:
    """HTTP Basic for the token, the token for everything else, for an hour."""
    async with bank() as http:
        assert (await http.get("/v2/gn/saldo")).json() == {"saldo": "1000.00"}
        for header in ("", "Bearer x", "Bearer 9999999999.x", "Basic c2s6", "Bearer é"):
            answer = await http.get("/v2/gn/saldo", headers={b"Authorization": header.encode()})
            assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
        await http.post("/admin/clock", json={"advance_seconds": 3601})
        assert (await http.get("/v2/gn/saldo")).status_code == 401
        for pair in (("id", "wrong"), ("", "sk")):
            assert (await http.post("/oauth/token", auth=pair)).status_code == 401
        assert (await http.post("/oauth/token", auth=("id", "sk"))).status_code == 200


async def test_a_repeated_txid_is_refused_whatever_its_body() -> None:
    """409 `txid_duplicado`; the first charge stays as it was, for good."""
    async with bank() as http:
        first = await http.put(CHARGE, json=body())
        await http.post("/admin/clock", json={"advance_seconds": 3000})
        for again in (body(), body("1.00")):
            answer = await http.put(CHARGE, json=again)
            assert (answer.status_code, answer.json()["nome"]) == (409, "txid_duplicado")
        assert (await http.get(CHARGE)).json() == first.json()
        assert (await counters(http))["effects_by_key"] == {KEY: 1}


async def test_what_is_not_there_is_400_but_404_for_sent_pix() -> None:
    """Efí's own way; the sent ones as the specification has it."""
    async with bank() as http:
        e2eid = await paid(http)
        for path, name in (
            (f"/v2/cob/{OTHER}", "cobranca_nao_encontrada"),
            (f"/v2/pix/{e2eid}/devolucao/{KEY}", "devolucao_nao_encontrada"),
            (f"/v2/pix/E1/devolucao/{KEY}", "pix_nao_encontrado"),
            ("/v2/pix/E1", "pix_nao_encontrado"),
        ):
            answer = await http.get(path)
            assert (answer.status_code, answer.json()["nome"]) == (400, name)
        answer = await http.get(f"/v2/gn/pix/enviados/id-envio/{KEY}")
        assert (answer.status_code, answer.json()["status"]) == (404, 404)
        assert answer.json()["type"].endswith("/PixEnviadoNaoEncontrado")


@pytest.mark.parametrize(
    "changes",
    [
        {"valor": {"original": 150.0}},
        {"valor": {"original": "150"}},
        {"valor": {"original": "0.00"}},
        {"valor": None},
        {"calendario": {"expiracao": 0}},
        {"calendario": {"expiracao": "600"}},
        {"devedor": {"nome": "x"}},
        {"devedor": {"cpf": "12345678909"}},
        {"chave": "other@simulador.example"},
        {"solicitacaoPagador": "x" * 141},
    ],
)
async def test_a_malformed_charge_is_refused(changes: dict[str, Any]) -> None:
    """400 in the bank's own shape, and nothing is done."""
    async with bank() as http:
        answer = await http.put(CHARGE, json=body(**changes))
        assert (answer.status_code, set(answer.json())) == (400, {"nome", "mensagem"})
        assert (await http.put("/v2/cob/short", json=body())).status_code == 400
        assert (await http.put(CHARGE, content=b"[")).status_code == 400
        assert (await counters(http))["effects_total"] == 0


async def test_a_refund_is_taken_in_then_done_and_its_id_used_once() -> None:
    """201 is EM_PROCESSAMENTO; the sum of all never exceeds the Pix."""
    async with bank() as http:
        e2eid = await paid(http)
        path = f"/v2/pix/{e2eid}/devolucao/{KEY}"
        made = await http.put(path, json={"valor": "100.00"})
        assert (made.status_code, made.json()["status"]) == (201, "EM_PROCESSAMENTO")
        assert (await http.get(path)).json()["status"] == "DEVOLVIDO"
        again = await http.put(path, json={"valor": "100.00"})
        assert (again.status_code, again.json()["nome"]) == (409, "devolucao_id_duplicado")
        more = await http.put(f"/v2/pix/{e2eid}/devolucao/{OTHER}", json={"valor": "50.01"})
        assert more.status_code == 400
        assert (await http.get("/v2/gn/saldo")).json() == {"saldo": "1050.00"}
        assert (await counters(http))["effects_by_operation"] == {"charge": 1, "refund": 1}


async def test_a_refund_of_a_cent_is_not_carried_out() -> None:
    """As in Efí's sandbox: taken in, then NAO_REALIZADO, and no money moves."""
    async with bank() as http:
        path = f"/v2/pix/{await paid(http)}/devolucao/{KEY}"
        assert (await http.put(path, json={"valor": "0.01"})).status_code == 201
        assert (await http.get(path)).json()["status"] == "NAO_REALIZADO"
        assert (await http.get("/v2/gn/saldo")).json() == {"saldo": "1150.00"}
        assert (await counters(http))["effects_by_operation"] == {"charge": 1}


async def test_a_sent_pix_is_taken_in_then_done_and_its_id_used_once() -> None:
    """The answer names neither key; the look-up both."""
    async with bank() as http:
        made = await http.put(f"/v2/gn/pix/{KEY}", json=transfer())
        assert (made.status_code, set(made.json())) == (
            201,
            {"idEnvio", "e2eId", "valor", "horario", "status"},
        )
        shown = (await http.get(f"/v2/gn/pix/enviados/id-envio/{KEY}")).json()
        assert (shown["status"], shown["chave"]) == ("REALIZADO", "loja@simulador.example")
        assert (shown["favorecido"], shown["endToEndId"]) == (
            {"chave": "x@y"},
            made.json()["e2eId"],
        )
        again = await http.put(f"/v2/gn/pix/{KEY}", json=transfer())
        assert (again.status_code, again.json()["nome"]) == (409, "id_envio_duplicado")
        assert (await http.get("/v2/gn/saldo")).json() == {"saldo": "993.00"}


async def test_a_pix_that_cannot_be_sent_is_refused() -> None:
    """More than the balance, from a key of somebody else."""
    async with bank() as http:
        high = await http.put(f"/v2/gn/pix/{KEY}", json=transfer("1000.01"))
        assert (high.status_code, high.json()["nome"]) == (422, "pagamento_negado")
        foreign = await http.put(f"/v2/gn/pix/{KEY}", json=transfer(pagador={"chave": "z@y"}))
        assert (foreign.status_code, foreign.json()["nome"]) == (400, "chave_invalida")
        assert (await counters(http))["effects_total"] == 0


async def test_a_charge_is_paid_once_and_not_after_its_time() -> None:
    """CONCLUIDA takes no other Pix; an expired one none."""
    async with bank() as http:
        await paid(http)
        assert (await http.post(f"/admin/pay/{KEY}")).status_code == 409
        await http.put(f"/v2/cob/{OTHER}", json=body())
        await http.post("/admin/clock", json={"advance_seconds": 601})
        assert (await http.post(f"/admin/pay/{OTHER}")).status_code == 409
        assert (await http.post("/admin/pay/none")).status_code == 404


async def test_the_fault_that_ignores_keys_alters_the_open_charge() -> None:
    """As the specification allows: another body under the same txid, and a higher revision."""
    async with bank() as http:
        await http.put(CHARGE, json=body())
        await http.post("/admin/faults", json={"kind": "ignore_key", "path_prefix": "/v2/"})
        altered = (await http.put(CHARGE, json=body("1.00"))).json()
        assert (altered["revisao"], altered["valor"]) == (1, {"original": "1.00"})
        await http.post(f"/admin/pay/{KEY}")
        await http.post("/admin/faults", json={"kind": "ignore_key", "path_prefix": "/v2/"})
        assert (await http.put(CHARGE, json=body())).status_code == 400
        assert (await counters(http))["effects_by_key"] == {KEY: 1}
