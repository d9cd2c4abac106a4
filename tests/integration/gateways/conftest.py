"""The simulator as a process of its own, one for the folder, reset before each test."""

from collections.abc import AsyncIterator

import pytest

from gateways.pagarme import PagarmeGateway
from gateways.transport import Timeouts
from simulators.payments import PaymentsSimulatorClient
from simulators.payments.process import PaymentsSimulatorProcess

API_KEY = "sk_test_simulated"
ADMIN_SECRET = "admin"
QUICK = Timeouts(connect=1.0, read=0.4, total=1.0)


def gateway_at(url: str, timeouts: Timeouts = QUICK) -> PagarmeGateway:
    return PagarmeGateway(
        base_url=url, api_key=API_KEY, recipient_id="re_simulated", timeouts=timeouts
    )


@pytest.fixture(scope="package")
async def simulator_process() -> AsyncIterator[PaymentsSimulatorProcess]:
    process = await PaymentsSimulatorProcess.start(api_key=API_KEY, admin_secret=ADMIN_SECRET)
    yield process
    await process.stop()


@pytest.fixture
async def simulator(
    simulator_process: PaymentsSimulatorProcess,
) -> AsyncIterator[PaymentsSimulatorClient]:
    async with PaymentsSimulatorClient(simulator_process.url, admin_secret=ADMIN_SECRET) as client:
        await client.reset()
        yield client


@pytest.fixture
def gateway(simulator_process: PaymentsSimulatorProcess) -> PagarmeGateway:
    return gateway_at(simulator_process.url)
