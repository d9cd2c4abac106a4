"""The API Pix is built only from what agrees with itself, sends only with what was read before,
and reads money as text."""

import ssl
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from domain.outcomes import Outcome, Presence, ProviderRequest
from gateways.contract import ReadFailedError, Readies, get_ready
from gateways.pix_bcb import CAPABILITIES, PixBcbGateway
from gateways.pix_bcb_profiles import EFI
from gateways.registry import GatewayConfigError, GatewayRegistry
from tests.unit.gateways.fakes import GATEWAY as PAGARME
from tests.unit.gateways.fakes import KEY, OTHER_KEY
from tests.unit.gateways.fakes import charge_request as pagarme_request
from tests.unit.gateways.pix_fakes import (
    E2EID,
    REQUESTS,
    TOKEN,
    TXID,
    charge_doc,
    charge_request,
    error_doc,
    gateway_answering,
    paid_doc,
    pix_doc,
    refund_doc,
    refund_request,
)

GOOD = {
    "client_id": "Client_Id_1",
    "api_key": "s3cret",
    "mode": "sandbox",
    "pix_key": "loja@banco.example",
    "recipient_id": "+5541999990000",
    "base_url": "http://127.0.0.1:1",
}


def always(answer: httpx.Response, **changes: Any) -> PixBcbGateway:
    return gateway_answering(lambda _request: answer, **changes)


def never(_request: httpx.Request) -> httpx.Response:
    raise AssertionError("nothing may be sent")


def test_it_is_built_by_name_and_says_what_it_can() -> None:
    """The key is in the path, taken for good; a sent Pix is never sent again after an absence."""
    gateway = GatewayRegistry().build("pix_bcb", GOOD)
    assert (gateway.name, isinstance(gateway, Readies)) == ("pix_bcb", True)
    assert (CAPABILITIES.mechanism, CAPABILITIES.key_retention) == ("path_key", None)
    assert CAPABILITIES.resend_after_absent == {"charge", "refund"}
    assert CAPABILITIES.money == "decimal_string"


@pytest.mark.parametrize(
    "changes",
    [
        {"api_key": ""},
        {"api_key": "s3cret\n"},
        {"client_id": ""},
        {"client_id": None},
        {"client_id": "a:b"},
        {"client_id": "é"},
        {"mode": "test"},
        {"mode": "live"},
        {"profile": "other"},
        {"pix_key": ""},
        {"pix_key": 'a"b'},
        {"pix_key": "x" * 78},
        {"recipient_id": "a b"},
        {"recipient_id": None},
        {"base_url": "https://127.0.0.1:1"},
        {"base_url": None},
        {"base_url": "http://bank.example"},
        {"base_url": "http://127.0.0.1:1/v2"},
        {"certificate": "no-such-file.pem"},
        {"surprise": "s3cret"},
    ],
)
def test_a_configuration_that_contradicts_itself_is_refused(
    changes: Mapping[str, object],
) -> None:
    """Live over plain HTTP, https without a client certificate, no client id; never
    with the secret shown."""
    with pytest.raises(GatewayConfigError) as error:
        GatewayRegistry().build("pix_bcb", {**GOOD, **changes})
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize(
    ("mode", "host"),
    [("sandbox", "https://pix-h.api.efipay.com.br"), ("live", "https://pix.api.efipay.com.br")],
)
async def test_the_mode_is_the_address(mode: str, host: str) -> None:
    """Without an address of its own each mode goes to the bank's own, and nowhere else."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"saldo": "1.00"})

    tls = ssl.create_default_context()
    gateway = gateway_answering(answer, mode=mode, base_url=None, tls=tls)
    assert await gateway.balance() == 100
    assert [str(one.url) for one in asked] == [f"{host}/v2/gn/saldo"]


def test_the_secret_is_in_no_repr() -> None:
    """A gateway in a log line or traceback shows neither credentials nor token."""
    gateway = GatewayRegistry().build("pix_bcb", GOOD)
    shown = repr(gateway) + repr(vars(gateway))
    assert "s3cret" not in shown
    assert "Q2xpZW50" not in shown  # the beginning of the credentials in base64


async def test_the_token_is_asked_for_once_and_before_the_send() -> None:
    """Two actions share it; the send itself is one request with the token and the frozen bytes."""
    seen: list[httpx.Request] = []
    tokens: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(201, json=charge_doc(txid=request.url.path.rsplit("/", 1)[-1]))

    def token() -> httpx.Response:
        tokens.append(len(seen))
        return httpx.Response(200, json=TOKEN)

    gateway = gateway_answering(answer, token=token)
    for key in (KEY, OTHER_KEY):
        request = charge_request(key)
        await get_ready(gateway, key, request)
        result = await gateway.send(key, request, before_wire=lambda: None)
        assert result.outcome is Outcome.CREATED
    assert tokens == [0]
    assert [one.headers["authorization"] for one in seen] == ["Bearer t0ken"] * 2
    assert [one.content.decode() for one in seen] == [charge_request().body] * 2


async def test_a_send_that_nobody_made_ready_is_not_sent() -> None:
    """The send fetches nothing by itself, and the fence's last check is not even reached."""
    gateway = gateway_answering(never, token=lambda: httpx.Response(500))
    reached: list[bool] = []
    result = await gateway.send(KEY, charge_request(), before_wire=lambda: reached.append(True))
    assert (result.outcome, reached) == (Outcome.NOT_SENT, [])
    assert result.reason == "no access token: none was fetched"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (httpx.Response(401, json={"error": "invalid_client"}), "status 401, 'invalid_client'"),
        (httpx.Response(500, text="<html>"), "status 500"),
        (httpx.Response(200, text="<html>"), "status 200"),
        (httpx.Response(200, json={}), "no usable access_token"),
        (httpx.Response(200, json={**TOKEN, "access_token": "a b"}), "no usable access_token"),
        (httpx.Response(200, json={**TOKEN, "access_token": "a\nb"}), "no usable access_token"),
        (httpx.Response(200, json={**TOKEN, "expires_in": 60}), "60 seconds only"),
        (httpx.Response(200, json={**TOKEN, "expires_in": "3600"}), "None seconds only"),
    ],
)
async def test_a_token_that_cannot_be_used_makes_not_sent(
    answer: httpx.Response, problem: str
) -> None:
    """Whatever the bank gives instead of a token, no money request leaves, and it is said why."""
    gateway = gateway_answering(never, token=lambda: answer)
    await gateway.ready(KEY, charge_request())
    result = await gateway.send(KEY, charge_request(), before_wire=lambda: None)
    assert (result.outcome, problem in str(result.reason)) == (Outcome.NOT_SENT, True)


async def test_a_token_is_given_up_before_it_ends_and_after_a_401() -> None:
    """A minute before its end it is not taken to a send; one that was refused is not kept."""
    now = {"s": 0.0}
    given: list[str] = []

    def token() -> httpx.Response:
        given.append(f"t{len(given)}")
        return httpx.Response(200, json={**TOKEN, "access_token": given[-1]})

    answers = [201, 401, 201]

    def answer(request: httpx.Request) -> httpx.Response:
        status = answers.pop(0)
        return httpx.Response(status, json=charge_doc() if status == 201 else {"error": "x"})

    gateway = gateway_answering(answer, token=token, clock=lambda: now["s"])
    outcomes = []
    for seconds in (0.0, 3539.0, 3539.0):
        now["s"] = seconds
        await gateway.ready(KEY, charge_request())
        result = await gateway.send(KEY, charge_request(), before_wire=lambda: None)
        outcomes.append(result.outcome)
    assert outcomes == [Outcome.CREATED, Outcome.REJECTED, Outcome.CREATED]
    assert given == ["t0", "t1"]
    now["s"] += 3541
    assert (await gateway.send(KEY, charge_request(), before_wire=lambda: None)).outcome is (
        Outcome.NOT_SENT
    )


async def test_a_refund_goes_to_the_pix_that_paid_its_charge() -> None:
    """The Pix is read before; the send is one PUT with the key last in its path."""
    seen: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.method, request.url.path))
        if request.method == "GET":
            return httpx.Response(200, json=paid_doc(pix_doc()))
        return httpx.Response(201, json=refund_doc(status="EM_PROCESSAMENTO"))

    gateway = gateway_answering(answer)
    request = refund_request(TXID)
    await gateway.ready(KEY, request)
    assert seen == [("GET", f"/v2/cob/{TXID}")]
    result = await gateway.send(KEY, request, before_wire=lambda: None)
    assert result.outcome is Outcome.IN_PROGRESS
    assert seen[1:] == [("PUT", f"/v2/pix/{E2EID}/devolucao/{KEY}")]


async def test_a_refund_whose_pix_was_not_read_is_not_sent() -> None:
    """Nothing leaves with an open place in its path."""
    gateway = gateway_answering(never)
    await gateway.ready(KEY, charge_request())
    result = await gateway.send(KEY, refund_request(TXID), before_wire=lambda: None)
    assert (result.outcome, result.reason) == (
        Outcome.NOT_SENT,
        "the Pix that paid the charge was not read",
    )


FOREIGN: dict[str, ProviderRequest] = {
    "another provider's": pagarme_request(),
    "the other mode's": charge_request().model_copy(
        update={"expect": {**charge_request().expect, "bank": "efi:live"}}
    ),
    "another account's": charge_request().model_copy(
        update={"expect": {**charge_request().expect, "chave": "other@banco.example"}}
    ),
    "unmarked": charge_request().model_copy(update={"expect": {}}),
    "another key's": charge_request(OTHER_KEY),
    "another operation's": charge_request().model_copy(update={"operation": "transfer"}),
}


@pytest.mark.parametrize("whose", list(FOREIGN))
async def test_a_request_that_another_gateway_rendered_is_neither_sent_nor_absent(
    whose: str,
) -> None:
    """After an account changed its gateway, mode or key, the new one's "not found" proves
    nothing."""
    gateway = gateway_answering(never, token=lambda: httpx.Response(200, json=TOKEN))
    await gateway.ready(KEY, charge_request())
    await gateway.ready(KEY, FOREIGN[whose])
    sent = await gateway.send(KEY, FOREIGN[whose], before_wire=lambda: None)
    seen = await gateway.lookup(KEY, FOREIGN[whose])
    assert (sent.outcome, seen.presence) == (Outcome.NOT_SENT, Presence.UNCERTAIN)


async def test_pagarme_does_not_take_its_requests_and_needs_no_readying() -> None:
    """The same the other way round."""
    for request in REQUESTS.values():
        await get_ready(PAGARME, KEY, request)
        sent = await PAGARME.send(KEY, request, before_wire=lambda: None)
        assert sent.outcome is Outcome.NOT_SENT
        assert (await PAGARME.lookup(KEY, request)).presence is Presence.UNCERTAIN


async def test_a_refused_fence_is_not_sent() -> None:
    """What stops the wire at the last moment stops it."""

    def too_late() -> None:
        raise TimeoutError

    gateway = always(httpx.Response(201, json=charge_doc()))
    await gateway.ready(KEY, charge_request())
    result = await gateway.send(KEY, charge_request(), before_wire=too_late)
    assert (result.outcome, result.reason) == (Outcome.NOT_SENT, "refused before the wire")


async def test_balance_is_a_decimal_text() -> None:
    """A number, a comma or a sign is no balance."""
    assert await always(httpx.Response(200, json={"saldo": "1234.56"})).balance() == 123_456
    for bad in (1234.56, "1234,56", "-1.00", "1", None):
        with pytest.raises(ReadFailedError):
            await always(httpx.Response(200, json={"saldo": bad})).balance()
    with pytest.raises(ReadFailedError, match="no access token"):
        await always(httpx.Response(200), token=lambda: httpx.Response(500)).balance()


async def test_a_charge_is_read_or_unknown_or_failed() -> None:
    """What is being given back counts; what was not carried out does not."""
    refunds = [
        {"id": "1", "valor": "10.00", "status": "DEVOLVIDO"},
        {"id": "2", "valor": "5.00", "status": "EM_PROCESSAMENTO"},
        {"id": "3", "valor": "7.00", "status": "NAO_REALIZADO"},
    ]
    paid = paid_doc(pix_doc(devolucoes=refunds))
    view = await always(httpx.Response(200, json=paid)).charge(TXID)
    assert view is not None
    assert (view.amount_cents, view.paid_cents, view.refunded_cents) == (15_000, 15_000, 1_500)
    by_pix = await always(httpx.Response(200, json=pix_doc(devolucoes=refunds))).charge(E2EID)
    assert by_pix is not None
    assert (by_pix.paid_cents, by_pix.refunded_cents, by_pix.code) == (15_000, 1_500, TXID)
    absent = always(httpx.Response(400, json=error_doc("cobranca_nao_encontrada")))
    assert await absent.charge(TXID) is None
    for bad in (
        httpx.Response(404, text="<html>"),
        httpx.Response(400, json=error_doc()),
        httpx.Response(500),
        httpx.Response(200, json=charge_doc()),
        httpx.Response(200, json=paid_doc(pix_doc(valor=150))),
        httpx.Response(200, json=paid_doc(pix="x")),
    ):
        with pytest.raises(ReadFailedError):
            await always(bad).charge(TXID)


def test_a_profile_says_how_each_operation_is_absent() -> None:
    """A bank without those words could never be looked up."""
    assert set(EFI.absent) == set(REQUESTS)
    assert all(EFI.absent.values())
