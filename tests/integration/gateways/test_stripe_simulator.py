"""Stripe's gateway against the provider in Stripe's dialect, over sockets.

The single assertion behind all of them: at most one effect per key, and exactly one if CREATED.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

import httpx
import pytest

from domain.outcomes import GatewayResult, Outcome, Presence
from gateways import brcode
from gateways.pagarme import PagarmeGateway
from gateways.stripe import StripeGateway
from gateways.transport import Timeouts
from simulators.payments import PaymentsSimulatorClient
from simulators.payments.process import PaymentsSimulatorProcess
from tests.integration.gateways.conftest import API_KEY
from tests.integration.gateways.stripe_kit import (
    AMOUNT,
    OPERATIONS,
    any_request,
    charge_request,
    new_key,
    paid_charge,
    send,
    stripe_at,
)


@pytest.fixture
def stripe(simulator_process: PaymentsSimulatorProcess) -> StripeGateway:
    return stripe_at(simulator_process.url)


FAULTS: list[tuple[dict[str, Any], Outcome, int]] = [
    ({"kind": "act_drop"}, Outcome.UNKNOWN, 1),
    ({"kind": "act_500"}, Outcome.UNKNOWN, 1),
    ({"kind": "act_delay", "seconds": 0.6}, Outcome.UNKNOWN, 1),
    ({"kind": "drop"}, Outcome.UNKNOWN, 0),
    ({"kind": "refuse", "status": 400}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 401}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 402}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 403}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 409}, Outcome.IN_PROGRESS, 0),
    ({"kind": "refuse", "status": 424}, Outcome.UNKNOWN, 0),
    ({"kind": "refuse", "status": 500}, Outcome.UNKNOWN, 0),
    ({"kind": "failed"}, Outcome.REJECTED, 0),
    ({"kind": "precondition"}, Outcome.REJECTED, 0),
    ({"kind": "throttle", "seconds": 3}, Outcome.NOT_SENT, 0),
    ({"kind": "html_502", "acted": True}, Outcome.UNKNOWN, 1),
    ({"kind": "html_502", "acted": False}, Outcome.UNKNOWN, 0),
    ({"kind": "html_refusal", "status": 403, "acted": True}, Outcome.UNKNOWN, 1),
    ({"kind": "html_refusal", "status": 400, "acted": False}, Outcome.UNKNOWN, 0),
    ({"kind": "html_refusal", "status": 429, "acted": True}, Outcome.UNKNOWN, 1),
    ({"kind": "cut_json"}, Outcome.UNKNOWN, 1),
    ({"kind": "broken_json"}, Outcome.UNKNOWN, 1),
    ({"kind": "huge_body"}, Outcome.UNKNOWN, 1),
    ({"kind": "slow_drip", "seconds": 2.0}, Outcome.UNKNOWN, 1),
    ({"kind": "delay_before", "seconds": 0.6}, Outcome.UNKNOWN, 1),
    ({"kind": "lookup_lag", "seconds": 60}, Outcome.CREATED, 1),
    ({"kind": "alter"}, Outcome.CONFLICT, 1),
]


@pytest.mark.parametrize(
    ("fault", "outcome", "effects"),
    FAULTS,
    ids=["-".join(str(value) for value in fault.values()) for fault, _, _ in FAULTS],
)
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_each_fault_has_one_outcome_and_effect_count(
    stripe: StripeGateway,
    simulator: PaymentsSimulatorClient,
    operation: str,
    fault: dict[str, Any],
    outcome: Outcome,
    effects: int,
) -> None:
    """What really happened at the provider is never called the opposite; a later look finds it."""
    key = new_key()
    request = await any_request(operation, key, stripe, simulator)
    await simulator.add_fault(**fault)
    result = await send(stripe, key, request)
    if operation == "transfer" and outcome is Outcome.CREATED:
        outcome = Outcome.IN_PROGRESS  # a payout is pending at first, always
    assert result.outcome is outcome, result
    if fault["kind"] == "delay_before":
        await asyncio.sleep(0.4)
    counters = await simulator.counters()
    assert counters["effects_by_key"].get(key, 0) == effects
    assert counters["duplicates"] == 0
    assert await simulator.faults() == []
    if result.outcome is Outcome.UNKNOWN:
        found = await stripe.lookup(key, request)
        expected = Presence.FOUND if effects else Presence.ABSENT
        assert (found.presence, found.equal) == (expected, bool(effects)), found


async def test_an_undisturbed_charge_has_a_sound_pix_code(stripe: StripeGateway) -> None:
    """The simulator's code is valid for a reader that was written apart from it."""
    key = new_key()
    result = await send(stripe, key, charge_request(stripe, key))
    code = brcode.parse(str(result.data["qr_code"]))
    assert code.amount_cents == AMOUNT
    async with httpx.AsyncClient(trust_env=False) as http:
        image = await http.get(str(result.data["qr_code_url"]))
    assert image.content.startswith(b"\x89PNG")


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_repeated_key_has_one_effect(
    stripe: StripeGateway,
    simulator_process: PaymentsSimulatorProcess,
    simulator: PaymentsSimulatorClient,
    operation: str,
) -> None:
    """20 sends of one key at once, and one after, are one effect; the last is a replay."""
    key = new_key()
    request = await any_request(operation, key, stripe, simulator)
    patient = stripe_at(simulator_process.url, timeouts=Timeouts())
    results = await asyncio.gather(*(send(patient, key, request) for _ in range(20)))
    results.append(await send(stripe, key, request))
    assert {result.outcome for result in results} <= {Outcome.CREATED, Outcome.IN_PROGRESS}
    assert len({result.provider_ref for result in results} - {None}) == 1
    assert results[-1].evidence["replayed"] is True
    assert (await simulator.counters())["effects_by_key"][key] == 1


async def test_a_key_whose_first_request_is_under_way_is_in_progress(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """409 `idempotency_key_in_use` is no refusal: the charge is there a moment later."""
    key = new_key()
    request = charge_request(stripe, key)
    await simulator.add_fault("delay_before", seconds=0.3)
    first, second = await asyncio.gather(
        send(stripe, key, request), _after(0.1, send(stripe, key, request))
    )
    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.IN_PROGRESS)
    assert (await stripe.lookup(key, request)).equal
    assert (await simulator.counters())["effects_by_key"] == {key: 1}


async def _after(seconds: float, then: Coroutine[Any, Any, GatewayResult]) -> GatewayResult:
    await asyncio.sleep(seconds)
    return await then


async def test_a_key_with_another_body_is_a_conflict(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Stripe compares and refuses with `idempotency_error`; the first charge stands alone."""
    key = new_key()
    await send(stripe, key, charge_request(stripe, key))
    result = await send(stripe, key, charge_request(stripe, key, 99))
    assert result.outcome is Outcome.CONFLICT
    assert result.evidence["error_type"] == "idempotency_error"
    assert (await simulator.counters())["effects_total"] == 1


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_500_is_replayed_and_only_the_look_up_tells(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """The same key gives the same 500 for ever, while the effect is there and found."""
    key = new_key()
    request = await any_request(operation, key, stripe, simulator)
    await simulator.add_fault("act_500")
    first = await send(stripe, key, request)
    again = await send(stripe, key, request)
    assert (first.outcome, again.outcome) == (Outcome.UNKNOWN, Outcome.UNKNOWN)
    assert [entry["replayed"] for entry in await simulator.journal()][-2:] == [False, True]
    found = await stripe.lookup(key, request)
    assert (found.presence, found.final, found.equal) == (Presence.FOUND, True, True)
    assert (await simulator.counters())["effects_by_key"][key] == 1


async def test_past_its_retention_a_key_acts_again_and_two_are_named(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Why nothing goes again after 23 hours: a day later the same bytes are a second charge."""
    key = new_key()
    request = charge_request(stripe, key)
    await send(stripe, key, request)
    await simulator.advance_clock(24 * 3600 + 1)
    await send(stripe, key, request)
    assert (await simulator.counters())["duplicates"] == 1
    found = await stripe.lookup(key, request)
    assert (found.presence, found.equal) == (Presence.FOUND, False)
    assert "2 effects under one key" in found.differences[0]


async def test_a_look_up_never_posts(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Read-only means GET only, for what is there and what is not."""
    for operation in OPERATIONS:
        key = new_key()
        request = await any_request(operation, key, stripe, simulator)
        before = len(await simulator.journal())
        await stripe.lookup(key, request)
        asked = (await simulator.journal())[before:]
        assert {entry["method"] for entry in asked} == {"GET"}


async def test_a_lagging_search_does_not_hide_a_fresh_charge(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """The search is a minute behind; the list is not."""
    key = new_key()
    request = charge_request(stripe, key)
    await send(stripe, key, request)
    assert (await stripe.lookup(key, request)).equal
    await simulator.advance_clock(7 * 24 * 3600)
    late = await stripe.lookup(key, request)
    assert late.presence is Presence.FOUND
    assert late.differences == ["taken back since: 'expired'"]


async def test_a_charge_older_than_the_list_is_found_by_the_search(
    simulator_process: PaymentsSimulatorProcess, simulator: PaymentsSimulatorClient
) -> None:
    """A look-up days later still finds what was paid meanwhile."""
    loop_time = {"now": 0.0}
    gateway = StripeGateway(
        base_url=simulator_process.url,
        api_key=API_KEY,
        bank_account="ba_simulated",
        mode="sandbox",
        clock=lambda: loop_time["now"],
    )
    key = new_key()
    request = charge_request(gateway, key)
    result = await send(gateway, key, request)
    await simulator.pay(str(result.provider_ref))
    await simulator.advance_clock(3 * 24 * 3600)
    loop_time["now"] = 4e9  # nothing is so new that the list would show it
    found = await gateway.lookup(key, request)
    assert (found.presence, found.equal, found.provider_ref) == (
        Presence.FOUND,
        True,
        result.provider_ref,
    )


async def test_a_lagging_look_up_is_absent_then_found(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """One absent proves nothing: the charge turns up later."""
    key = new_key()
    request = charge_request(stripe, key)
    await simulator.add_fault("lookup_lag", seconds=60)
    await send(stripe, key, request)
    early = await stripe.lookup(key, request)
    assert (early.presence, early.final) == (Presence.ABSENT, False)
    await simulator.advance_clock(61)
    late = await stripe.lookup(key, request)
    assert (late.presence, late.equal) == (Presence.FOUND, True)


async def test_a_broken_look_up_is_uncertain(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """A provider that cannot answer has not said "absent"."""
    key = new_key()
    await simulator.add_fault("lookup_503")
    found = await stripe.lookup(key, charge_request(stripe, key))
    assert found.presence is Presence.UNCERTAIN


@pytest.mark.parametrize("operation", ["refund", "transfer"])
async def test_a_slow_effect_is_in_progress_until_it_is_final(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """Accepted is not done: found but not final, then final."""
    key = new_key()
    request = await any_request(operation, key, stripe, simulator)
    await simulator.add_fault("settle_slowly", seconds=60)
    assert (await send(stripe, key, request)).outcome is Outcome.IN_PROGRESS
    working = await stripe.lookup(key, request)
    assert (working.presence, working.final) == (Presence.FOUND, False)
    await simulator.advance_clock(61)
    done = await stripe.lookup(key, request)
    assert (done.presence, done.final, done.equal) == (Presence.FOUND, True, True)


async def test_a_failed_key_is_replayed_as_failed(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """A failure is kept under the key: sending again gives the failure, not a charge."""
    key = new_key()
    request = charge_request(stripe, key)
    await simulator.add_fault("failed")
    outcomes = [(await send(stripe, key, request)).outcome for _ in range(2)]
    assert outcomes == [Outcome.REJECTED, Outcome.REJECTED]
    found = await stripe.lookup(key, request)
    assert (found.presence, found.final) == (Presence.ABSENT, True)
    assert (await simulator.counters())["effects_total"] == 0


async def test_two_equal_refunds_are_told_apart(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """An earlier equal refund is not mistaken for one that was never done."""
    ref = await paid_charge(stripe, simulator)
    first, second = new_key(), new_key()
    earlier, later = (
        stripe.render_refund(
            key=key, charge_ref=ref, amount_cents=500, refunded_before_cents=before
        )
        for key, before in ((first, 0), (second, 500))
    )
    assert (await send(stripe, first, earlier)).outcome is Outcome.CREATED
    await simulator.add_fault("drop")
    assert (await send(stripe, second, later)).outcome is Outcome.UNKNOWN
    assert (await stripe.lookup(second, later)).presence is Presence.ABSENT
    assert (await stripe.lookup(first, earlier)).equal


async def test_money_moves_with_the_effects(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Balance: opening 100,000 + paid 15,000 − refunded 500 − paid out 700 cents."""
    ref = await paid_charge(stripe, simulator)
    refund, transfer = new_key(), new_key()
    request = stripe.render_refund(
        key=refund, charge_ref=ref, amount_cents=500, refunded_before_cents=0
    )
    await send(stripe, refund, request)
    await send(stripe, transfer, stripe.render_transfer(key=transfer, amount_cents=700))
    assert await stripe.balance() == 100_000 + AMOUNT - 500 - 700
    charge = await stripe.charge(ref)
    assert charge is not None
    assert (charge.status, charge.paid_cents, charge.refunded_cents) == ("succeeded", AMOUNT, 500)
    assert await stripe.charge("pi_none") is None


async def test_what_cannot_be_done_is_rejected(
    stripe: StripeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """More than the balance, more than the charge, an unpaid and an unknown charge are refusals."""
    ref = await paid_charge(stripe, simulator)
    key = new_key()
    unpaid = (await send(stripe, key, charge_request(stripe, key))).provider_ref
    requests = [stripe.render_transfer(key=new_key(), amount_cents=10**7)]
    for charge_ref, cents in ((ref, AMOUNT + 1), (str(unpaid), 1), ("pi_none", 1)):
        requests.append(
            stripe.render_refund(
                key=new_key(), charge_ref=charge_ref, amount_cents=cents, refunded_before_cents=0
            )
        )
    for request in requests:
        result = await send(stripe, request.headers["Idempotency-Key"], request)
        assert result.outcome is Outcome.REJECTED
    assert (await simulator.counters())["effects_by_operation"] == {"charge": 2}


async def test_a_wrong_api_key_is_rejected(
    simulator_process: PaymentsSimulatorProcess, simulator: PaymentsSimulatorClient
) -> None:
    """Without the right key nothing happens, and the provider says so itself."""
    stranger = stripe_at(simulator_process.url, api_key="sk_test_wrong")
    key = new_key()
    assert (await send(stranger, key, charge_request(stranger, key))).outcome is Outcome.REJECTED
    assert (await simulator.counters())["effects_total"] == 0


async def test_both_dialects_share_one_provider(
    stripe: StripeGateway,
    gateway: PagarmeGateway,
    simulator: PaymentsSimulatorClient,
) -> None:
    """Counters, balance and journal are one, whichever dialect made the effect."""
    key, other = new_key(), new_key()
    await send(stripe, key, stripe.render_transfer(key=key, amount_cents=700))
    await gateway.send(
        other, gateway.render_transfer(key=other, amount_cents=300), before_wire=lambda: None
    )
    assert await stripe.balance() == await gateway.balance() == 99_000
    assert (await simulator.counters())["effects_by_key"] == {key: 1, other: 1}
