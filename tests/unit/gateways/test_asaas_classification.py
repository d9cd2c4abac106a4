"""What each of Asaas' answers proves."""

from typing import Any

import httpx
import pytest

from domain.outcomes import GatewayResult, Outcome, Presence, ProviderRequest
from tests.unit.gateways.asaas_fakes import (
    REQUESTS,
    Far,
    charge_doc,
    charge_request,
    customer_doc,
    error_doc,
    gateway_answering,
    listed,
    refund_doc,
    refund_request,
    sent,
    transfer_doc,
    transfer_request,
)
from tests.unit.gateways.fakes import KEY, OTHER_KEY, PIX_CODE

HTML = "<html><body>502 Bad Gateway</body></html>"
REFUSALS = [400, 401, 402, 403, 404, 412, 422]
ODD_BODIES = [HTML, "", "{}", "[]", '{"errors": []}', '{"errors": "no"}', "nul", "[" * 100_000]


async def classified(
    request: ProviderRequest, status: int, *, json: Any = None, text: str | None = None, **more: Any
) -> GatewayResult:
    far = Far(httpx.Response(status, json=json, text=text, **more))
    result = await sent(far, request)
    assert len(far.posts) == 1
    return result


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("status", REFUSALS)
async def test_a_refusal_in_its_own_shape_is_rejected(operation: str, status: int) -> None:
    """A 4xx in Asaas' own error shape proves that nothing was done."""
    result = await classified(REQUESTS[operation], status, json=error_doc())
    assert (result.outcome, result.reason) == (Outcome.REJECTED, "O valor é inválido.")


@pytest.mark.parametrize("status", [*REFUSALS, 409, 429])
@pytest.mark.parametrize("text", ODD_BODIES)
async def test_a_refusal_in_another_shape_is_unknown(status: int, text: str) -> None:
    """From something else than Asaas it proves nothing, a rate limit included: behind a proxy the
    charge may have been made, and nothing there recognises a repeat."""
    assert (await classified(charge_request(), status, text=text)).outcome is Outcome.UNKNOWN


async def test_its_own_rate_limit_is_not_sent() -> None:
    """Not executed: it may go again while the confirmation is fresh, after a new look."""
    assert (await classified(charge_request(), 429, json=error_doc())).outcome is Outcome.NOT_SENT


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize("status", [201, 202, 204, 301, 307, 405, 408, 409, 500, 502, 503, 504])
async def test_every_other_status_is_unknown(operation: str, status: int) -> None:
    """Server errors, redirects and undocumented statuses are never "not done"."""
    result = await classified(
        REQUESTS[operation], status, json=error_doc(), headers={"location": "http://127.0.0.1:1/"}
    )
    assert result.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("text", ["", HTML, "{}", "[]", '{"id": 1}', '{"id": ""}', "{"])
async def test_a_success_without_an_object_is_unknown(text: str) -> None:
    """200 alone is no charge."""
    assert (await classified(charge_request(), 200, text=text)).outcome is Outcome.UNKNOWN


async def test_a_charge_with_its_code_is_created() -> None:
    """Equal in every compared field, and the code bears the amount."""
    result = await classified(charge_request(), 200, json=charge_doc())
    assert (result.outcome, result.provider_ref) == (Outcome.CREATED, "pay_1")
    assert result.data["qr_code"] == PIX_CODE


@pytest.mark.parametrize(
    "changes",
    [
        {"value": 150.01},
        {"value": "150.00"},
        {"value": 15000},
        {"externalReference": OTHER_KEY},
        {"externalReference": None},
        {"customer": "cus_2"},
        {"billingType": "BOLETO"},
        {"dueDate": "2026-12-02"},
        {"deleted": True},
        {"status": "REFUNDED"},
    ],
)
async def test_a_charge_that_differs_is_a_conflict(changes: dict[str, Any]) -> None:
    """Each difference is named; the charge is there and is not what was confirmed."""
    result = await classified(charge_request(), 200, json=charge_doc(**changes))
    assert (result.outcome, result.provider_ref) == (Outcome.CONFLICT, "pay_1")


async def test_a_code_of_another_amount_is_a_conflict_and_not_handed_on() -> None:
    """The person would pay what nobody confirmed."""
    far = Far(httpx.Response(200, json=charge_doc(value=151.0)))
    result = await sent(far, charge_request(amount_cents=15_100))
    assert result.outcome is Outcome.CONFLICT
    assert "qr_code" not in result.data


@pytest.mark.parametrize(
    "code", [httpx.Response(503), httpx.Response(200, json={}), httpx.Response(200, text=HTML)]
)
async def test_a_charge_whose_code_cannot_be_read_is_in_progress(code: httpx.Response) -> None:
    """It is made; a later look brings the code. Never an unknown, never "not done"."""
    result = await sent(
        Far(httpx.Response(200, json=charge_doc()), pixQrCode=code), charge_request()
    )
    assert (result.outcome, result.provider_ref) == (Outcome.IN_PROGRESS, "pay_1")


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("DONE", Outcome.CREATED),
        ("PENDING", Outcome.IN_PROGRESS),
        ("BANK_PROCESSING", Outcome.IN_PROGRESS),
        ("CANCELLED", Outcome.REJECTED),
        ("FAILED", Outcome.REJECTED),
        ("SURPRISE", Outcome.UNKNOWN),
        (None, Outcome.UNKNOWN),
    ],
)
async def test_a_transfers_word_is_read_by_the_table(status: str | None, outcome: Outcome) -> None:
    """A word that we do not know proves nothing."""
    result = await classified(transfer_request(), 200, json=transfer_doc(status=status))
    assert result.outcome is outcome


async def test_a_transfer_to_another_key_is_a_conflict_without_personal_data() -> None:
    """The destination is compared and not printed."""
    doc = transfer_doc(bankAccount={"pixAddressKey": "thief@simulador.example"})
    result = await classified(transfer_request(), 200, json=doc)
    assert (result.outcome, result.reason) == (Outcome.CONFLICT, "pixAddressKey differs")


@pytest.mark.parametrize(
    ("refunds", "outcome"),
    [
        ([refund_doc()], Outcome.CREATED),
        ([refund_doc(status="PENDING")], Outcome.IN_PROGRESS),
        ([refund_doc(status="CANCELLED")], Outcome.REJECTED),
        ([refund_doc(value=5.01)], Outcome.CONFLICT),
        ([refund_doc(description="other")], Outcome.IN_PROGRESS),
        ([], Outcome.IN_PROGRESS),
        (None, Outcome.IN_PROGRESS),
    ],
)
async def test_a_refunds_answer_is_read_by_its_own_entry(refunds: Any, outcome: Outcome) -> None:
    """Without an entry of ours it was taken in; the look-up has to find it."""
    doc = charge_doc(status="RECEIVED", refunds=refunds)
    assert (await classified(refund_request(), 200, json=doc)).outcome is outcome


@pytest.mark.parametrize("operation", list(REQUESTS))
async def test_without_a_look_before_nothing_is_sent(operation: str) -> None:
    """A send that nobody made ready is not sent; a look serves one send."""
    far = Far(httpx.Response(500))
    gateway = gateway_answering(far)
    request = REQUESTS[operation]
    result = await gateway.send(KEY, request, before_wire=lambda: None)
    assert (result.outcome, far.asked) == (Outcome.NOT_SENT, [])
    await gateway.ready(KEY, request)
    first = await gateway.send(KEY, request, before_wire=lambda: None)
    second = await gateway.send(KEY, request, before_wire=lambda: None)
    assert (first.outcome, second.outcome) == (Outcome.UNKNOWN, Outcome.NOT_SENT)
    assert len(far.posts) == 1


@pytest.mark.parametrize("operation", list(REQUESTS))
async def test_what_is_not_ours_is_neither_sent_nor_called_absent(operation: str) -> None:
    """Another key, another mode: the account's gateway was changed meanwhile."""
    far = Far(httpx.Response(200, json={}))
    request = REQUESTS[operation]
    for gateway, key in (
        (gateway_answering(far), OTHER_KEY),
        (gateway_answering(far, base_url="https://127.0.0.1:1", mode="live"), KEY),
    ):
        await gateway.ready(key, request)
        result = await gateway.send(key, request, before_wire=lambda: None)
        assert result.outcome is Outcome.NOT_SENT
        assert (await gateway.lookup(key, request)).presence is Presence.UNCERTAIN
    assert far.asked == []


@pytest.mark.parametrize(
    ("page", "presence"),
    [
        (listed(), Presence.ABSENT),
        (listed(hasMore=True), Presence.UNCERTAIN),
        (listed(hasMore=None), Presence.UNCERTAIN),
        (listed(charge_doc(externalReference=OTHER_KEY)), Presence.UNCERTAIN),
        (listed(charge_doc(), charge_doc(id="pay_2")), Presence.FOUND),
        ({"data": "no", "hasMore": False}, Presence.UNCERTAIN),
        ({"hasMore": False}, Presence.UNCERTAIN),
        ({}, Presence.UNCERTAIN),
    ],
)
async def test_only_a_complete_list_by_our_key_proves_an_absence(
    page: dict[str, Any], presence: Presence
) -> None:
    """An ignored filter, a further page or another shape is uncertain; no absence is final."""
    far = Far(httpx.Response(500), payments=httpx.Response(200, json=page))
    found = await gateway_answering(far).lookup(KEY, charge_request())
    assert (found.presence, found.final and presence is Presence.ABSENT) == (presence, False)
    assert not found.equal


@pytest.mark.parametrize(
    ("customers", "outcome"),
    [
        (listed(), Outcome.REJECTED),
        (listed(customer_doc(deleted=True)), Outcome.REJECTED),
        (listed(hasMore=True), Outcome.NOT_SENT),
        (listed(customer_doc(cpfCnpj="11144477735")), Outcome.NOT_SENT),
        ({}, Outcome.NOT_SENT),
    ],
)
async def test_without_its_customer_a_charge_is_not_sent(
    customers: dict[str, Any], outcome: Outcome
) -> None:
    """Only Asaas' own complete list says that there is none; nobody else's customer is charged."""
    far = Far(httpx.Response(500), customers=httpx.Response(200, json=customers))
    assert (await sent(far, charge_request())).outcome is outcome
    assert far.posts == []


async def test_the_oldest_of_several_customers_is_charged() -> None:
    """The same one each time, and its document compared without its punctuation."""
    both = listed(
        customer_doc(id="cus_2", dateCreated="2026-03-01"),
        customer_doc(id="cus_0", dateCreated="2026-01-01", cpfCnpj="123.456.789-09"),
    )
    far = Far(
        httpx.Response(200, json=charge_doc(customer="cus_0")),
        customers=httpx.Response(200, json=both),
    )
    assert (await sent(far, charge_request())).outcome is Outcome.CREATED
    assert b'"customer":"cus_0"' in far.posts[0].content


async def test_the_credential_goes_in_its_header_and_nowhere_else() -> None:
    """No stored request, result or repr holds it."""
    far = Far(httpx.Response(400, json=error_doc()))
    gateway = gateway_answering(far)
    request = transfer_request()
    await gateway.ready(KEY, request)
    result = await gateway.send(KEY, request, before_wire=lambda: None)
    assert {one.headers["access_token"] for one in far.asked} == {"key_of_a_test"}
    assert "key_of_a_test" not in repr(gateway) + request.model_dump_json() + str(result)
