"""The API Pix's gateway against the provider in Efí's dialect, over sockets.

The single assertion behind all of them: at most one effect per key, and exactly one if CREATED.
"""

import asyncio
from typing import Any

import pytest

from domain.outcomes import Outcome, Presence
from gateways import brcode
from gateways.pix_bcb import PixBcbGateway
from gateways.transport import Timeouts
from simulators.payments import PaymentsSimulatorClient
from simulators.payments.process import PaymentsSimulatorProcess
from tests.integration.gateways.pix_kit import (
    AMOUNT,
    OPERATIONS,
    any_request,
    charge_request,
    new_key,
    paid_charge,
    pix_at,
    refund_request,
    send,
)


@pytest.fixture
def pix(simulator_process: PaymentsSimulatorProcess) -> PixBcbGateway:
    return pix_at(simulator_process.url)


FAULTS: list[tuple[dict[str, Any], Outcome, int]] = [
    ({"kind": "act_drop"}, Outcome.UNKNOWN, 1),
    ({"kind": "act_500"}, Outcome.UNKNOWN, 1),
    ({"kind": "act_delay", "seconds": 0.6}, Outcome.UNKNOWN, 1),
    ({"kind": "drop"}, Outcome.UNKNOWN, 0),
    ({"kind": "refuse", "status": 400}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 401}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 403}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 409}, Outcome.UNKNOWN, 0),
    ({"kind": "refuse", "status": 422}, Outcome.REJECTED, 0),
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
    """What is only taken in at first, and a refusal that proves nothing of a refund."""
    if outcome is Outcome.CREATED and operation != "charge":
        return Outcome.IN_PROGRESS
    if fault["kind"] == "failed" and operation != "charge":
        return Outcome.IN_PROGRESS
    refused = fault["kind"] == "precondition" or fault == {"kind": "refuse", "status": 400}
    return Outcome.UNKNOWN if refused and operation == "refund" else outcome


@pytest.mark.parametrize(
    ("fault", "outcome", "effects"),
    FAULTS,
    ids=["-".join(str(value) for value in fault.values()) for fault, _, _ in FAULTS],
)
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_each_fault_has_one_outcome_and_effect_count(
    pix: PixBcbGateway,
    simulator: PaymentsSimulatorClient,
    operation: str,
    fault: dict[str, Any],
    outcome: Outcome,
    effects: int,
) -> None:
    """What really happened at the bank is never called the opposite; a later look finds it."""
    key = new_key()
    request = await any_request(operation, key, pix, simulator)
    await simulator.add_fault(**fault, path_prefix="/v2/")
    result = await send(pix, key, request)
    assert result.outcome is expected_of(operation, fault, outcome), result
    if fault["kind"] == "delay_before":
        await asyncio.sleep(0.4)
    counters = await simulator.counters()
    assert counters["effects_by_key"].get(key, 0) == effects
    assert counters["duplicates"] == 0
    assert await simulator.faults() == []
    if result.outcome is Outcome.UNKNOWN:
        found = await pix.lookup(key, request)
        expected = Presence.FOUND if effects else Presence.ABSENT
        assert (found.presence, found.equal) == (expected, bool(effects)), found


async def test_an_undisturbed_charge_has_a_sound_pix_code(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """The code is valid, bears the confirmed amount, and leads to the charge's own location."""
    key = new_key()
    result = await send(pix, key, charge_request(pix, key))
    code = brcode.parse(str(result.data["qr_code"]))
    assert (code.amount_cents, code.url) == (AMOUNT, f"pix.simulador.example/v2/{key}")


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_the_key_is_in_the_path_and_one_send_is_one_request(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """After what was read before the fence, the bank sees one PUT under our key, with the frozen
    bytes; nothing is minted and nothing comes after."""
    key = new_key()
    request = await any_request(operation, key, pix, simulator)
    await pix.ready(key, request)
    before = len(await simulator.journal())
    await pix.send(key, request, before_wire=lambda: None)
    (entry,) = (await simulator.journal())[before:]
    assert (entry["method"], entry["key"], entry["body"]) == ("PUT", key, request.body)
    assert entry["path"].rsplit("/", 1)[-1] == key


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_repeated_key_has_one_effect_and_is_looked_up(
    pix: PixBcbGateway,
    simulator_process: PaymentsSimulatorProcess,
    simulator: PaymentsSimulatorClient,
    operation: str,
) -> None:
    """20 sends of one key at once are one effect; the refused ones are no failures."""
    key = new_key()
    patient = pix_at(simulator_process.url, timeouts=Timeouts())
    request = await any_request(operation, key, patient, simulator)
    results = await asyncio.gather(*(send(patient, key, request) for _ in range(20)))
    done = Outcome.CREATED if operation == "charge" else Outcome.IN_PROGRESS
    assert sorted(result.outcome for result in results) == sorted([done, *[Outcome.UNKNOWN] * 19])
    found = await pix.lookup(key, request)
    assert (found.presence, found.final, found.equal) == (Presence.FOUND, True, True)
    assert (await simulator.counters())["effects_by_key"][key] == 1


async def test_a_key_with_another_body_shows_as_different(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """The 409 says nothing of whose charge it is; the look-up names what differs."""
    key = new_key()
    await send(pix, key, charge_request(pix, key))
    other = charge_request(pix, key, 99)
    assert (await send(pix, key, other)).outcome is Outcome.UNKNOWN
    found = await pix.lookup(key, other)
    assert (found.presence, found.equal) == (Presence.FOUND, False)
    assert found.differences == ["valor.original: frozen '0.99', found '150.00'"]
    assert (await simulator.counters())["effects_total"] == 1


async def test_a_bank_that_alters_is_a_conflict_by_its_revision(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """The same bytes a second time raise `revisao`: nobody else's change may pass for ours."""
    key = new_key()
    request = charge_request(pix, key)
    await send(pix, key, request)
    await simulator.add_fault("ignore_key", path_prefix="/v2/")
    result = await send(pix, key, request)
    assert (result.outcome, result.reason) == (Outcome.CONFLICT, "revisao: frozen 0, found 1")
    found = await pix.lookup(key, request)
    assert found.differences == ["revisao: frozen 0, found 1"]


async def test_a_key_is_taken_for_good(
    pix: PixBcbGateway,
    simulator_process: PaymentsSimulatorProcess,
    simulator: PaymentsSimulatorClient,
) -> None:
    """Months later the same PUT is still refused and the charge still found."""
    key = new_key()
    request = charge_request(pix, key)
    await send(pix, key, request)
    await simulator.advance_clock(90 * 24 * 3600)
    later = pix_at(simulator_process.url)
    assert (await send(later, key, request)).outcome is Outcome.UNKNOWN
    assert (await later.lookup(key, request)).equal
    assert (await simulator.counters())["effects_total"] == 1


async def test_a_look_up_never_writes(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Read-only means GET only, for what is there and what is not."""
    for operation in OPERATIONS:
        key = new_key()
        request = await any_request(operation, key, pix, simulator)
        await pix.ready(key, request)
        before = len(await simulator.journal())
        assert (await pix.lookup(key, request)).presence is Presence.ABSENT
        asked = (await simulator.journal())[before:]
        assert {entry["method"] for entry in asked} == {"GET"}


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_lagging_look_up_is_absent_then_found(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """One absent proves nothing: the effect turns up later."""
    key = new_key()
    request = await any_request(operation, key, pix, simulator)
    await simulator.add_fault("lookup_lag", seconds=60, path_prefix="/v2/")
    await send(pix, key, request)
    early = await pix.lookup(key, request)
    assert (early.presence, early.final) == (Presence.ABSENT, False)
    await simulator.advance_clock(61)
    late = await pix.lookup(key, request)
    assert (late.presence, late.equal) == (Presence.FOUND, True)


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_broken_look_up_is_uncertain(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """A bank that cannot answer has not said "absent"."""
    key = new_key()
    request = await any_request(operation, key, pix, simulator)
    await simulator.add_fault("lookup_503")
    assert (await pix.lookup(key, request)).presence is Presence.UNCERTAIN


@pytest.mark.parametrize("operation", ["refund", "transfer"])
async def test_a_slow_effect_is_in_progress_until_it_is_final(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """Taken in is not done: found but not final, then final."""
    key = new_key()
    request = await any_request(operation, key, pix, simulator)
    await simulator.add_fault("settle_slowly", seconds=60, path_prefix="/v2/")
    assert (await send(pix, key, request)).outcome is Outcome.IN_PROGRESS
    working = await pix.lookup(key, request)
    assert (working.presence, working.final) == (Presence.FOUND, False)
    await simulator.advance_clock(61)
    done = await pix.lookup(key, request)
    assert (done.presence, done.final, done.equal) == (Presence.FOUND, True, True)


@pytest.mark.parametrize("operation", ["refund", "transfer"])
async def test_what_was_taken_in_and_not_carried_out_is_a_proved_failure(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """NAO_REALIZADO: the bank holds a record that it failed, so the absence is final."""
    key = new_key()
    request = await any_request(operation, key, pix, simulator)
    await simulator.add_fault("failed", path_prefix="/v2/")
    assert (await send(pix, key, request)).outcome is Outcome.IN_PROGRESS
    found = await pix.lookup(key, request)
    assert (found.presence, found.final) == (Presence.ABSENT, True)
    assert key not in (await simulator.counters())["effects_by_key"]


async def test_efis_refused_cent_fails_after_it_was_taken_in(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """The sandbox's own test of a refund that is not carried out."""
    key = new_key()
    request = refund_request(pix, key, await paid_charge(pix, simulator), 1)
    assert (await send(pix, key, request)).outcome is Outcome.IN_PROGRESS
    found = await pix.lookup(key, request)
    assert (found.presence, found.final) == (Presence.ABSENT, True)
    assert found.evidence["failure"] == "Devolução recusada"


async def test_two_equal_refunds_are_told_apart(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Each refund has its own id: an earlier equal one is not mistaken for it."""
    charge = await paid_charge(pix, simulator)
    first, second = new_key(), new_key()
    earlier, later = (refund_request(pix, key, charge) for key in (first, second))
    await send(pix, first, earlier)
    await simulator.add_fault("drop", path_prefix="/v2/")
    assert (await send(pix, second, later)).outcome is Outcome.UNKNOWN
    assert (await pix.lookup(second, later)).presence is Presence.ABSENT
    assert (await pix.lookup(first, earlier)).equal


async def test_an_unpaid_charge_is_not_given_back_and_no_put_is_made(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """There is no Pix to name in the path; the bank itself showed the charge as unpaid."""
    charge, key = new_key(), new_key()
    await send(pix, charge, charge_request(pix, charge))
    result = await send(pix, key, refund_request(pix, key, charge))
    assert (result.outcome, result.reason) == (
        Outcome.REJECTED,
        f"the charge {charge!r} is not paid",
    )
    assert [entry["method"] for entry in await simulator.journal()].count("PUT") == 1


async def test_a_refund_whose_charge_could_not_be_read_is_not_sent(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Reading the charge is before the fence: its failure is no unknown, and the next try reads
    anew."""
    key = new_key()
    request = refund_request(pix, key, await paid_charge(pix, simulator))
    await simulator.add_fault("lookup_503")
    assert (await send(pix, key, request)).outcome is Outcome.NOT_SENT
    assert (await send(pix, key, request)).outcome is Outcome.IN_PROGRESS
    assert (await simulator.counters())["effects_by_key"][key] == 1


async def test_money_moves_with_the_effects(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Balance: opening 100,000 + paid 15,000 − refunded 500 − sent 700 cents."""
    charge = await paid_charge(pix, simulator)
    refund, transfer = new_key(), new_key()
    await send(pix, refund, refund_request(pix, refund, charge))
    await send(pix, transfer, pix.render_transfer(key=transfer, amount_cents=700))
    assert await pix.balance() == 100_000 + AMOUNT - 500 - 700
    view = await pix.charge(charge)
    assert view is not None
    assert (view.status, view.paid_cents, view.refunded_cents) == ("CONCLUIDA", AMOUNT, 500)
    assert await pix.charge(new_key()) is None


async def test_a_received_pix_can_be_read_and_given_back_by_its_own_id(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """A Pix that came without a charge of ours has an e2eid only."""
    charge, key = new_key(), new_key()
    await send(pix, charge, charge_request(pix, charge))
    e2eid = (await simulator.pay(charge))["pix"][0]["endToEndId"]
    request = refund_request(pix, key, e2eid)
    assert (await send(pix, key, request)).outcome is Outcome.IN_PROGRESS
    assert (await pix.lookup(key, request)).equal
    view = await pix.charge(e2eid)
    assert view is not None
    assert (view.paid_cents, view.refunded_cents, view.code) == (AMOUNT, 500, charge)


async def test_what_cannot_be_done_is_rejected(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """More than the balance is refused; more than the Pix is too, but a refused refund is looked
    up, and found absent."""
    charge = await paid_charge(pix, simulator)
    high = new_key()
    transfer = pix.render_transfer(key=high, amount_cents=10**7)
    assert (await send(pix, high, transfer)).outcome is Outcome.REJECTED
    over = new_key()
    request = refund_request(pix, over, charge, AMOUNT + 1)
    assert (await send(pix, over, request)).outcome is Outcome.UNKNOWN
    assert (await pix.lookup(over, request)).presence is Presence.ABSENT
    assert (await simulator.counters())["effects_by_operation"] == {"charge": 1}
