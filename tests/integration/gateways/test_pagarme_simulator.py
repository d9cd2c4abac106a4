"""Gateway against provider, over sockets: each fault has one outcome class and one effect count.

The single assertion behind all of them: at most one effect per key, and exactly one if CREATED.
"""

import asyncio
import uuid
from pathlib import Path
from typing import Any

import pytest

from domain.outcomes import GatewayResult, Outcome, Presence, ProviderRequest
from gateways import brcode
from gateways.contract import Customer
from gateways.pagarme import PagarmeGateway
from gateways.transport import Timeouts
from simulators.payments import PaymentsSimulatorClient
from simulators.payments.process import PaymentsSimulatorProcess
from tests.integration.gateways.conftest import ADMIN_SECRET, API_KEY, gateway_at

CUSTOMER = Customer(name="Cliente", document="12345678909")
AMOUNT = 15_000


def new_key() -> str:
    return uuid.uuid4().hex


def charge_request(gateway: PagarmeGateway, key: str, cents: int = AMOUNT) -> ProviderRequest:
    return gateway.render_charge(
        key=key,
        amount_cents=cents,
        description="Corte",
        customer=CUSTOMER,
        expires_in_seconds=600,
    )


async def send(gateway: PagarmeGateway, key: str, request: ProviderRequest) -> GatewayResult:
    return await gateway.send(key, request, before_wire=lambda: None)


async def paid_charge(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient, cents: int = AMOUNT
) -> str:
    key = new_key()
    result = await send(gateway, key, charge_request(gateway, key, cents))
    assert result.outcome is Outcome.CREATED
    assert result.provider_ref is not None
    await simulator.pay(result.provider_ref)
    return result.provider_ref


FAULTS: list[tuple[dict[str, Any], Outcome, int]] = [
    ({"kind": "act_drop"}, Outcome.UNKNOWN, 1),
    ({"kind": "act_500"}, Outcome.UNKNOWN, 1),
    ({"kind": "act_delay", "seconds": 0.6}, Outcome.UNKNOWN, 1),
    ({"kind": "drop"}, Outcome.UNKNOWN, 0),
    ({"kind": "refuse", "status": 400}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 401}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 422}, Outcome.REJECTED, 0),
    ({"kind": "refuse", "status": 409}, Outcome.UNKNOWN, 0),
    ({"kind": "refuse", "status": 500}, Outcome.UNKNOWN, 0),
    ({"kind": "failed"}, Outcome.REJECTED, 0),
    ({"kind": "precondition"}, Outcome.REJECTED, 0),
    ({"kind": "throttle", "seconds": 3}, Outcome.NOT_SENT, 0),
    ({"kind": "html_502", "acted": True}, Outcome.UNKNOWN, 1),
    ({"kind": "html_502", "acted": False}, Outcome.UNKNOWN, 0),
    ({"kind": "html_refusal", "status": 403, "acted": True}, Outcome.UNKNOWN, 1),
    ({"kind": "html_refusal", "status": 400, "acted": False}, Outcome.UNKNOWN, 0),
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
@pytest.mark.parametrize("operation", ["charge", "refund", "transfer"])
async def test_each_fault_has_one_outcome_and_effect_count(
    gateway: PagarmeGateway,
    simulator: PaymentsSimulatorClient,
    operation: str,
    fault: dict[str, Any],
    outcome: Outcome,
    effects: int,
) -> None:
    """What really happened at the provider is never called the opposite; a later look finds it."""
    key = new_key()
    if operation == "charge":
        request = charge_request(gateway, key)
    elif operation == "refund":
        ref = await paid_charge(gateway, simulator)
        request = gateway.render_refund(
            key=key, charge_ref=ref, amount_cents=500, refunded_before_cents=0
        )
    else:
        request = gateway.render_transfer(key=key, amount_cents=700)
    await simulator.add_fault(**fault)
    result = await send(gateway, key, request)
    assert result.outcome is outcome, result
    if fault["kind"] == "delay_before":
        await asyncio.sleep(0.4)
    counters = await simulator.counters()
    assert counters["effects_by_key"].get(key, 0) == effects
    assert counters["duplicates"] == 0
    assert await simulator.faults() == []
    if result.outcome is Outcome.UNKNOWN:
        found = await gateway.lookup(key, request)
        expected = Presence.FOUND if effects else Presence.ABSENT
        assert (found.presence, found.equal) == (expected, bool(effects)), found


async def test_an_undisturbed_charge_has_a_sound_pix_code(gateway: PagarmeGateway) -> None:
    """The simulator's code is valid for a reader that was written apart from it."""
    key = new_key()
    result = await send(gateway, key, charge_request(gateway, key))
    code = brcode.parse(str(result.data["qr_code"]))
    assert code.amount_cents == AMOUNT


async def test_a_repeated_key_has_one_effect(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """20 sends of one key at once, and one after, are one charge."""
    key = new_key()
    request = charge_request(gateway, key)
    results = await asyncio.gather(*(send(gateway, key, request) for _ in range(20)))
    results.append(await send(gateway, key, request))
    assert {result.outcome for result in results} == {Outcome.CREATED}
    assert len({result.provider_ref for result in results}) == 1
    assert (await simulator.counters())["effects_by_key"] == {key: 1}


async def test_a_key_with_another_body_is_a_conflict(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """The provider replays uncompared; the gateway sees that it is not what was frozen."""
    key = new_key()
    await send(gateway, key, charge_request(gateway, key))
    result = await send(gateway, key, charge_request(gateway, key, 99))
    assert result.outcome is Outcome.CONFLICT
    assert (await simulator.counters())["effects_total"] == 1


async def test_a_failed_key_is_replayed_as_failed(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """A failure is kept under the key: sending again gives the failure, not a charge."""
    key = new_key()
    request = charge_request(gateway, key)
    await simulator.add_fault("failed")
    first = await send(gateway, key, request)
    second = await send(gateway, key, request)
    assert (first.outcome, second.outcome) == (Outcome.REJECTED, Outcome.REJECTED)
    found = await gateway.lookup(key, request)
    assert (found.presence, found.final) == (Presence.ABSENT, True)
    assert (await simulator.counters())["effects_total"] == 0


async def test_a_lagging_look_up_is_absent_then_found(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """One absent proves nothing: the charge turns up later."""
    key = new_key()
    request = charge_request(gateway, key)
    await simulator.add_fault("lookup_lag", seconds=60)
    await send(gateway, key, request)
    early = await gateway.lookup(key, request)
    assert (early.presence, early.final) == (Presence.ABSENT, False)
    await simulator.advance_clock(61)
    late = await gateway.lookup(key, request)
    assert (late.presence, late.equal) == (Presence.FOUND, True)


async def test_a_broken_look_up_is_uncertain(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """A provider that cannot answer has not said "absent"."""
    key = new_key()
    await simulator.add_fault("lookup_503")
    found = await gateway.lookup(key, charge_request(gateway, key))
    assert found.presence is Presence.UNCERTAIN


@pytest.mark.parametrize("operation", ["refund", "transfer"])
async def test_a_slow_effect_is_in_progress_until_it_is_final(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient, operation: str
) -> None:
    """Accepted is not done: found but not final, then final."""
    key = new_key()
    if operation == "refund":
        ref = await paid_charge(gateway, simulator)
        request = gateway.render_refund(
            key=key, charge_ref=ref, amount_cents=500, refunded_before_cents=0
        )
    else:
        request = gateway.render_transfer(key=key, amount_cents=700)
    await simulator.add_fault("settle_slowly", seconds=60)
    assert (await send(gateway, key, request)).outcome is Outcome.IN_PROGRESS
    working = await gateway.lookup(key, request)
    assert (working.presence, working.final) == (Presence.FOUND, False)
    await simulator.advance_clock(61)
    done = await gateway.lookup(key, request)
    assert (done.presence, done.final, done.equal) == (Presence.FOUND, True, True)


async def test_two_equal_refunds_are_told_apart(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """An earlier equal refund is not mistaken for one that was never done."""
    ref = await paid_charge(gateway, simulator)
    first, second = new_key(), new_key()
    earlier = gateway.render_refund(
        key=first, charge_ref=ref, amount_cents=500, refunded_before_cents=0
    )
    assert (await send(gateway, first, earlier)).outcome is Outcome.CREATED
    charge = await gateway.charge(ref)
    assert charge is not None
    later = gateway.render_refund(
        key=second,
        charge_ref=ref,
        amount_cents=500,
        refunded_before_cents=charge.refunded_cents,
    )
    await simulator.add_fault("drop")
    assert (await send(gateway, second, later)).outcome is Outcome.UNKNOWN
    assert (await gateway.lookup(second, later)).presence is Presence.ABSENT


async def test_money_moves_with_the_effects(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """Balance: opening 100,000 + paid 15,000 − refunded 500 − transferred 700 cents."""
    ref = await paid_charge(gateway, simulator)
    refund, transfer = new_key(), new_key()
    request = gateway.render_refund(
        key=refund, charge_ref=ref, amount_cents=500, refunded_before_cents=0
    )
    await send(gateway, refund, request)
    await send(gateway, transfer, gateway.render_transfer(key=transfer, amount_cents=700))
    assert await gateway.balance() == 100_000 + AMOUNT - 500 - 700


async def test_what_cannot_be_done_is_rejected(
    gateway: PagarmeGateway, simulator: PaymentsSimulatorClient
) -> None:
    """More than the balance, more than the charge, and an unknown charge are refusals."""
    ref = await paid_charge(gateway, simulator)
    for request in (
        gateway.render_transfer(key=new_key(), amount_cents=10**9),
        gateway.render_refund(
            key=new_key(), charge_ref=ref, amount_cents=AMOUNT + 1, refunded_before_cents=0
        ),
        gateway.render_refund(
            key=new_key(), charge_ref="ch_none", amount_cents=1, refunded_before_cents=0
        ),
    ):
        result = await send(gateway, request.headers["Idempotency-Key"], request)
        assert result.outcome is Outcome.REJECTED
    assert (await simulator.counters())["effects_total"] == 1


async def test_a_wrong_api_key_is_rejected(
    simulator_process: PaymentsSimulatorProcess, simulator: PaymentsSimulatorClient
) -> None:
    """Without the right key nothing happens, and the provider says so itself."""
    stranger = PagarmeGateway(
        base_url=simulator_process.url, api_key="sk_wrong", recipient_id="re_simulated"
    )
    key = new_key()
    assert (await send(stranger, key, charge_request(stranger, key))).outcome is Outcome.REJECTED
    assert (await simulator.counters())["effects_total"] == 0


async def test_the_provider_remembers_over_a_kill(tmp_path: Path) -> None:
    """Killed and started again, it replays the key and counts one effect."""
    state = tmp_path / "provider.sqlite"
    key = new_key()
    for _ in range(2):
        process = await PaymentsSimulatorProcess.start(
            api_key=API_KEY, admin_secret=ADMIN_SECRET, state=state
        )
        gateway = gateway_at(process.url, Timeouts())  # the first answer of a process is slow
        result = await send(gateway, key, charge_request(gateway, key))
        async with PaymentsSimulatorClient(process.url, admin_secret=ADMIN_SECRET) as client:
            counters = await client.counters()
        await process.kill()
        assert result.outcome is Outcome.CREATED
        assert counters["effects_by_key"] == {key: 1}
