"""A short run of the chaos that `make chaos` runs at length: every promise holds, and with a guard
left out the run says so."""

import asyncio
from collections import Counter
from typing import Any, Literal

import pytest

from gateways.registry import GatewayRegistry
from simulators.whatsapp.models import ChatMessage
from tests.chaos.bounds import TooLongError, within
from tests.chaos.judge import judge_action
from tests.chaos.run import Options, options_from, run_world
from tests.chaos.schedule import Blow, Clicks, batch
from tests.chaos.seen import Seen
from tests.chaos.verdict import GATED, Verdict
from tests.chaos.world import GATEWAYS

RUNS = 20
WITHIN_S = 320.0  # some 70 s alone; beside two other files of tests on two cores twice that
MOST_S = 360  # where a call that never returns holds the loop


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


ACTION = "a" * 32


def _message(author: Literal["person", "business"], **given: Any) -> ChatMessage:
    head = {"seq": 1, "wamid": "w", "person": "p", "type": "text", "at": 0.0, "timestamp": "0"}
    return ChatMessage(**{**head, "author": author, "status": "received", **given})


def _verdict(status: str, *, effects: int, said: str | None) -> Verdict:
    """Of one confirmed action; `said` is the one message that reached its person."""
    chat = [_message("person", button_id=f"pa:confirm:{ACTION}")]
    if said is not None:
        chat.append(_message("business", callback_data=f"action:{ACTION}:{said}"))
    action = {"id": ACTION, "person": "p", "status": status, "reason": None, "ring_at": 1}
    seen = Seen(
        actions=[action],
        chats={"p": chat},
        effects=Counter({ACTION: effects}),
        refunds=Counter(),
        overruled=set(),
        listed={ACTION},
        unclaimed=[],
        requests=Counter(),
        messages={ACTION: ["receipt unknown/None, 2 copies, unknown_repeated_enough"]},
        sends=Counter(),
        resent=Counter(),
    )
    verdict = Verdict()
    judge_action(verdict, seen, action)
    return verdict


@pytest.mark.parametrize(
    ("status", "effects", "said", "silent"),
    [
        ("failed", 0, None, True),
        ("failed", 0, "feedback", False),
        ("expired", 0, "late:expired:confirm", False),
        ("executing", 0, None, True),
        ("executing", 1, None, True),
        ("executing", 1, "prompt", True),
        ("executing", 0, "reminder", True),
        ("executing", 1, "verifying", False),
        ("executed", 1, None, False),
    ],
)
def test_who_confirmed_and_was_not_served_must_have_a_word(
    status: str, effects: int, said: str | None, *, silent: bool
) -> None:
    """A confirmed action that did not end as executed, with no word but the question itself, is a
    violation, also where a copy of a word is in doubt: the person has nothing."""
    found = _verdict(status, effects=effects, said=said).violations
    assert [one.what for one in found] == ["confirmed but neither executed nor told"] * silent


def test_executed_without_feedback_is_counted() -> None:
    """An executed action whose result reached nobody stands in a row of its own; that it is being
    verified is no result."""
    assert _verdict("executed", effects=1, said=None).untold == 1
    assert _verdict("executed", effects=1, said="verifying").untold == 1
    assert _verdict("executed", effects=1, said="feedback").untold == 0


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
