"""What each answer of the API Pix proves."""

from typing import Any

import httpx
import pytest

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from gateways.brcode import crc16
from tests.unit.gateways.fakes import KEY, OTHER_KEY, PIX_CODE
from tests.unit.gateways.pix_fakes import (
    DOCS,
    REQUESTS,
    charge_doc,
    charge_request,
    error_doc,
    gateway_answering,
    problem_doc,
    refund_doc,
    refund_request,
    sent_doc,
    transfer_request,
)

HTML = "<html><body>502 Bad Gateway</body></html>"
REFUSALS = [400, 401, 403, 404, 422]
ODD_BODIES = [HTML, "", "{}", "[]", '{"nome": "x"}', '{"nome": 1, "mensagem": 2}', "nul"]
DUPLICATES = ["txid_duplicado", "devolucao_id_duplicado", "id_envio_duplicado"]


async def classified(
    request: ProviderRequest, status: int, *, json: Any = None, text: str | None = None, **more: Any
) -> GatewayResult:
    gateway = gateway_answering(
        lambda _request: httpx.Response(status, json=json, text=text, **more)
    )
    await gateway.ready(KEY, request)
    return await gateway.send(KEY, request, before_wire=lambda: None)


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("status", REFUSALS)
async def test_a_refusal_in_its_own_shape_is_rejected_but_not_for_refunds(
    operation: str, status: int
) -> None:
    """A 4xx of the bank's own proves that nothing was done; of a refund, 400 and 404 do not."""
    for body in (error_doc(), problem_doc(status)):
        result = await classified(REQUESTS[operation], status, json=body)
        open_ = operation == "refund" and status in (400, 404)
        assert result.outcome is (Outcome.UNKNOWN if open_ else Outcome.REJECTED)
        assert result.evidence["status"] == status
        assert result.evidence["provider_message"] in ("Campo inválido", "Negado")


@pytest.mark.parametrize("status", [*REFUSALS, 409, 429])
@pytest.mark.parametrize("text", ODD_BODIES)
async def test_a_refusal_in_another_shape_is_unknown(status: int, text: str) -> None:
    """The same status from something else than the bank proves nothing, a rate limit included."""
    assert (await classified(charge_request(), status, text=text)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "body",
    [
        problem_doc(404),
        {**problem_doc(400), "type": "https://example.com/AcessoNegado"},
        {**problem_doc(400), "status": "400"},
        {**problem_doc(400), "type": None},
        {"error": "invalid_request"},
    ],
)
async def test_a_problem_has_to_be_the_specifications_and_of_the_same_status(
    body: dict[str, Any],
) -> None:
    """A body that a proxy or another service wrote is none, nor is OAuth's shape with 400."""
    assert (await classified(charge_request(), 400, json=body)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_token_is_rejected(status: int) -> None:
    """A 401 is no execution; it is said, not sent again."""
    body = {"error": "invalid_token", "error_description": "expired"}
    result = await classified(charge_request(), status, json=body)
    assert (result.outcome, result.reason) == (Outcome.REJECTED, "expired")
    assert result.evidence["error_code"] == "invalid_token"


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("status", [202, 204, 301, 307, 405, 408, 410, 412, 500, 502, 503, 504])
async def test_every_other_status_is_unknown(operation: str, status: int) -> None:
    """Server errors, redirects and undocumented statuses are never "not done"."""
    result = await classified(
        REQUESTS[operation],
        status,
        json=error_doc(),
        headers={"location": "http://127.0.0.1:1/"},
    )
    assert result.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("status", REFUSALS)
async def test_the_banks_own_trouble_is_unknown(status: int) -> None:
    """`erro_aplicacao` says that something broke over there, not that nothing was done."""
    result = await classified(charge_request(), status, json=error_doc("erro_aplicacao"))
    assert result.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("status", [400, 409, 422])
@pytest.mark.parametrize(
    "body",
    [
        *(error_doc(name) for name in DUPLICATES),
        error_doc("outro", "O id informado já foi utilizado em outra devolução"),
        error_doc("registro_duplicado_novo"),
    ],
)
async def test_a_known_key_is_looked_up_and_never_replaced(
    operation: str, status: int, body: dict[str, Any]
) -> None:
    """Something stands under our key: it may well be ours, so it is no refusal, whatever the
    status."""
    result = await classified(REQUESTS[operation], status, json=body)
    assert result.outcome is Outcome.UNKNOWN
    assert "the key was used already" in str(result.reason)


async def test_another_409_is_unknown() -> None:
    """A conflict that is not said to be the key's proves nothing."""
    assert (await classified(charge_request(), 409, json=error_doc())).outcome is Outcome.UNKNOWN


async def test_a_rate_limit_is_not_sent_with_its_retry_after() -> None:
    """429 in the bank's own shape was not executed; how long to wait is kept as evidence."""
    result = await classified(charge_request(), 429, json=error_doc(), headers={"retry-after": "7"})
    assert (result.outcome, result.evidence["retry_after"]) == (Outcome.NOT_SENT, "7")


async def test_a_refused_payment_is_rejected() -> None:
    """Efí's 422 `pagamento_negado`."""
    result = await classified(transfer_request(), 422, json=error_doc("pagamento_negado", "Negado"))
    assert (result.outcome, result.reason) == (Outcome.REJECTED, "Negado")


@pytest.mark.parametrize("status", [200, 201])
async def test_an_equal_charge_is_created(status: int) -> None:
    """Amount, key, payer, expiry and revision as frozen: created, with its Pix code."""
    result = await classified(charge_request(), status, json=charge_doc())
    assert (result.outcome, result.reason) == (Outcome.CREATED, None)
    assert (result.provider_ref, result.data["qr_code"]) == (KEY, PIX_CODE)
    assert result.data["amount_cents"] == 15_000


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"revisao": 1}, "revisao"),
        ({"revisao": None}, "revisao"),
        ({"revisao": False}, "revisao"),
        ({"txid": OTHER_KEY}, "txid"),
        ({"valor": {"original": "150.01"}}, "valor.original"),
        ({"valor": {"original": 150.0}}, "valor.original"),
        ({"valor": {"original": "150"}}, "valor.original"),
        ({"valor": None}, "valor.original"),
        ({"valor": {"original": "150.00", "modalidadeAlteracao": 1}}, "modalidadeAlteracao"),
        ({"valor": {"original": "150.00", "retirada": {"saque": {}}}}, "retirada"),
        ({"chave": "other@banco.example"}, "chave differs"),
        ({"chave": None}, "chave differs"),
        ({"devedor": {"cpf": "98765432100"}}, "devedor.cpf differs"),
        ({"devedor": {"cnpj": "12345678000195"}}, "devedor.cpf differs"),
        ({"devedor": None}, "devedor.cpf differs"),
        ({"calendario": {"expiracao": 601}}, "calendario.expiracao"),
        ({"calendario": {"expiracao": "601"}}, "calendario.expiracao"),
        ({"calendario": {}}, "calendario.expiracao"),
        ({"pixCopiaECola": PIX_CODE.replace("150.00", "950.00")}, "Pix code"),
        ({"pixCopiaECola": "https://pay.example"}, "not a BR Code"),
        ({"location": "pix.example/v2/other"}, "Pix code url"),
    ],
)
async def test_a_charge_that_differs_is_a_conflict_naming_it(
    changes: dict[str, Any], named: str
) -> None:
    """Whatever is not as it was confirmed is named, and personal data stay out of it."""
    result = await classified(charge_request(), 201, json=charge_doc(**changes))
    assert result.outcome is Outcome.CONFLICT
    assert named in str(result.reason)
    assert "qr_code" not in result.data or "Pix code" not in named
    assert "98765432100" not in result.model_dump_json()
    assert "other@banco.example" not in result.model_dump_json()


@pytest.mark.parametrize(
    "changes",
    [
        {"calendario": {"expiracao": "600"}},
        {"devedor": {"cpf": "123.456.789-09"}},
        {"valor": {"original": "150.00", "modalidadeAlteracao": 0}},
        {"location": None},
        {"solicitacaoPagador": "Outra coisa"},
    ],
)
async def test_a_banks_way_of_writing_is_no_difference(changes: dict[str, Any]) -> None:
    """An expiry as a text (Efí), a document with punctuation, an explicit zero."""
    result = await classified(charge_request(), 201, json=charge_doc(**changes))
    assert result.outcome is Outcome.CREATED


async def test_a_charge_without_a_code_is_not_done_yet() -> None:
    """Nobody can pay it: the look-up shows the code, or the person is not told that it is there."""
    doc = charge_doc(pixCopiaECola=None)
    assert (await classified(charge_request(), 201, json=doc)).outcome is Outcome.IN_PROGRESS


@pytest.mark.parametrize(
    ("request_", "doc", "outcome"),
    [
        (charge_request(), charge_doc(status="CONCLUIDA"), Outcome.CREATED),
        (charge_request(), charge_doc(status="REMOVIDA_PELO_PSP"), Outcome.CONFLICT),
        (charge_request(), charge_doc(status="NOVA"), Outcome.UNKNOWN),
        (refund_request(), refund_doc(), Outcome.CREATED),
        (refund_request(), refund_doc(status="EM_PROCESSAMENTO"), Outcome.IN_PROGRESS),
        (refund_request(), refund_doc(status="NAO_REALIZADO", motivo="Não"), Outcome.REJECTED),
        (refund_request(), refund_doc(status="OUTRO"), Outcome.UNKNOWN),
        (transfer_request(), sent_doc(), Outcome.CREATED),
        (transfer_request(), sent_doc(status="EM_PROCESSAMENTO"), Outcome.IN_PROGRESS),
        (transfer_request(), sent_doc(status="NAO_REALIZADO"), Outcome.REJECTED),
        (transfer_request(), sent_doc(status=None), Outcome.UNKNOWN),
    ],
)
async def test_each_status_word_has_its_outcome(
    request_: ProviderRequest, doc: dict[str, Any], outcome: Outcome
) -> None:
    """201 is not done: the status word decides, and an unknown one proves nothing."""
    assert (await classified(request_, 201, json=doc)).outcome is outcome


@pytest.mark.parametrize(
    ("request_", "doc", "named"),
    [
        (refund_request(), refund_doc(valor="5.01"), "valor"),
        (refund_request(), refund_doc(valor=5.0), "valor"),
        (refund_request(), refund_doc(id=OTHER_KEY), "id"),
        (transfer_request(), sent_doc(valor="70.00"), "valor"),
        (transfer_request(), sent_doc(idEnvio=OTHER_KEY), "idEnvio"),
        (transfer_request(), sent_doc(chave="x@y"), "chave differs"),
        (transfer_request(), sent_doc(favorecido={"chave": "x@y"}), "favorecido.chave differs"),
    ],
)
async def test_a_refund_or_send_that_differs_is_a_conflict(
    request_: ProviderRequest, doc: dict[str, Any], named: str
) -> None:
    """Another amount, id or key is somebody else's effect, or an altered one."""
    result = await classified(request_, 201, json=doc)
    assert (result.outcome, named in str(result.reason)) == (Outcome.CONFLICT, True)


async def test_the_answer_of_a_send_names_no_keys() -> None:
    """Efí's 201 has neither key; that is no difference."""
    doc = sent_doc(status="EM_PROCESSAMENTO", chave=None, favorecido=None, e2eId="E1")
    result = await classified(transfer_request(), 201, json=doc)
    assert (result.outcome, result.data["e2eid"]) == (Outcome.IN_PROGRESS, "E1")


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("text", [HTML, "", "{}", "[]", "null", '{"status": "ATIVA"}'])
async def test_a_success_without_its_object_is_unknown(operation: str, text: str) -> None:
    """201 with something else, or half of it, says nothing."""
    assert (await classified(REQUESTS[operation], 201, text=text)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("error", [httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError])
async def test_what_may_have_left_is_never_called_not_done(
    operation: str, error: type[httpx.TransportError]
) -> None:
    """After the first byte everything is unknown."""

    def broken(_request: httpx.Request) -> httpx.Response:
        raise error("x")

    gateway = gateway_answering(broken)
    await gateway.ready(KEY, REQUESTS[operation])
    result = await gateway.send(KEY, REQUESTS[operation], before_wire=lambda: None)
    assert result.outcome is Outcome.UNKNOWN


def test_each_operation_has_a_document() -> None:
    """The table of documents is whole."""
    assert set(DOCS) == set(REQUESTS)


async def test_a_code_in_efis_way_is_handed_on() -> None:
    """Capital letters in the domain, and no amount: the payer's bank reads it at the address."""
    url = "qrcodespix.sejaefi.com.br/v2/3e9d97fa15354b66b13ca72f880169c6"
    text = (
        f"00020101021226830014BR.GOV.BCB.PIX2561{url}"
        "5204000053039865802BR5905EFISA6008SAOPAULO62070503***6304"
    )
    code = f"{text}{crc16(text):04X}"
    doc = charge_doc(location=url, pixCopiaECola=code)
    result = await classified(charge_request(), 201, json=doc)
    assert (result.outcome, result.data["qr_code"]) == (Outcome.CREATED, code)
