"""A model that lies to the whole system: Temporal and PostgreSQL are real, dozens of conversations
at once, in one event loop and through real processes; what came of it is asked of the far sides'
journals alone.

Thousands of shorter sequences run on the activities (`tests/integration/lying`).
"""

import dataclasses
import time

import pytest

from domain import deciding
from tests.chaos.world import NUMBER as NUMBER_OF_PROCESSES
from tests.chaos.world import open_folder, open_world
from tests.harness.stack import NUMBER, Stack
from tests.integration.lying import judge
from tests.integration.lying.entering import enter
from tests.integration.lying.plans import Liar, plans
from tests.integration.lying.records import BrokenPromiseError
from tests.integration.lying.reporting import Report, reporter
from tests.integration.lying.truth import truth, watching
from tests.integration.lying.whole import Crowd, Sides
from workflows import options


@pytest.fixture
def report(pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]) -> Report:
    """Says a line beside pytest's own."""
    return reporter(pytestconfig, capsys)


async def lied_to(sides: Sides, number: str, liars: list[Liar]) -> str:
    """Play and judge; what was counted. Raises BrokenPromiseError."""
    crowd, began = Crowd(sides, liars), time.perf_counter()
    await enter(sides, liars)
    async with watching(sides, number) as watcher:
        await crowd.play()
    far, books = await truth(crowd, watcher, crowd.late_at)
    judge.check(far, books)
    return f"{crowd.said(far)} in {time.perf_counter() - began:.0f} s"


@pytest.mark.slow
async def test_a_lying_model_never_acts_without_a_decision(stack: Stack, report: Report) -> None:
    """Every effect has one decision of the right person, on just the summary that he was sent, in
    time; a prompt is only shown for a call that counts; no turn calls the model more than six
    times; nothing of another's is shown or changed; no conversation hangs."""
    said = await lied_to(stack, NUMBER, plans(24, 3, seed=1))
    report(f"lies to the whole: {said}")


@pytest.mark.slow
async def test_nor_through_real_processes(report: Report) -> None:
    """The same with API, worker and simulators as processes, each on a port of its own."""
    with open_folder() as folder:
        async with open_world(folder, workers=1) as world:
            said = await lied_to(world, NUMBER_OF_PROCESSES, plans(20, 2, seed=2))
    report(f"lies through processes: {said}")


def _all_saying(*lies: str, then: str = "never") -> list[Liar]:
    """Three persons to whom the model says the same."""
    liars = plans(3, 1, seed=3)
    for liar in liars:
        liar.asks = [dataclasses.replace(ask, lies=lies, then=then) for ask in liar.asks]
    return liars


async def test_a_turn_without_an_end_is_found(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the workflow counts to eight, a model that reads for ever is seen to be asked too
    often."""
    monkeypatch.setattr(options, "MOST_STEPS", 8)
    with pytest.raises(BrokenPromiseError) as found:
        await lied_to(stack, NUMBER, _all_saying("read"))
    assert found.value.name == judge.CALLS


async def test_a_wrong_persons_click_is_found(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where anybody may press, an effect without a decision of the right person is seen."""
    monkeypatch.setattr(deciding, "is_right_person", lambda *_given, **_named: True)
    with pytest.raises(BrokenPromiseError) as found:
        await lied_to(stack, NUMBER, _all_saying("e-mail", then="wrong"))
    assert found.value.name == judge.DECIDED
