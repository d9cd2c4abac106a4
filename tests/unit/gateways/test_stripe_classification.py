"""What each of Stripe's answers proves."""

from typing import Any

import httpx
import pytest

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from tests.unit.gateways.fakes import KEY, OTHER_KEY, PIX_CODE
from tests.unit.gateways.stripe_fakes import (
    EXPIRED,
    FAILED,
    REQUESTS,
    charge_request,
    error_doc,
    gateway_answering,
    intent_doc,
    method_doc,
    payout_doc,
    refund_doc,
    refund_request,
    transfer_request,
)

HTML = "<html><body>502 Bad Gateway</body></html>"
REFUSALS = [400, 401, 402, 403, 404]
ODD_BODIES = [HTML, "", "{}", "[]", '{"error": {}}', '{"error": "no"}', "nul", "[" * 100_000]


async def classified(
    request: ProviderRequest, status: int, *, json: Any = None, text: str | None = None, **more: Any
) -> GatewayResult:
    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json=json, text=text, **more)

    return await gateway_answering(answer).send(KEY, request, before_wire=lambda: None)


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("status", REFUSALS)
@pytest.mark.parametrize("kind", ["invalid_request_error", "card_error"])
async def test_a_refusal_in_its_own_shape_is_rejected(
    operation: str, status: int, kind: str
) -> None:
    """A 4xx in Stripe's own error shape proves that nothing was done."""
    result = await classified(REQUESTS[operation], status, json=error_doc(kind, code="c"))
    assert result.outcome is Outcome.REJECTED
    assert result.reason == "The request is invalid."
    assert (result.evidence["status"], result.evidence["error_code"]) == (status, "c")


@pytest.mark.parametrize("status", [*REFUSALS, 409, 429])
@pytest.mark.parametrize("text", ODD_BODIES)
async def test_a_refusal_in_another_shape_is_unknown(status: int, text: str) -> None:
    """The same status from something else than Stripe proves nothing, a rate limit included."""
    assert (await classified(charge_request(), status, text=text)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize(
    "status", [201, 202, 204, 301, 307, 405, 408, 412, 418, 422, 424, 500, 502, 503, 504]
)
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
async def test_stripes_own_trouble_is_unknown(status: int) -> None:
    """`api_error` says that something broke over there, not that nothing was done."""
    result = await classified(charge_request(), status, json=error_doc("api_error"))
    assert result.outcome is Outcome.UNKNOWN


async def test_a_replayed_500_is_unknown_and_said_to_be_a_replay() -> None:
    """Stripe keeps a 500 under the key: asking again by POST would never tell."""
    result = await classified(
        charge_request(),
        500,
        json=error_doc("api_error"),
        headers={"idempotent-replayed": "true"},
    )
    assert result.outcome is Outcome.UNKNOWN
    assert result.evidence["replayed"] is True


async def test_a_key_used_with_other_parameters_is_a_conflict() -> None:
    """Something else was done under the key; that is a human's case and no refusal."""
    result = await classified(charge_request(), 400, json=error_doc("idempotency_error"))
    assert result.outcome is Outcome.CONFLICT


@pytest.mark.parametrize("kind", ["invalid_request_error", "idempotency_error"])
async def test_a_key_in_use_is_in_progress(kind: str) -> None:
    """The first request under the key is being worked on: look it up."""
    error = error_doc(kind, code="idempotency_key_in_use")
    assert (await classified(charge_request(), 409, json=error)).outcome is Outcome.IN_PROGRESS


@pytest.mark.parametrize("kind", ["invalid_request_error", "idempotency_error"])
async def test_another_409_is_unknown(kind: str) -> None:
    """A conflict that is not said to be the key's proves nothing."""
    result = await classified(charge_request(), 409, json=error_doc(kind, code="lock_timeout"))
    assert result.outcome is Outcome.UNKNOWN


async def test_a_rate_limit_is_not_sent_with_its_retry_after() -> None:
    """429 in Stripe's shape was not executed; how long to wait is kept as evidence."""
    result = await classified(
        charge_request(), 429, json=error_doc(code="rate_limit"), headers={"retry-after": "7"}
    )
    assert result.outcome is Outcome.NOT_SENT
    assert result.evidence["retry_after"] == "7"


async def test_an_equal_intent_is_created() -> None:
    """An intent with the frozen amount, key, payer and mode is created, with its Pix code."""
    result = await classified(charge_request(), 200, json=intent_doc())
    assert (result.outcome, result.reason) == (Outcome.CREATED, None)
    assert result.provider_ref == "pi_1"
    assert result.data["qr_code"] == PIX_CODE


async def test_a_replayed_success_is_created_and_evidence_says_whose() -> None:
    """The answer of the first send is proof; the operator sees that it is an earlier one."""
    headers = {"idempotent-replayed": "true", "original-request": "req_1", "request-id": "req_2"}
    result = await classified(charge_request(), 200, json=intent_doc(), headers=headers)
    assert result.outcome is Outcome.CREATED
    assert (result.evidence["replayed"], result.evidence["original_request"]) == (True, "req_1")
    assert result.evidence["provider_request_id"] == "req_2"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"amount": 15}, "amount"),
        ({"amount": 15_000.0}, "amount"),
        ({"amount": None}, "amount"),
        ({"currency": "usd"}, "currency"),
        ({"metadata": {"aval_action": OTHER_KEY}}, "metadata key"),
        ({"metadata": {}}, "metadata key"),
        ({"livemode": True}, "livemode"),
        ({"livemode": None}, "livemode"),
        ({"livemode": 0}, "livemode"),
        ({"payment_method_types": ["pix", "card"]}, "payment methods"),
        ({"description": "Outra coisa"}, "description"),
        ({"payment_method": method_doc(tax_id="98765432100")}, "payer document"),
        ({"payment_method": method_doc(name="Outro")}, "payer name"),
        ({"status": "canceled"}, "canceled"),
        (EXPIRED, "expired"),
    ],
)
async def test_an_intent_that_differs_is_a_conflict(changes: dict[str, Any], named: str) -> None:
    """Any difference stops for a human, who is told which field; personal data is not repeated."""
    result = await classified(charge_request(), 200, json=intent_doc(**changes))
    assert result.outcome is Outcome.CONFLICT
    assert named in str(result.reason)
    for personal in ("98765432100", "Outro", "Outra coisa"):
        assert personal not in result.model_dump_json()


@pytest.mark.parametrize("document", ["123.456.789-09", "12345678909", None])
async def test_the_payer_may_be_shown_with_dots_or_not_at_all(document: str | None) -> None:
    """Punctuation is no difference, and a payer that is not shown cannot differ."""
    intent = intent_doc(payment_method=method_doc(tax_id=document))
    assert (await classified(charge_request(), 200, json=intent)).outcome is Outcome.CREATED


async def test_a_pix_code_for_another_amount_is_a_conflict() -> None:
    """The code is what gets paid: one that asks for other money never reaches the customer."""
    request = charge_request(amount_cents=15)
    result = await classified(request, 200, json=intent_doc(amount=15))
    assert result.outcome is Outcome.CONFLICT
    assert "qr_code" not in result.data
    assert "Pix code amount" in str(result.reason)


async def test_a_dummy_code_of_the_test_environment_is_not_handed_on() -> None:
    """It is no conflict either: nothing can be paid by it."""
    action = {"pix_display_qr_code": {"data": "https://stripe.example/test"}}
    result = await classified(charge_request(), 200, json=intent_doc(next_action=action))
    assert result.outcome is Outcome.CREATED
    assert "qr_code" not in result.data


@pytest.mark.parametrize("changes", [{"next_action": None}, {"status": "processing"}])
async def test_an_intent_without_a_code_is_in_progress(changes: dict[str, Any]) -> None:
    """Without its code a charge cannot be paid yet: look again."""
    result = await classified(charge_request(), 200, json=intent_doc(**changes))
    assert result.outcome is Outcome.IN_PROGRESS


@pytest.mark.parametrize(
    "status", ["requires_payment_method", "requires_confirmation", "requires_capture", "new", None]
)
async def test_a_status_that_says_nothing_is_unknown(status: str | None) -> None:
    """An intent that was never confirmed, or a word we do not know, settles nothing."""
    result = await classified(charge_request(), 200, json=intent_doc(status=status))
    assert result.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("request_", "doc"),
    [
        (charge_request(), intent_doc(**FAILED)),
        (refund_request(), refund_doc(status="failed", failure_reason="declined")),
        (refund_request(), refund_doc(status="canceled")),
        (transfer_request(), payout_doc(status="failed", failure_message="closed")),
        (transfer_request(), payout_doc(status="canceled")),
    ],
)
async def test_a_success_that_says_failed_is_rejected(
    request_: ProviderRequest, doc: dict[str, Any]
) -> None:
    """200 with a failed object is a refusal, not a success."""
    result = await classified(request_, 200, json=doc)
    assert result.outcome is Outcome.REJECTED
    assert result.reason


@pytest.mark.parametrize("text", [HTML, "", "null", "[]", '{"status": "paid"}', '{"id": "pi_1'])
async def test_a_success_without_a_readable_object_is_unknown(text: str) -> None:
    """2xx without a parseable object proves nothing."""
    assert (await classified(charge_request(), 200, text=text)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.CREATED),
        ({"status": "pending"}, Outcome.IN_PROGRESS),
        ({"status": "requires_action"}, Outcome.IN_PROGRESS),
        ({"status": "something new"}, Outcome.UNKNOWN),
        ({"amount": 1000}, Outcome.CONFLICT),
        ({"currency": "usd"}, Outcome.CONFLICT),
        ({"payment_intent": "pi_2"}, Outcome.CONFLICT),
        ({"metadata": {}}, Outcome.CONFLICT),
    ],
)
async def test_a_refund_is_created_only_once_succeeded(
    changes: dict[str, Any], outcome: Outcome
) -> None:
    """Accepted is not given back, and another charge's or another key's refund is not ours."""
    result = await classified(refund_request(), 200, json=refund_doc(**changes))
    assert result.outcome is outcome


async def test_a_refund_of_a_charge_is_compared_by_its_charge() -> None:
    """Charges that were made otherwise are refunded by their own id."""
    request = refund_request(charge_ref="ch_9")
    same = await classified(request, 200, json=refund_doc(charge="ch_9", payment_intent=None))
    other = await classified(request, 200, json=refund_doc())
    assert (same.outcome, other.outcome) == (Outcome.CREATED, Outcome.CONFLICT)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.CREATED),
        ({"status": "paid"}, Outcome.CREATED),
        ({"status": "pending"}, Outcome.IN_PROGRESS),
        ({"status": "something new"}, Outcome.UNKNOWN),
        ({"amount": 70_000}, Outcome.CONFLICT),
        ({"destination": "ba_2"}, Outcome.CONFLICT),
        ({"currency": "usd"}, Outcome.CONFLICT),
        ({"livemode": True}, Outcome.CONFLICT),
        ({"metadata": {}}, Outcome.CONFLICT),
    ],
)
async def test_a_payout_is_created_only_once_with_the_bank(
    changes: dict[str, Any], outcome: Outcome
) -> None:
    """A payout that still waits is in progress; to another account it is a human's case."""
    result = await classified(transfer_request(), 200, json=payout_doc(**changes))
    assert result.outcome is outcome


async def test_documents_in_error_messages_are_masked() -> None:
    """A provider's message may repeat a CPF; evidence and reason do not."""
    error = {"error": {"type": "invalid_request_error", "message": "tax_id 12345678909 is bad"}}
    result = await classified(charge_request(), 400, json=error)
    assert result.outcome is Outcome.REJECTED
    assert "12345678909" not in result.model_dump_json()


async def test_no_evidence_holds_the_credentials() -> None:
    """The api key appears in no result."""
    for status in (200, 401, 500):
        result = await classified(charge_request(), status, json=intent_doc())
        assert "sk_test_x" not in result.model_dump_json()


async def test_a_request_of_another_key_is_not_sent() -> None:
    """A key that the frozen request was not rendered for never reaches the wire."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=intent_doc())

    gateway = gateway_answering(answer)
    result = await gateway.send(OTHER_KEY, charge_request(), before_wire=lambda: None)
    assert result.outcome is Outcome.NOT_SENT
    assert seen == []


@pytest.mark.parametrize("operation", list(REQUESTS))
async def test_the_frozen_body_is_sent_byte_for_byte(operation: str) -> None:
    """What was confirmed is what leaves: body, version and key, nothing rendered anew."""
    request = REQUESTS[operation]
    seen: list[httpx.Request] = []

    def answer(sent: httpx.Request) -> httpx.Response:
        seen.append(sent)
        return httpx.Response(500)

    await gateway_answering(answer).send(KEY, request, before_wire=lambda: None)
    assert [sent.content for sent in seen] == [request.body.encode("utf-8")]
    assert seen[0].method == "POST"
    assert seen[0].url.raw_path.decode() == request.path
    assert seen[0].headers["idempotency-key"] == KEY
    assert seen[0].headers["stripe-version"] == request.headers["Stripe-Version"]
    assert seen[0].headers["authorization"] == "Bearer sk_test_x"
