"""A short run of the chaos that `make chaos` runs at length: every promise holds, and with a guard
left out the run says so."""

import pytest

from tests.chaos.judge import GATED
from tests.chaos.run import Options, run_world
from tests.chaos.schedule import Blow, Clicks, batch

RUNS = 20


@pytest.mark.slow
async def test_twenty_runs_hold_every_promise(capsys: pytest.CaptureFixture[str]) -> None:
    """Two workers, API, PostgreSQL and Temporal die and stall in twenty conversations at once: no
    effect without a valid decision, none twice, nobody confirmed who was not told, nothing stuck
    and unlisted, no false "failed"."""
    with capsys.disabled():
        total = await run_world(Options(runs=RUNS, seed=1))
    assert total.violations == []
    assert total.runs == RUNS
    assert total.effects > 0
    assert sum(total.kills.values()) > 0


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
