"""What a look-up by our key proves at Stripe, and when it proves nothing."""

from typing import Any

import httpx
import pytest

from domain.outcomes import LookupResult, Presence, ProviderRequest
from gateways.stripe_lookup import LISTED_SECONDS, MAX_PAGES
from tests.unit.gateways.fakes import KEY, OTHER_KEY, PIX_CODE
from tests.unit.gateways.stripe_fakes import (
    EXPIRED,
    FAILED,
    NOW,
    REQUESTS,
    charge_request,
    gateway_answering,
    intent_doc,
    method_doc,
    payout_doc,
    refund_doc,
    refund_request,
    transfer_request,
)


class Asked:
    """A provider that gives answers in order, then refuses; what it was asked is kept."""

    def __init__(self, *answers: httpx.Response) -> None:
        self.left = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, sent: httpx.Request) -> httpx.Response:
        assert sent.method == "GET"
        assert "idempotency-key" not in sent.headers
        self.requests.append(sent)
        return self.left.pop(0) if self.left else httpx.Response(503)


async def looked_up(request: ProviderRequest, *answers: httpx.Response) -> LookupResult:
    return await gateway_answering(Asked(*answers)).lookup(KEY, request)


def page(*docs: dict[str, Any], more: bool = False) -> httpx.Response:
    return httpx.Response(200, json={"object": "list", "data": list(docs), "has_more": more})


OTHERS = intent_doc(id="pi_9", metadata={"aval_action": OTHER_KEY})


async def test_a_fresh_intent_is_found_by_the_list() -> None:
    """The list is current, so it settles at once, while the search does not know it yet."""
    result = await looked_up(charge_request(), page(OTHERS, intent_doc()), page())
    assert (result.presence, result.final, result.equal) == (Presence.FOUND, True, True)
    assert result.provider_ref == "pi_1"
    assert result.data["qr_code"] == PIX_CODE


async def test_an_old_intent_is_found_by_the_search() -> None:
    """What is older than the listed hours stands in the search."""
    result = await looked_up(charge_request(), page(OTHERS), page(intent_doc()))
    assert (result.presence, result.final, result.equal) == (Presence.FOUND, True, True)


async def test_the_questions_are_by_time_and_by_key() -> None:
    """The list goes back six times the search's longest lag; the search is for our key alone."""
    asked = Asked(page(), page())
    await gateway_answering(asked).lookup(KEY, charge_request())
    first, second = (request.url.params for request in asked.requests)
    assert first["created[gte]"] == str(int(NOW) - LISTED_SECONDS)
    assert second["query"] == f"metadata['aval_action']:'{KEY}'"
    assert [request.url.path for request in asked.requests] == [
        "/v1/payment_intents",
        "/v1/payment_intents/search",
    ]


async def test_nothing_in_list_and_search_is_absent_but_not_final() -> None:
    """One empty look never settles anything by itself."""
    result = await looked_up(charge_request(), page(OTHERS), page())
    assert (result.presence, result.final) == (Presence.ABSENT, False)


@pytest.mark.parametrize(
    "search",
    [
        httpx.Response(503),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"data": []}),
        httpx.Response(200, json={"data": [], "has_more": True}),
        page(OTHERS),
    ],
)
async def test_an_empty_list_with_a_broken_search_is_uncertain(search: httpx.Response) -> None:
    """An intent older than the list would be missed."""
    result = await looked_up(charge_request(), page(), search)
    assert result.presence is Presence.UNCERTAIN


async def test_a_broken_search_does_not_unprove_what_the_list_shows() -> None:
    """Found is found."""
    result = await looked_up(charge_request(), page(intent_doc()), httpx.Response(503))
    assert (result.presence, result.equal) == (Presence.FOUND, True)


async def test_a_second_intent_under_our_key_is_not_equal() -> None:
    """A key that was forgotten and executed again is a human's case, wherever each stands."""
    twice = page(intent_doc()), page(intent_doc(), intent_doc(id="pi_2"))
    result = await looked_up(charge_request(), *twice)
    assert (result.presence, result.equal) == (Presence.FOUND, False)
    assert "2 effects under one key" in result.differences[0]


async def test_the_list_is_read_on_until_our_key_is_met() -> None:
    """The cursor is the last id of the page before."""
    asked = Asked(page(OTHERS, more=True), page(intent_doc(), more=True), page())
    result = await gateway_answering(asked).lookup(KEY, charge_request())
    assert (result.presence, result.equal) == (Presence.FOUND, True)
    assert asked.requests[1].url.params["starting_after"] == "pi_9"


@pytest.mark.parametrize("operation", list(REQUESTS))
async def test_a_list_longer_than_we_read_is_uncertain(operation: str) -> None:
    """What stands behind the pages that were read may be ours."""
    other = {"charge": intent_doc, "refund": refund_doc, "transfer": payout_doc}[operation](
        metadata={"aval_action": OTHER_KEY}
    )
    pages = [page(other, more=True) for _ in range(MAX_PAGES)]
    result = await looked_up(REQUESTS[operation], *pages, page())
    assert result.presence is Presence.UNCERTAIN


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"amount": 15}, "amount"),
        ({"currency": "usd"}, "currency"),
        ({"livemode": True}, "livemode"),
        ({"description": "Outra"}, "description"),
        ({"payment_method": method_doc(tax_id="98765432100")}, "payer document"),
        ({"payment_method_types": ["card"]}, "payment methods"),
        ({"status": "canceled"}, "canceled"),
        (EXPIRED, "expired"),
    ],
)
async def test_an_intent_that_differs_is_found_but_not_equal(
    changes: dict[str, Any], named: str
) -> None:
    """Each differing field is named, so that an operator can decide."""
    result = await looked_up(charge_request(), page(intent_doc(**changes)), page())
    assert (result.presence, result.equal) == (Presence.FOUND, False)
    assert any(named in difference for difference in result.differences)


@pytest.mark.parametrize(
    ("request_", "doc"),
    [
        (charge_request(), intent_doc(**FAILED)),
        (refund_request(), refund_doc(status="failed")),
        (transfer_request(), payout_doc(status="failed")),
    ],
)
async def test_a_recorded_failure_is_absent_and_final(
    request_: ProviderRequest, doc: dict[str, Any]
) -> None:
    """A failed object is no effect, and none can still turn up under this key."""
    result = await looked_up(request_, page(doc), page())
    assert (result.presence, result.final, result.equal) == (Presence.ABSENT, True, False)


@pytest.mark.parametrize(
    ("request_", "doc"),
    [
        (charge_request(), intent_doc(status="processing")),
        (charge_request(), intent_doc(status="requires_confirmation")),
        (refund_request(), refund_doc(status="pending")),
        (transfer_request(), payout_doc(status="pending")),
    ],
)
async def test_an_effect_still_working_is_found_but_not_final(
    request_: ProviderRequest, doc: dict[str, Any]
) -> None:
    """It may yet fail: look again."""
    result = await looked_up(request_, page(doc), page())
    assert (result.presence, result.final, result.equal) == (Presence.FOUND, False, True)


@pytest.mark.parametrize(("charge_ref", "name"), [("pi_1", "payment_intent"), ("ch_9", "charge")])
async def test_a_refund_is_told_from_an_equal_earlier_one_by_its_key(
    charge_ref: str, name: str
) -> None:
    """Two refunds of 500 cents: only the one that bears our key is ours."""
    earlier = refund_doc(id="re_0", metadata={"aval_action": OTHER_KEY}, **{name: charge_ref})
    asked = Asked(page(earlier), page(refund_doc(**{name: charge_ref}), earlier))
    gateway = gateway_answering(asked)
    request = refund_request(charge_ref=charge_ref)
    first, second = await gateway.lookup(KEY, request), await gateway.lookup(KEY, request)
    assert (first.presence, first.final) == (Presence.ABSENT, False)
    assert (second.presence, second.equal, second.provider_ref) == (Presence.FOUND, True, "re_1")
    assert asked.requests[0].url.params[name] == charge_ref


async def test_a_filter_that_was_ignored_is_uncertain() -> None:
    """If refunds of other charges come back, the absence of ours proves nothing."""
    result = await looked_up(refund_request(), page(refund_doc(payment_intent="pi_2")))
    assert result.presence is Presence.UNCERTAIN


async def test_a_payout_that_differs_is_found_but_not_equal() -> None:
    """Another destination under our key is named."""
    result = await looked_up(transfer_request(), page(payout_doc(destination="ba_2")))
    assert (result.presence, result.equal) == (Presence.FOUND, False)
    assert result.differences == ["destination: frozen 'ba_1', found 'ba_2'"]


@pytest.mark.parametrize("operation", list(REQUESTS))
@pytest.mark.parametrize(
    "answer",
    [
        (500, "{}"),
        (500, '{"data": [], "has_more": false}'),
        (203, '{"data": [], "has_more": false}'),
        (503, "<html>"),
        (401, '{"error": {"type": "invalid_request_error", "message": "no"}}'),
        (404, '{"error": {"type": "invalid_request_error", "message": "no"}}'),
        (429, "{}"),
        (200, ""),
        (200, "<html>"),
        (200, "[]"),
        (200, '{"data": []}'),
        (200, '{"data": [], "has_more": "false"}'),
        (200, '{"data": [], "has_more": true}'),
        (200, '{"data": null, "has_more": false}'),
        (200, '{"data": ["x"], "has_more": false}'),
        (302, "{}"),
    ],
)
async def test_anything_but_a_sound_answer_is_uncertain(
    operation: str, answer: tuple[int, str]
) -> None:
    """No error, page of a proxy or odd shape is ever read as "absent"."""
    broken = httpx.Response(answer[0], text=answer[1])
    result = await looked_up(REQUESTS[operation], broken, page())
    assert result.presence is Presence.UNCERTAIN
