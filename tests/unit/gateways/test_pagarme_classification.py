"""What each of Pagar.me's answers proves."""

from typing import Any

import httpx
import pytest

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from tests.unit.gateways.fakes import (
    KEY,
    OTHER_KEY,
    REQUESTS,
    charge_doc,
    charge_request,
    gateway_answering,
    order_doc,
    refund_request,
    transfer_request,
    withdrawal_doc,
)

OWN_ERROR = {"message": "The request is invalid.", "errors": {"order.items": ["missing"]}}
HTML = "<html><body>502 Bad Gateway</body></html>"
REFUSALS = [400, 401, 403, 404, 412, 422]


async def classified(
    request: ProviderRequest, status: int, *, json: Any = None, text: str | None = None, **more: Any
) -> GatewayResult:
    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json=json, text=text, **more)

    return await gateway_answering(answer).send(KEY, request, before_wire=lambda: None)


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("status", REFUSALS)
async def test_a_refusal_in_its_own_shape_is_rejected(operation: str, status: int) -> None:
    """A documented 4xx in Pagar.me's own error shape proves that nothing was done."""
    result = await classified(REQUESTS[operation], status, json=OWN_ERROR)
    assert result.outcome is Outcome.REJECTED
    assert result.reason is not None
    assert "The request is invalid." in result.reason
    assert result.evidence["status"] == status


@pytest.mark.parametrize("status", REFUSALS)
@pytest.mark.parametrize("text", [HTML, "", "{}", "[]", '{"message": ""}', "nul", "[" * 100_000])
async def test_a_refusal_in_another_shape_is_unknown(status: int, text: str) -> None:
    """The same status from something else than Pagar.me proves nothing."""
    result = await classified(charge_request(), status, text=text)
    assert result.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize(
    "status", [202, 204, 301, 307, 402, 405, 408, 409, 418, 500, 502, 503, 504]
)
async def test_every_other_status_is_unknown(operation: str, status: int) -> None:
    """Conflicts, server errors, redirects and undocumented statuses are never "not done"."""
    result = await classified(
        REQUESTS[operation], status, json=OWN_ERROR, headers={"location": "http://127.0.0.1:1/"}
    )
    assert result.outcome is Outcome.UNKNOWN


async def test_a_rate_limit_is_not_sent_with_its_retry_after() -> None:
    """429 was not executed; how long to wait is kept as evidence."""
    result = await classified(charge_request(), 429, json=OWN_ERROR, headers={"retry-after": "7"})
    assert result.outcome is Outcome.NOT_SENT
    assert result.evidence["retry_after"] == "7"


@pytest.mark.parametrize("status", [400, 412, 422])
async def test_a_refusal_as_a_repeat_is_unknown(status: int) -> None:
    """A refusal because the key was used before says that something *was* done under it."""
    message = {"message": "Idempotency-Key must be unique"}
    result = await classified(transfer_request(), status, json=message)
    assert result.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("status", [200, 201])
async def test_an_equal_order_is_created(status: int) -> None:
    """An order that bears the frozen amount, key and payer is created, with its Pix code."""
    result = await classified(charge_request(), status, json=order_doc())
    assert result.outcome is Outcome.CREATED
    assert result.reason is None
    assert result.provider_ref == "ch_1"
    assert str(result.data["qr_code"]).startswith("000201")


@pytest.mark.parametrize(
    "order",
    [
        order_doc(amount=15),
        order_doc(code=OTHER_KEY),
        order_doc(code=None),
        order_doc(customer={"document": "98765432100"}),
        order_doc(customer=None),
        order_doc(charge_doc(amount=15)),
        order_doc(charge_doc(payment_method="credit_card")),
        order_doc(charges=[]),
        order_doc(charges=[charge_doc(), charge_doc(id="ch_2")]),
        order_doc(amount=15_000.0),
        order_doc(charge_doc(status="canceled"), status="canceled"),
        order_doc(status="failed", code=OTHER_KEY),
    ],
)
async def test_a_success_that_differs_is_a_conflict(order: dict[str, Any]) -> None:
    """200 may replay what another body did under the key; any difference stops for a human."""
    result = await classified(charge_request(), 200, json=order)
    assert result.outcome is Outcome.CONFLICT
    assert result.reason
    assert "98765432100" not in result.model_dump_json()


async def test_a_pix_code_for_another_amount_is_a_conflict() -> None:
    """The code is what gets paid: one that asks for other money never reaches the customer."""
    charge = charge_doc(amount=15)
    order = order_doc(charge, amount=15)
    result = await classified(charge_request(amount_cents=15), 200, json=order)
    assert result.outcome is Outcome.CONFLICT
    assert "qr_code" not in result.data
    assert "Pix code amount" in str(result.reason)


async def test_a_damaged_pix_code_is_a_conflict_and_not_handed_on() -> None:
    """A code whose checksum does not fit is not handed on."""
    code = charge_doc()["last_transaction"]["qr_code"][:-1] + "0"
    charge = charge_doc(last_transaction={"status": "waiting_payment", "qr_code": code})
    result = await classified(charge_request(), 200, json=order_doc(charge))
    assert result.outcome is Outcome.CONFLICT
    assert "qr_code" not in result.data


async def test_a_pending_charge_without_a_code_is_in_progress() -> None:
    """Without its code a charge cannot be paid yet: look again."""
    charge = charge_doc(last_transaction={"status": "waiting_payment"})
    result = await classified(charge_request(), 200, json=order_doc(charge))
    assert result.outcome is Outcome.IN_PROGRESS


@pytest.mark.parametrize(
    ("request_", "doc"),
    [
        (charge_request(), order_doc(charge_doc(status="failed"), status="failed")),
        (charge_request(), order_doc(status="failed")),
        (charge_request(), order_doc(status="failed", charges=[])),
        (refund_request(), charge_doc(status="paid", last_transaction={"status": "failed"})),
        (transfer_request(), withdrawal_doc(status="failed")),
        (transfer_request(), withdrawal_doc(status="canceled")),
    ],
)
async def test_a_success_that_says_failed_is_rejected(
    request_: ProviderRequest, doc: dict[str, Any]
) -> None:
    """200 with status failed is a refusal, not a success."""
    assert (await classified(request_, 200, json=doc)).outcome is Outcome.REJECTED


@pytest.mark.parametrize("text", [HTML, "", "null", "[]", '{"status": "paid"}', '{"id": "or_1'])
async def test_a_success_without_a_readable_object_is_unknown(text: str) -> None:
    """2xx without a parseable object proves nothing."""
    assert (await classified(charge_request(), 200, text=text)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("doc", "outcome"),
    [
        (charge_doc(status="paid", canceled_amount=500), Outcome.CREATED),
        (charge_doc(status="canceled", canceled_amount=500), Outcome.CREATED),
        (
            charge_doc(status="paid", canceled_amount=500, last_transaction={"status": "refunded"}),
            Outcome.CREATED,
        ),
        (
            charge_doc(canceled_amount=500, last_transaction={"status": "pending_refund"}),
            Outcome.IN_PROGRESS,
        ),
        (charge_doc(status="paid", canceled_amount=0), Outcome.UNKNOWN),
        (
            charge_doc(status="paid", canceled_amount=0, last_transaction={"status": "refunded"}),
            Outcome.UNKNOWN,
        ),
        (charge_doc(status="paid", canceled_amount=1000), Outcome.CONFLICT),
        (charge_doc(id="ch_2", status="paid", canceled_amount=500), Outcome.CONFLICT),
    ],
)
async def test_a_refund_is_judged_by_the_amount_given_back(
    doc: dict[str, Any], outcome: Outcome
) -> None:
    """Only the frozen amount on the frozen charge, given back and final, is created."""
    assert (await classified(refund_request(), 200, json=doc)).outcome is outcome


@pytest.mark.parametrize(
    ("doc", "outcome"),
    [
        (withdrawal_doc(), Outcome.CREATED),
        (withdrawal_doc(status="pending_transfer"), Outcome.IN_PROGRESS),
        (withdrawal_doc(status="processing"), Outcome.IN_PROGRESS),
        (withdrawal_doc(status="something new"), Outcome.UNKNOWN),
        (withdrawal_doc(status=None), Outcome.UNKNOWN),
        (withdrawal_doc(amount=70_000), Outcome.CONFLICT),
        (withdrawal_doc(metadata={}), Outcome.CONFLICT),
    ],
)
async def test_a_transfer_is_created_only_once_transferred(
    doc: dict[str, Any], outcome: Outcome
) -> None:
    """A withdrawal that still works is in progress; one that does not bear our key is not ours."""
    assert (await classified(transfer_request(), 200, json=doc)).outcome is outcome


async def test_documents_in_error_messages_are_masked() -> None:
    """A provider's message may repeat a CPF; evidence and reason do not."""
    message = {"message": "document 12345678909 is invalid"}
    result = await classified(charge_request(), 422, json=message)
    assert "12345678909" not in result.model_dump_json()


async def test_no_evidence_holds_the_credentials() -> None:
    """Neither the api key nor its encoded form appears in any result."""
    for status in (200, 401, 500):
        result = await classified(charge_request(), status, json=order_doc())
        assert "sk_test" not in result.model_dump_json()
        assert "c2tfdGVzdD" not in result.model_dump_json()


async def test_a_request_of_another_key_is_not_sent() -> None:
    """A key that the frozen request was not rendered for never reaches the wire."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=order_doc())

    gateway = gateway_answering(answer)
    result = await gateway.send(OTHER_KEY, charge_request(), before_wire=lambda: None)
    assert result.outcome is Outcome.NOT_SENT
    assert seen == []


@pytest.mark.parametrize("operation", list(REQUESTS))
async def test_the_frozen_body_is_sent_byte_for_byte(operation: str) -> None:
    """What was confirmed is what leaves: body, key and credentials, nothing rendered anew."""
    request = REQUESTS[operation]
    seen: list[httpx.Request] = []

    def answer(sent: httpx.Request) -> httpx.Response:
        seen.append(sent)
        return httpx.Response(500)

    await gateway_answering(answer).send(KEY, request, before_wire=lambda: None)
    assert [sent.content for sent in seen] == [request.body.encode("utf-8")]
    assert seen[0].method == request.method
    assert seen[0].url.raw_path.decode() == request.path
    assert seen[0].headers["idempotency-key"] == KEY
    assert seen[0].headers["authorization"] == "Basic c2tfdGVzdDo="
