"""Tokens of the API Pix over sockets: read before the fence, and without one nothing is sent."""

import pytest

from domain.outcomes import Outcome, Presence
from gateways.contract import ReadFailedError
from gateways.pix_bcb import PixBcbGateway
from simulators.payments import PaymentsSimulatorClient
from simulators.payments.process import PaymentsSimulatorProcess
from tests.integration.gateways.pix_kit import charge_request, new_key, pix_at, send


@pytest.fixture
def pix(simulator_process: PaymentsSimulatorProcess) -> PixBcbGateway:
    return pix_at(simulator_process.url)


async def test_an_ended_token_is_rejected_and_the_next_send_has_a_new_one(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient
) -> None:
    """A 401 on the send was not executed; it is not sent again by itself."""
    first, second = new_key(), new_key()
    await pix.ready(first, charge_request(pix, first))
    await simulator.advance_clock(3601)
    result = await pix.send(first, charge_request(pix, first), before_wire=lambda: None)
    assert (result.outcome, result.evidence["error_code"]) == (Outcome.REJECTED, "invalid_token")
    assert (await send(pix, second, charge_request(pix, second))).outcome is Outcome.CREATED
    assert (await simulator.counters())["effects_by_key"] == {second: 1}


@pytest.mark.parametrize("fault", ["drop", "act_500", "html_502", "throttle", "broken_json"])
async def test_without_a_token_nothing_is_sent(
    pix: PixBcbGateway, simulator: PaymentsSimulatorClient, fault: str
) -> None:
    """A bank that gives no token makes NOT_SENT, and the bank sees no PUT."""
    key = new_key()
    await simulator.add_fault(fault, path_prefix="/oauth/")
    result = await send(pix, key, charge_request(pix, key))
    assert result.outcome is Outcome.NOT_SENT
    assert "no access token" in str(result.reason)
    assert [entry["method"] for entry in await simulator.journal()] == ["POST"]
    assert (await send(pix, key, charge_request(pix, key))).outcome is Outcome.CREATED


async def test_a_wrong_secret_is_not_sent(
    simulator_process: PaymentsSimulatorProcess, simulator: PaymentsSimulatorClient
) -> None:
    """Without the right credentials there is no token; reads fail, nothing happens."""
    stranger = pix_at(simulator_process.url, secret="wrong")
    key = new_key()
    request = charge_request(stranger, key)
    assert (await send(stranger, key, request)).outcome is Outcome.NOT_SENT
    assert (await stranger.lookup(key, request)).presence is Presence.UNCERTAIN
    with pytest.raises(ReadFailedError):
        await stranger.balance()
    assert (await simulator.counters())["effects_total"] == 0
