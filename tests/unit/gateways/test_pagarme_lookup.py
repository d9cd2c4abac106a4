"""What a look-up by our key proves, and when it proves nothing."""

from typing import Any

import httpx
import pytest

from domain.outcomes import LookupResult, Presence, ProviderRequest
from gateways.pagarme_lookup import MAX_PAGES, PAGE_SIZE
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


async def looked_up(request: ProviderRequest, *answers: httpx.Response) -> LookupResult:
    """Look up against a provider that gives `answers` in order, then refuses."""
    left = list(answers)

    def answer(sent: httpx.Request) -> httpx.Response:
        assert sent.method == "GET"
        return left.pop(0) if left else httpx.Response(503)

    return await gateway_answering(answer).lookup(KEY, request)


def page(*docs: dict[str, Any]) -> httpx.Response:
    return httpx.Response(200, json={"data": list(docs), "paging": {"total": len(docs)}})


FAILED_ORDER = order_doc(charge_doc(status="failed"), status="failed")


async def test_an_equal_order_is_found_and_final() -> None:
    """The order with our code, amount and payer settles an unknown as done."""
    result = await looked_up(charge_request(), page(order_doc()))
    assert (result.presence, result.final, result.equal) == (Presence.FOUND, True, True)
    assert result.provider_ref == "ch_1"
    assert str(result.data["qr_code"]).startswith("000201")


@pytest.mark.parametrize(
    "order",
    [
        order_doc(amount=15),
        order_doc(customer={"document": "98765432100"}),
        order_doc(charge_doc(amount=15)),
        order_doc(charge_doc(status="canceled"), status="canceled"),
    ],
)
async def test_an_order_that_differs_is_found_but_not_equal(order: dict[str, Any]) -> None:
    """Each differing field is named, so that an operator can decide."""
    result = await looked_up(charge_request(), page(order))
    assert (result.presence, result.equal) == (Presence.FOUND, False)
    assert result.differences


async def test_two_live_orders_under_one_key_are_not_equal() -> None:
    """A duplicate at the provider is a human's case, never "executed"."""
    result = await looked_up(charge_request(), page(order_doc(), order_doc(id="or_2")))
    assert (result.presence, result.equal) == (Presence.FOUND, False)


async def test_a_failed_order_beside_the_live_one_does_not_matter() -> None:
    """Only what has an effect counts."""
    result = await looked_up(charge_request(), page(FAILED_ORDER, order_doc()))
    assert (result.presence, result.equal) == (Presence.FOUND, True)


@pytest.mark.parametrize(
    ("request_", "doc"),
    [(charge_request(), FAILED_ORDER), (transfer_request(), withdrawal_doc(status="failed"))],
)
async def test_a_recorded_failure_is_absent_and_final(
    request_: ProviderRequest, doc: dict[str, Any]
) -> None:
    """A failed object is no effect, and none can still turn up under this key."""
    result = await looked_up(request_, page(doc))
    assert (result.presence, result.final, result.equal) == (Presence.ABSENT, True, False)


@pytest.mark.parametrize("request_", [charge_request(), transfer_request()])
async def test_an_empty_list_is_absent_but_not_final(request_: ProviderRequest) -> None:
    """A look-up may lag behind: one empty look never settles anything."""
    result = await looked_up(request_, page())
    assert (result.presence, result.final) == (Presence.ABSENT, False)


async def test_a_filter_that_was_ignored_is_uncertain() -> None:
    """If orders of other codes come back, the absence of ours proves nothing."""
    result = await looked_up(charge_request(), page(order_doc(code=OTHER_KEY)))
    assert result.presence is Presence.UNCERTAIN


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize(
    "answer",
    [
        (500, "{}"),
        (500, '{"data": []}'),
        (203, '{"data": []}'),
        (503, '{"id": "ch_1", "amount": 15000, "canceled_amount": 0}'),
        (503, "<html>"),
        (401, '{"message": "denied"}'),
        (404, '{"message": "not found"}'),
        (429, "{}"),
        (200, ""),
        (200, "<html>"),
        (200, "[]"),
        (200, '{"data": null}'),
        (200, '{"data": ["x"]}'),
        (200, '{"data": {}}'),
        (302, "{}"),
    ],
)
async def test_anything_but_a_sound_answer_is_uncertain(
    operation: str, answer: tuple[int, str]
) -> None:
    """No error, page of a proxy or odd shape is ever read as "absent"."""
    result = await looked_up(REQUESTS[operation], httpx.Response(answer[0], text=answer[1]))
    assert result.presence is Presence.UNCERTAIN


@pytest.mark.parametrize(
    ("canceled", "transaction", "presence", "final"),
    [
        (800, "refunded", Presence.FOUND, True),
        (800, "pending_refund", Presence.FOUND, False),
        (300, "paid", Presence.ABSENT, False),
        (300, "refunded", Presence.ABSENT, False),
        (300, "pending_refund", Presence.FOUND, False),
        (500, "refunded", Presence.UNCERTAIN, False),
        (0, "paid", Presence.UNCERTAIN, False),
        (1300, "refunded", Presence.UNCERTAIN, False),
    ],
)
async def test_a_refund_is_told_from_earlier_ones_by_the_frozen_sum(
    canceled: int, transaction: str, presence: Presence, final: bool
) -> None:
    """500 cents after 300 were refunded before: only a sum of 800 proves ours."""
    charge = charge_doc(
        status="paid", canceled_amount=canceled, last_transaction={"status": transaction}
    )
    answer = httpx.Response(200, json=charge)
    result = await looked_up(refund_request(before=300), answer)
    assert (result.presence, result.final) == (presence, final)


async def test_a_transfer_is_found_on_a_later_page() -> None:
    """The list is read on until our key is met."""
    others = [withdrawal_doc(metadata={}) for _ in range(PAGE_SIZE)]
    result = await looked_up(transfer_request(), page(*others), page(withdrawal_doc()))
    assert (result.presence, result.final, result.equal) == (Presence.FOUND, True, True)


async def test_a_list_longer_than_we_read_is_uncertain() -> None:
    """What stands behind the pages that were read may be ours."""
    others = [withdrawal_doc(metadata={"aval_action": OTHER_KEY}) for _ in range(PAGE_SIZE)]
    result = await looked_up(transfer_request(), *[page(*others) for _ in range(MAX_PAGES)])
    assert result.presence is Presence.UNCERTAIN


async def test_a_transfer_still_working_is_found_but_not_final() -> None:
    """It may yet fail: look again."""
    result = await looked_up(transfer_request(), page(withdrawal_doc(status="processing")))
    assert (result.presence, result.final, result.equal) == (Presence.FOUND, False, True)
