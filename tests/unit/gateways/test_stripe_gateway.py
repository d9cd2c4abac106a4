"""Stripe is built only with a key of the mode that is said, and reads money in cents."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from domain.outcomes import Outcome, Presence
from gateways.contract import ReadFailedError
from gateways.registry import GatewayConfigError, GatewayRegistry
from gateways.stripe import StripeGateway
from tests.unit.gateways.fakes import GATEWAY as PAGARME
from tests.unit.gateways.fakes import KEY
from tests.unit.gateways.fakes import charge_request as pagarme_request
from tests.unit.gateways.stripe_fakes import (
    EXPIRED,
    charge_request,
    error_doc,
    gateway_answering,
    intent_doc,
)

GOOD = {"api_key": "sk_live_secret", "recipient_id": "ba_1", "mode": "live"}


def always(answer: httpx.Response, **changes: Any) -> StripeGateway:
    return gateway_answering(lambda _request: answer, **changes)


def test_stripe_is_built_by_name() -> None:
    """The bundled name gives the bundled gateway, which resends only while the key is known."""
    gateway = GatewayRegistry().build("stripe", GOOD)
    assert gateway.name == "stripe"
    assert gateway.capabilities.key_retention is not None
    assert gateway.capabilities.resend_within < gateway.capabilities.key_retention


@pytest.mark.parametrize(
    ("mode", "key"),
    [
        ("live", "sk_live_secret"),
        ("live", "rk_live_secret"),
        ("sandbox", "sk_test_secret"),
        ("sandbox", "rk_test_secret"),
    ],
)
def test_a_key_of_its_own_mode_is_taken(mode: str, key: str) -> None:
    """Secret and restricted keys alike."""
    GatewayRegistry().build("stripe", {**GOOD, "mode": mode, "api_key": key})


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "sandbox"},
        {"api_key": "sk_test_secret"},
        {"api_key": "pk_live_secret"},
        {"api_key": "secret"},
        {"api_key": ""},
        {"api_key": "sk_live_secret\n"},
        {"mode": "test"},
        {"mode": None},
        {"recipient_id": "re_1"},
        {"recipient_id": "ba_1/x"},
        {"recipient_id": None},
        {"base_url": "http://127.0.0.1:8000"},
        {"base_url": "http://stripe.internal", "allow_plain_http": True},
        {"base_url": "https://api.stripe.com/v1"},
        {"surprise": "sk_live_secret"},
    ],
)
def test_a_configuration_that_contradicts_itself_is_refused(
    changes: Mapping[str, object],
) -> None:
    """A live key in a sandbox, a test key or plain HTTP in live mode; never with the key shown."""
    with pytest.raises(GatewayConfigError) as error:
        GatewayRegistry().build("stripe", {**GOOD, **changes})
    assert "_secret" not in str(error.value)


def test_the_mode_has_to_be_said() -> None:
    """A configuration without a mode does not start: nobody guesses it from the key."""
    with pytest.raises(GatewayConfigError, match="mode"):
        GatewayRegistry().build("stripe", {"api_key": "sk_live_x", "recipient_id": "ba_1"})


def test_the_mode_is_frozen_with_the_request() -> None:
    """An object of the other mode cannot pass for ours after the configuration was changed."""
    live = gateway_answering(
        lambda _request: httpx.Response(500),
        mode="live",
        api_key="sk_live_x",
        base_url="https://127.0.0.1:1",
    )
    assert charge_request().expect == {"livemode": False}
    assert live.render_transfer(key="a" * 32, amount_cents=1).expect == {"livemode": True}


def test_the_secret_is_in_no_repr() -> None:
    """A gateway in a log line or traceback shows no key."""
    gateway = GatewayRegistry().build("stripe", GOOD)
    assert "sk_live_secret" not in repr(gateway) + repr(vars(gateway))


async def test_balance_is_what_is_available_in_reais() -> None:
    """Other currencies and what is pending do not count; a float is no amount."""
    doc = {
        "livemode": False,
        "available": [{"amount": 100, "currency": "brl"}, {"amount": 7, "currency": "usd"}],
        "pending": [{"amount": 9, "currency": "brl"}],
    }
    assert await always(httpx.Response(200, json=doc)).balance() == 100
    for bad in (
        {**doc, "livemode": True},
        {**doc, "available": [{"amount": 1.5, "currency": "brl"}]},
        {**doc, "available": None},
    ):
        with pytest.raises(ReadFailedError):
            await always(httpx.Response(200, json=bad)).balance()


async def test_a_charge_is_read_or_unknown_or_failed() -> None:
    """404 in Stripe's shape is "no such charge"; a proxy's 404 is an error."""
    paid = intent_doc(
        status="succeeded", amount_received=15_000, latest_charge={"amount_refunded": 300}
    )
    charge = await always(httpx.Response(200, json=paid)).charge("pi_1")
    assert charge is not None
    assert (charge.amount_cents, charge.paid_cents, charge.refunded_cents) == (15_000, 15_000, 300)
    absent = always(httpx.Response(404, json=error_doc(code="resource_missing")))
    assert await absent.charge("pi_1") is None
    for answer in (
        httpx.Response(404, text="<html>"),
        httpx.Response(500),
        httpx.Response(200, json=intent_doc(id="pi_2")),
        httpx.Response(200, json=intent_doc(latest_charge="py_1")),
        httpx.Response(200, json=intent_doc(amount=15_000.0)),
    ):
        with pytest.raises(ReadFailedError):
            await always(answer).charge("pi_1")


async def test_an_expired_charge_says_so() -> None:
    """Stripe's own word for it is that of an intent that was never tried."""
    charge = await always(httpx.Response(200, json=intent_doc(**EXPIRED))).charge("pi_1")
    assert charge is not None
    assert (charge.status, charge.pix_code) == ("expired", None)


async def test_a_charge_that_was_made_otherwise_is_read_by_its_own_id() -> None:
    """`ch_…` stands under another path."""
    doc = {"id": "ch_1", "amount": 5, "amount_captured": 5, "amount_refunded": 1, "status": "x"}
    charge = await always(httpx.Response(200, json=doc)).charge("ch_1")
    assert charge is not None
    assert (charge.amount_cents, charge.refunded_cents) == (5, 1)


FOREIGN = {
    "another provider's": pagarme_request(),
    "the other mode's": charge_request().model_copy(update={"expect": {"livemode": True}}),
    "a mode unsaid": charge_request().model_copy(update={"expect": {}}),
}


@pytest.mark.parametrize("whose", list(FOREIGN))
async def test_a_request_that_another_gateway_rendered_is_neither_sent_nor_absent(
    whose: str,
) -> None:
    """After an account changed its gateway or mode, the new one's empty list proves nothing."""
    asked: list[httpx.Request] = []

    def answer(sent: httpx.Request) -> httpx.Response:
        asked.append(sent)
        return httpx.Response(200, json={"data": [], "has_more": False})

    gateway = gateway_answering(answer)
    sent = await gateway.send(KEY, FOREIGN[whose], before_wire=lambda: None)
    seen = await gateway.lookup(KEY, FOREIGN[whose])
    assert (sent.outcome, seen.presence) == (Outcome.NOT_SENT, Presence.UNCERTAIN)
    assert asked == []


async def test_pagarme_does_not_take_stripes_requests_either() -> None:
    """The same the other way round."""
    sent = await PAGARME.send(KEY, charge_request(), before_wire=lambda: None)
    seen = await PAGARME.lookup(KEY, charge_request())
    assert (sent.outcome, seen.presence) == (Outcome.NOT_SENT, Presence.UNCERTAIN)
