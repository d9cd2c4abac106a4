"""Stripe's gateway against a Stripe that was written by others.

It knows charges and refunds, not payment intents, so the refunds here are of charges `ch_…`; what
a repeated key means is the same for both.
"""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import httpx
import pytest

from domain.outcomes import GatewayResult, Outcome, Presence, ProviderRequest
from gateways.stripe import StripeGateway
from gateways.stripe_answers import classify
from gateways.transport import Timeouts, Wire
from tests.integration.gateways import peer
from tests.integration.gateways.conftest import API_KEY
from tests.integration.gateways.stripe_kit import new_key, send, stripe_at

AMOUNT = 15_000


@pytest.fixture(scope="module")
async def url() -> AsyncIterator[str]:
    async with peer.running() as where:
        yield where


@pytest.fixture
def stripe(url: str) -> StripeGateway:
    return stripe_at(url, timeouts=Timeouts())


@pytest.fixture
async def http(url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=url, auth=(API_KEY, ""), trust_env=False) as client:
        yield client


async def new_charge(http: httpx.AsyncClient) -> str:
    form = {"amount": str(AMOUNT), "currency": "brl", "source": "tok_visa"}
    response = await http.post("/v1/charges", data=form)
    return str(response.raise_for_status().json()["id"])


def refund_of(stripe: StripeGateway, key: str, charge: str, cents: int = 500) -> ProviderRequest:
    return stripe.render_refund(
        key=key, charge_ref=charge, amount_cents=cents, refunded_before_cents=0
    )


async def card_charge(url: str, key: str, source: str) -> GatewayResult:
    """Send a charge of the peer's own kind, whose source decides how it ends, and classify it.

    No request of the gateway's goes to /v1/charges, so this takes its parts: wire and tables.
    """
    form = {"amount": "700", "currency": "brl", "source": source, "metadata[aval_action]": key}
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Idempotency-Key": key}
    wire = Wire(base_url=url, credentials={"Authorization": f"Bearer {API_KEY}"})
    request = ProviderRequest(
        operation="refund",
        method="POST",
        path="/v1/charges",
        headers=headers,
        body=urlencode({"charge": "none", **form}),
    )
    trip = await wire.send(
        key=key,
        method="POST",
        path=request.path,
        headers=headers,
        body=urlencode(form),
    )
    return classify(request, trip)


async def refunds(http: httpx.AsyncClient, charge: str) -> list[str]:
    answer = (await http.get("/v1/refunds", params={"charge": charge})).json()
    return [str(refund["id"]) for refund in answer["data"]]


async def test_a_refund_is_made_once_replayed_and_found(
    stripe: StripeGateway, http: httpx.AsyncClient
) -> None:
    """Sent twice under one key it is one refund, and the look-up finds it equal."""
    charge, key = await new_charge(http), new_key()
    request = refund_of(stripe, key, charge)
    first, again = await send(stripe, key, request), await send(stripe, key, request)
    assert (first.outcome, again.outcome) == (Outcome.CREATED, Outcome.CREATED)
    assert "replayed" not in first.evidence
    assert again.evidence["replayed"] is True
    assert await refunds(http, charge) == [first.provider_ref] == [again.provider_ref]
    found = await stripe.lookup(key, request)
    assert (found.presence, found.final, found.equal) == (Presence.FOUND, True, True)
    assert found.provider_ref == first.provider_ref


async def test_eight_sends_at_once_are_one_refund(
    stripe: StripeGateway, http: httpx.AsyncClient
) -> None:
    """Whatever each send is told, the charge is refunded once."""
    charge, key = await new_charge(http), new_key()
    request = refund_of(stripe, key, charge)
    results = await asyncio.gather(*(send(stripe, key, request) for _ in range(8)))
    assert {result.outcome for result in results} == {Outcome.CREATED}
    assert len(await refunds(http, charge)) == 1


async def test_a_key_with_other_parameters_is_a_conflict(
    stripe: StripeGateway, http: httpx.AsyncClient
) -> None:
    """The peer's own `idempotency_error` is read as ours."""
    charge, key = await new_charge(http), new_key()
    await send(stripe, key, refund_of(stripe, key, charge))
    other = refund_of(stripe, key, charge, cents=501)
    assert (await send(stripe, key, other)).outcome is Outcome.CONFLICT
    assert len(await refunds(http, charge)) == 1


async def test_two_equal_refunds_are_told_apart_by_their_keys(
    stripe: StripeGateway, http: httpx.AsyncClient
) -> None:
    """One is there; the other was never sent and is absent."""
    charge, sent, unsent = await new_charge(http), new_key(), new_key()
    await send(stripe, sent, refund_of(stripe, sent, charge))
    absent = await stripe.lookup(unsent, refund_of(stripe, unsent, charge))
    assert (absent.presence, absent.final) == (Presence.ABSENT, False)
    assert (await stripe.lookup(sent, refund_of(stripe, sent, charge))).equal
    view = await stripe.charge(charge)
    assert view is not None
    assert (view.amount_cents, view.refunded_cents) == (AMOUNT, 500)


async def test_a_500_is_replayed_and_stays_unknown(url: str) -> None:
    """The peer keeps a 500 under its key, as Stripe does: asking again by POST tells nothing."""
    key = new_key()
    first = await card_charge(url, key, "tok_500")
    again = await card_charge(url, key, "tok_500")
    assert (first.outcome, again.outcome) == (Outcome.UNKNOWN, Outcome.UNKNOWN)
    assert again.evidence["replayed"] is True


async def test_a_rate_limit_was_not_executed_and_the_key_may_go_again(
    url: str, http: httpx.AsyncClient
) -> None:
    """429 is not kept: the same key executes on the second try, and charges once."""
    key = new_key()
    source = f"tok_429|tok_visa|tok_{key}"
    first = await card_charge(url, key, source)
    second = await card_charge(url, key, source)
    assert first.outcome is Outcome.NOT_SENT
    assert second.evidence["status"] == 200
    charges = (await http.get("/v1/charges", params={"limit": 100})).json()["data"]
    assert [one["metadata"].get("aval_action") for one in charges].count(key) == 1


async def test_its_refusals_are_read_as_refusals(
    stripe: StripeGateway, url: str, http: httpx.AsyncClient
) -> None:
    """More than the charge (400), an unknown charge (404), a declined card (402)."""
    charge = await new_charge(http)
    declined = await card_charge(url, new_key(), "tok_chargeDeclined")
    assert (declined.outcome, declined.evidence["status"]) == (Outcome.REJECTED, 402)
    for request in (
        refund_of(stripe, new_key(), charge, cents=AMOUNT + 1),
        refund_of(stripe, new_key(), "ch_none"),
    ):
        result = await send(stripe, request.headers["Idempotency-Key"], request)
        assert result.outcome is Outcome.REJECTED, result
    assert await refunds(http, charge) == []
    assert await stripe.charge("ch_none") is None
