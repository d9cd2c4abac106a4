"""A short run of the chaos that `make chaos` runs at length: every promise holds, and with a guard
left out the run says so."""

import asyncio

import pytest

from gateways.registry import GatewayRegistry
from tests.chaos.bounds import TooLongError, within
from tests.chaos.run import Options, options_from, run_world
from tests.chaos.schedule import Blow, Clicks, batch
from tests.chaos.verdict import GATED
from tests.chaos.world import GATEWAYS

RUNS = 20
WITHIN_S = 140.0  # about twice what it takes
MOST_S = 165  # where a call that never returns holds the loop


@pytest.mark.slow
@pytest.mark.timeout(MOST_S)
async def test_twenty_runs_hold_every_promise(capsys: pytest.CaptureFixture[str]) -> None:
    """Two workers, API, PostgreSQL and Temporal die and stall in twenty conversations at once: no
    effect without a valid decision, none twice, nobody confirmed who was not told, nothing stuck
    and unlisted, no false "failed". Two operators settle what is stuck meanwhile."""
    with capsys.disabled():
        async with within(WITHIN_S, "twenty runs"):
            total = await run_world(Options(runs=RUNS, seed=1))
    assert total.violations == []
    assert total.runs == RUNS
    assert total.effects > 0
    assert sum(total.kills.values()) > 0
    assert total.blows[Blow.OPERATORS] == 1


async def test_a_wait_without_end_ends_under_its_name() -> None:
    """What hangs is said; a TimeoutError of the block's own is not taken for ours."""
    with pytest.raises(TooLongError, match="a lock took longer than"):
        async with within(0.01, "a lock"):
            await asyncio.Event().wait()
    with pytest.raises(TimeoutError, match="theirs"):
        async with within(10, "a lock"):
            raise TimeoutError("theirs")


def test_gateways_are_those_that_aval_can_build() -> None:
    """`--gateway` offers nothing that no account could be given."""
    assert set(GATEWAYS) <= set(GatewayRegistry().names())
    assert options_from(["--gateway", GATEWAYS[0]]).gateway == GATEWAYS[0]


def test_a_seed_is_a_plan() -> None:
    """The same seed and batch are the same plan, another seed is another: a failing one repeats."""
    first, again = (batch(7, 3, first_run=60, runs=RUNS) for _ in range(2))
    assert first == again
    assert first != batch(8, 3, first_run=60, runs=RUNS)


def test_plans_hold_every_kind_of_click_and_blow() -> None:
    """Two hundred runs press every way there is and strike every blow there is."""
    plans = [batch(1, number, first_run=0, runs=RUNS) for number in range(10)]
    assert {run.clicks for plan in plans for run in plan.runs} == set(Clicks)
    assert {one.blow for plan in plans for one in plan.blows} == set(Blow)
    assert len(GATED) == len(set(GATED))
