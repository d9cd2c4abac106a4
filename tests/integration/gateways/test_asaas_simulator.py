"""Asaas' gateway against the provider in its dialect, over sockets.

The provider knows no keys: whatever is sent twice is done twice. The single assertion behind all of
them: at most one effect per key, and exactly one if CREATED.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from domain.outcomes import Outcome, Presence
from gateways import brcode
from gateways.asaas import AsaasGateway
from gateways.contract import Customer, get_ready
from gateways.transport import Timeouts
from simulators.payments import PaymentsSimulatorClient
from simulators.payments.process import PaymentsSimulatorProcess
from tests.integration.gateways.asaas_kit import (
    AMOUNT,
    OPERATIONS,
    any_request,
    asaas_at,
    charge_request,
    new_key,
    order_validation,
    paid_charge,
    post,
    register,
    send,
    validation_calls,
)


@pytest.fixture
async def asaas(
    simulator_process: PaymentsSimulatorProcess, simulator: PaymentsSimulatorClient
) -> AsyncIterator[AsaasGateway]:
    await register(simulator_process.url)
    yield asaas_at(simulator_process.url)
    await order_validation(simulator_process.url, ask=None)


async def posts(simulator: PaymentsSimulatorClient, key: str) -> int:
    """How often a key went over the wire."""
    return sum(entry["key"] == key for entry in await simulator.journal())


FAULTS: list[tuple[dict[str, Any], Outcome, int]] = [
    ({"kind": "act_drop"}, Outcome.UNKNOWN, 1),
    ({"kind": "act_500"}, Outcome.UNKNOWN, 1),
    ({"kind": "act_delay", "seconds": 0.6}, Outcome.UNKNOWN, 1),
    ({"kind": "drop"}, Outcome.UNKNOWN, 0),
    ({"kind": "refuse", "status": 400}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 401}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 403}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 409}, Outcome.UNKNOWN, 0),
    ({"kind": "refuse", "status": 500}, Outcome.UNKNOWN, 0),
    ({"kind": "refuse", "status": 503}, Outcome.UNKNOWN, 0),
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


def expected_of(operation: str, fault: dict[str, Any], outcome: Outcome) -> Outcome:
    """Refunds and transfers are taken in at first, those that will fail too."""
    taken_in = outcome is Outcome.CREATED or fault["kind"] == "failed"
    return Outcome.IN_PROGRESS if taken_in and operation != "charge" else outcome


@pytest.mark.parametrize(
    ("fault", "outcome", "effects"),
    FAULTS,
    ids=["-".join(str(value) for value in fault.values()) for fault, _, _ in FAULTS],
)
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_each_fault_has_one_outcome_and_effect_count(
    asaas: AsaasGateway,
    simulator: PaymentsSimulatorClient,
    operation: str,
    fault: dict[str, Any],
    outcome: Outcome,
    effects: int,
) -> None:
    """What really happened at the provider is never called the opposite; a later look finds it, and
    one POST was made."""
    key = new_key()
    request = await any_request(operation, key, asaas, simulator)
    await simulator.add_fault(**fault)
    result = await send(asaas, key, request)
    assert result.outcome is expected_of(operation, fault, outcome), result
    if fault["kind"] == "delay_before":
        await asyncio.sleep(0.4)
    counters = await simulator.counters()
    assert counters["effects_by_key"].get(key, 0) == effects
    assert await posts(simulator, key) == 1
    assert await simulator.faults() == []
    if result.outcome is Outcome.UNKNOWN:
        found = await asaas.lookup(key, request)
        expected = Presence.FOUND if effects else Presence.ABSENT
        assert (found.presence, found.equal) == (expected, bool(effects)), found


async def test_an_undisturbed_charge_has_a_sound_pix_code(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient
) -> None:
    """The code is read beside the charge and bears the confirmed amount; our key and an exact
    number went over the wire."""
    key = new_key()
    result = await send(asaas, key, charge_request(asaas, key))
    assert result.outcome is Outcome.CREATED
    assert brcode.parse(str(result.data["qr_code"])).amount_cents == AMOUNT
    [sent] = [entry for entry in await simulator.journal() if entry["key"] == key]
    assert '"value":150.00}' in sent["body"]
    assert json.loads(sent["body"])["externalReference"] == key


async def test_a_second_send_of_a_key_adopts_what_is_there(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Should the core ever send twice one after the other: the look before finds the first."""
    key = new_key()
    request = charge_request(asaas, key)
    first = await send(asaas, key, request)
    again = await send(asaas, key, request)
    assert (again.outcome, again.provider_ref) == (Outcome.CREATED, first.provider_ref)
    assert again.evidence["looked_up_before"] is True
    assert await posts(simulator, key) == 1


async def test_what_was_read_serves_one_send(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient
) -> None:
    """20 sends at once after one look are one POST: all others were not looked up for."""
    key = new_key()
    request = charge_request(asaas, key)
    await get_ready(asaas, key, request)
    results = await asyncio.gather(
        *(asaas.send(key, request, before_wire=lambda: None) for _ in range(20))
    )
    outcomes = [result.outcome for result in results]
    assert sorted(outcomes) == sorted([Outcome.CREATED] + [Outcome.NOT_SENT] * 19)
    assert await posts(simulator, key) == 1


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_two_under_one_key_are_a_conflict_that_names_both(
    asaas: AsaasGateway,
    simulator: PaymentsSimulatorClient,
    simulator_process: PaymentsSimulatorProcess,
    operation: str,
) -> None:
    """Asaas makes a second object for the same bytes; a look finds zero, one, two."""
    key = new_key()
    request = await any_request(operation, key, asaas, simulator)
    assert (await asaas.lookup(key, request)).presence is Presence.ABSENT
    await send(asaas, key, request)
    assert (await asaas.lookup(key, request)).equal
    [sent] = [entry for entry in await simulator.journal() if entry["key"] == key]
    await post(simulator_process.url, request.path, json.loads(sent["body"]))
    found = await asaas.lookup(key, request)
    assert (found.presence, found.equal) == (Presence.FOUND, False)
    assert "2 effects under one key" in found.differences[0]
    assert (await send(asaas, key, request)).outcome is Outcome.CONFLICT


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_lagging_look_up_is_absent_then_found(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """One empty list proves nothing: the effect turns up later."""
    key = new_key()
    request = await any_request(operation, key, asaas, simulator)
    await simulator.add_fault("lookup_lag", seconds=60)
    await send(asaas, key, request)
    early = await asaas.lookup(key, request)
    assert (early.presence, early.final) == (Presence.ABSENT, False)
    await simulator.advance_clock(61)
    late = await asaas.lookup(key, request)
    assert (late.presence, late.equal) == (Presence.FOUND, True)


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_broken_look_up_is_uncertain_and_before_a_send_nothing_goes(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """A provider that cannot answer has not said "absent"."""
    key = new_key()
    request = await any_request(operation, key, asaas, simulator)
    await simulator.add_fault("lookup_503")
    assert (await asaas.lookup(key, request)).presence is Presence.UNCERTAIN
    await simulator.add_fault("lookup_503")
    assert (await send(asaas, key, request)).outcome is Outcome.NOT_SENT
    assert await posts(simulator, key) == 0


async def test_a_look_up_and_the_look_before_a_send_never_write(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Read-only means GET only, for what is there and what is not."""
    for operation in OPERATIONS:
        key = new_key()
        request = await any_request(operation, key, asaas, simulator)
        before = len(await simulator.journal())
        await asaas.lookup(key, request)
        await get_ready(asaas, key, request)
        asked = (await simulator.journal())[before:]
        assert {entry["method"] for entry in asked} == {"GET"}


@pytest.mark.parametrize("operation", ["refund", "transfer"])
async def test_a_slow_effect_is_in_progress_until_it_is_final(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """Taken in is not done: found but not final, then final."""
    key = new_key()
    request = await any_request(operation, key, asaas, simulator)
    await simulator.add_fault("settle_slowly", seconds=60)
    assert (await send(asaas, key, request)).outcome is Outcome.IN_PROGRESS
    working = await asaas.lookup(key, request)
    assert (working.presence, working.final) == (Presence.FOUND, False)
    await simulator.advance_clock(61)
    done = await asaas.lookup(key, request)
    assert (done.presence, done.final, done.equal) == (Presence.FOUND, True, True)


@pytest.mark.parametrize("operation", ["refund", "transfer"])
async def test_what_was_taken_in_and_not_carried_out_is_a_proved_failure(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """The provider holds a record that it failed, so the absence is final."""
    key = new_key()
    request = await any_request(operation, key, asaas, simulator)
    await simulator.add_fault("failed")
    assert (await send(asaas, key, request)).outcome is Outcome.IN_PROGRESS
    found = await asaas.lookup(key, request)
    assert (found.presence, found.final) == (Presence.ABSENT, True)


async def test_an_equal_refund_of_somebody_else_is_not_ours_and_no_absence(
    asaas: AsaasGateway,
    simulator: PaymentsSimulatorClient,
    simulator_process: PaymentsSimulatorProcess,
) -> None:
    """Our refund was lost before it acted, and an equal one was made in the panel: neither found
    nor absent, with both sums."""
    charge, key = await paid_charge(asaas, simulator), new_key()
    request = asaas.render_refund(
        key=key, charge_ref=charge, amount_cents=500, refunded_before_cents=0
    )
    await simulator.add_fault("drop")
    assert (await send(asaas, key, request)).outcome is Outcome.UNKNOWN
    await post(simulator_process.url, f"/v3/payments/{charge}/refund", {"value": 5.0})
    found = await asaas.lookup(key, request)
    assert found.presence is Presence.UNCERTAIN
    assert found.differences == ["refunded cents: before 0, now 500, and no refund bears our key"]


async def test_two_equal_refunds_of_ours_are_told_apart(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Each bears its key in its description."""
    charge = await paid_charge(asaas, simulator)
    first, second = new_key(), new_key()
    one, two = (
        asaas.render_refund(
            key=key, charge_ref=charge, amount_cents=500, refunded_before_cents=before
        )
        for key, before in ((first, 0), (second, 500))
    )
    await send(asaas, first, one)
    await simulator.add_fault("drop")
    assert (await send(asaas, second, two)).outcome is Outcome.UNKNOWN
    assert (await asaas.lookup(first, one)).equal
    assert (await asaas.lookup(second, two)).presence is Presence.ABSENT


async def test_a_customer_is_never_made_and_without_one_nothing_is_charged(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Making one has no key either: Asaas showed that there is none, so nothing was done."""
    key = new_key()
    nobody = Customer(name="Outro", document="11144477735")
    result = await send(asaas, key, charge_request(asaas, key, customer=nobody))
    assert result.outcome is Outcome.REJECTED
    assert "register the customer there first" in str(result.reason)
    assert nobody.document not in str(result)
    written = [entry for entry in await simulator.journal() if entry["method"] == "POST"]
    assert [entry["path"] for entry in written] == ["/v3/customers"]  # the fixture's own


async def test_of_two_customers_with_one_document_one_is_charged_once(
    asaas: AsaasGateway,
    simulator: PaymentsSimulatorClient,
    simulator_process: PaymentsSimulatorProcess,
) -> None:
    """Asaas keeps both; the document is what the person confirmed."""
    await register(simulator_process.url)
    key = new_key()
    request = charge_request(asaas, key)
    assert (await send(asaas, key, request)).outcome is Outcome.CREATED
    assert (await asaas.lookup(key, request)).equal
    assert (await simulator.counters())["effects_by_key"][key] == 1


async def test_a_charge_of_another_payer_under_our_key_is_a_conflict(
    asaas: AsaasGateway,
    simulator_process: PaymentsSimulatorProcess,
) -> None:
    """The key alone is no proof: the payer is compared, unnamed."""
    key = new_key()
    request = charge_request(asaas, key)
    other = await register(simulator_process.url, "11144477735")
    body = {**json.loads(request.body), "customer": other}
    await post(simulator_process.url, "/v3/payments", body)
    found = await asaas.lookup(key, request)
    assert (found.presence, found.differences) == (Presence.FOUND, ["customer.cpfCnpj differs"])


async def test_a_charge_whose_code_cannot_be_read_is_in_progress_then_found(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Made, but there is nothing to send to the person yet."""
    key = new_key()
    request = charge_request(asaas, key)
    await get_ready(asaas, key, request)
    await simulator.add_fault("lookup_503")
    result = await asaas.send(key, request, before_wire=lambda: None)
    assert result.outcome is Outcome.IN_PROGRESS
    found = await asaas.lookup(key, request)
    assert found.equal
    assert found.final
    assert found.data["qr_code"]


async def test_money_moves_with_the_effects(
    asaas: AsaasGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Balance: opening 100,000 + paid 15,000 − refunded 500 − sent 700 cents."""
    charge = await paid_charge(asaas, simulator)
    refund, transfer = new_key(), new_key()
    await send(
        asaas,
        refund,
        asaas.render_refund(
            key=refund, charge_ref=charge, amount_cents=500, refunded_before_cents=0
        ),
    )
    await send(asaas, transfer, asaas.render_transfer(key=transfer, amount_cents=700))
    assert await asaas.balance() == 100_000 + AMOUNT - 500 - 700
    view = await asaas.charge(charge)
    assert view is not None
    assert (view.status, view.paid_cents, view.refunded_cents) == ("RECEIVED", AMOUNT, 500)
    assert await asaas.charge("pay_none") is None


async def test_a_wrong_api_key_is_rejected_before_anything_goes(
    asaas: AsaasGateway,
    simulator: PaymentsSimulatorClient,
    simulator_process: PaymentsSimulatorProcess,
) -> None:
    """The look before cannot be read, so nothing is sent."""
    stranger, key = asaas_at(simulator_process.url, api_key="sk_other"), new_key()
    result = await send(stranger, key, stranger.render_transfer(key=key, amount_cents=700))
    assert result.outcome is Outcome.NOT_SENT
    assert await posts(simulator, key) == 0


async def test_a_transfer_that_nobody_approves_is_cancelled_without_effect(
    asaas: AsaasGateway,
    simulator: PaymentsSimulatorClient,
    simulator_process: PaymentsSimulatorProcess,
) -> None:
    """The account's server is away: three calls, then cancelled, and the look says failed."""
    url = simulator_process.url
    await order_validation(url, ask="http://127.0.0.1:1/", token="t")
    key = new_key()
    patient = asaas_at(url, timeouts=Timeouts())
    request = patient.render_transfer(key=key, amount_cents=700)
    assert (await send(patient, key, request)).outcome is Outcome.IN_PROGRESS
    assert [call["said"] for call in await validation_calls(url, count=1)] == [None]
    found = await patient.lookup(key, request)
    assert (found.presence, found.final) == (Presence.ABSENT, True)
    assert key not in (await simulator.counters())["effects_by_key"]
