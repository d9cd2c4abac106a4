"""A look-up at a bank with the API Pix: what is there, what is not, and what nobody can say."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from domain.outcomes import LookupResult, Presence, ProviderRequest
from tests.unit.gateways.fakes import KEY, OTHER_KEY, PIX_CODE
from tests.unit.gateways.pix_fakes import (
    DOCS,
    E2EID,
    REQUESTS,
    TXID,
    charge_doc,
    charge_request,
    error_doc,
    gateway_answering,
    paid_doc,
    pix_doc,
    problem_doc,
    refund_doc,
    refund_request,
    sent_doc,
    transfer_request,
)

ABSENT: dict[str, list[tuple[int, dict[str, Any]]]] = {
    "charge": [(400, error_doc("cobranca_nao_encontrada"))],
    "refund": [
        (400, error_doc("devolucao_nao_encontrada")),
        (400, error_doc("pix_nao_encontrado")),
    ],
    "transfer": [(404, problem_doc(404, "PixEnviadoNaoEncontrado"))],
}
PATHS = {
    "charge": f"/v2/cob/{KEY}",
    "refund": f"/v2/pix/{E2EID}/devolucao/{KEY}",
    "transfer": f"/v2/gn/pix/enviados/id-envio/{KEY}",
}


async def looked(
    request: ProviderRequest, status: int, body: Any = None, *, text: str | None = None
) -> LookupResult:
    gateway = gateway_answering(lambda _request: httpx.Response(status, json=body, text=text))
    return await gateway.lookup(KEY, request)


@pytest.mark.parametrize("operation", list(REQUESTS))
async def test_an_effect_is_found_by_one_get_under_our_key(operation: str) -> None:
    """One GET with the token, and it is ours if every field is."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=DOCS[operation]())

    found = await gateway_answering(answer).lookup(KEY, REQUESTS[operation])
    assert (found.presence, found.final, found.equal) == (Presence.FOUND, True, True)
    assert [(one.method, one.url.path) for one in asked] == [("GET", PATHS[operation])]
    assert asked[0].headers["authorization"] == "Bearer t0ken"
    assert found.provider_ref == KEY


async def test_a_found_charge_hands_its_code_on() -> None:
    """The person gets the code that the lost answer would have had."""
    assert (await looked(charge_request(), 200, charge_doc())).data["qr_code"] == PIX_CODE


@pytest.mark.parametrize("operation", list(REQUESTS))
async def test_the_banks_own_not_found_is_an_absence(operation: str) -> None:
    """Status and name together, and a later look may overturn it."""
    for status, body in ABSENT[operation]:
        found = await looked(REQUESTS[operation], status, body)
        assert (found.presence, found.final) == (Presence.ABSENT, False)


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 500, 503])
async def test_every_other_answer_is_uncertain(operation: str, status: int) -> None:
    """A refusal, another object's "not found", and the right words with another status."""
    bodies = [error_doc(), error_doc("erro_aplicacao"), problem_doc(status), {}, {"error": "x"}]
    bodies += [body for other in ABSENT.values() for _, body in other]
    for body in bodies:
        if (status, body) in ABSENT[operation]:
            continue
        found = await looked(REQUESTS[operation], status, body)
        assert found.presence is Presence.UNCERTAIN, body


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("status", [200, 400, 404])
@pytest.mark.parametrize("text", ["", "<html>404</html>", "[]", "null", "{}", '{"nome": "x"}'])
async def test_what_is_not_the_banks_is_uncertain(operation: str, status: int, text: str) -> None:
    """A proxy's 404 or an empty page is no absence."""
    found = await looked(REQUESTS[operation], status, text=text)
    assert found.presence is Presence.UNCERTAIN


@pytest.mark.parametrize(
    ("request_", "doc", "named"),
    [
        (charge_request(), charge_doc(revisao=1), "revisao: frozen 0, found 1"),
        (charge_request(), charge_doc(valor={"original": "1.00"}), "valor.original"),
        (charge_request(), charge_doc(txid=OTHER_KEY), "txid"),
        (
            charge_request(),
            charge_doc(status="REMOVIDA_PELO_USUARIO_RECEBEDOR"),
            "taken back since: 'REMOVIDA_PELO_USUARIO_RECEBEDOR'",
        ),
        (refund_request(), refund_doc(valor="50.00"), "valor"),
        (transfer_request(), sent_doc(favorecido={"chave": "x@y"}), "favorecido.chave differs"),
    ],
)
async def test_what_differs_is_found_and_named(
    request_: ProviderRequest, doc: dict[str, Any], named: str
) -> None:
    """Never equal, never absent: an operator reads what differs."""
    found = await looked(request_, 200, doc)
    assert (found.presence, found.equal) == (Presence.FOUND, False)
    assert found.differences[0].startswith(named)


@pytest.mark.parametrize(
    ("request_", "doc", "presence", "final"),
    [
        (charge_request(), charge_doc(status="CONCLUIDA"), Presence.FOUND, True),
        (charge_request(), charge_doc(status="NOVA"), Presence.FOUND, False),
        (charge_request(), charge_doc(pixCopiaECola=None), Presence.FOUND, False),
        (refund_request(), refund_doc(status="EM_PROCESSAMENTO"), Presence.FOUND, False),
        (refund_request(), refund_doc(status="NAO_REALIZADO"), Presence.ABSENT, True),
        (transfer_request(), sent_doc(status="EM_PROCESSAMENTO"), Presence.FOUND, False),
        (transfer_request(), sent_doc(status="NAO_REALIZADO"), Presence.ABSENT, True),
    ],
)
async def test_only_a_last_word_is_final(
    request_: ProviderRequest, doc: dict[str, Any], presence: Presence, final: bool
) -> None:
    """In progress is found but not final; not carried out is a final absence."""
    found = await looked(request_, 200, doc)
    assert (found.presence, found.final) == (presence, final)


def paths(*answers: tuple[str, httpx.Response]) -> Callable[[httpx.Request], httpx.Response]:
    by_path = dict(answers)
    return lambda request: by_path.get(request.url.path, httpx.Response(500))


async def test_a_refund_of_a_charge_learns_the_pix_first() -> None:
    """The charge names its Pix; under that the refund is looked up by our key."""
    gateway = gateway_answering(
        paths(
            (f"/v2/cob/{TXID}", httpx.Response(200, json=paid_doc(pix_doc()))),
            (PATHS["refund"], httpx.Response(200, json=refund_doc())),
        )
    )
    found = await gateway.lookup(KEY, refund_request(TXID))
    assert (found.presence, found.equal) == (Presence.FOUND, True)


@pytest.mark.parametrize(
    "charge",
    [
        httpx.Response(500),
        httpx.Response(400, json=error_doc("cobranca_nao_encontrada")),
        httpx.Response(200, json=paid_doc()),
        httpx.Response(200, json=paid_doc(status="ATIVA")),
        httpx.Response(200, json=paid_doc(pix_doc(), pix_doc(endToEndId="E" + "9" * 31))),
        httpx.Response(200, json=paid_doc(pix_doc(endToEndId="../../x"))),
        httpx.Response(200, json=paid_doc(pix_doc(endToEndId=None))),
        httpx.Response(200, json=paid_doc(pix_doc(), txid=OTHER_KEY)),
        httpx.Response(200, json=paid_doc(pix="E1")),
    ],
)
async def test_a_refund_whose_pix_cannot_be_told_is_uncertain(charge: httpx.Response) -> None:
    """Without the one Pix there is nothing to ask under; that is never an absence."""
    gateway = gateway_answering(paths((f"/v2/cob/{TXID}", charge)))
    found = await gateway.lookup(KEY, refund_request(TXID))
    assert found.presence is Presence.UNCERTAIN


async def test_without_a_token_a_look_up_is_uncertain() -> None:
    """A bank that lets nobody in has not said "absent"."""
    gateway = gateway_answering(
        lambda _request: httpx.Response(200, json=charge_doc()), token=lambda: httpx.Response(401)
    )
    found = await gateway.lookup(KEY, charge_request())
    assert found.presence is Presence.UNCERTAIN
    assert "no access token: status 401" in str(found.evidence["reason"])
