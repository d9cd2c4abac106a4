"""A conversation in any order of turns, clicks, expiries, results and restarts, on real PostgreSQL:
what the model is shown is compared with what happened after each step, and the far side's 400 rules
are applied; then the proof that this bites.

`HISTORY_EXAMPLES=5000` looks longer. Where the variable CI is set, the same examples are drawn each
time; elsewhere new ones.
"""

import dataclasses
import os
import random
import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from llm.render import NothingToAnswerError
from store import actions, history, proposing, turns
from store.connection import Connection
from store.proposing import Proposal, ProposeResult, TurnHistory
from store.turns import StoredAnswer
from tests.integration.history import ground
from tests.integration.history.conftest import Database, Report, by_hand, make_bench
from tests.integration.history.ground import REFUSED, SPEAKS
from tests.integration.history.machine import HistoryMachine
from tests.integration.history.machine_base import HistoryBench
from tests.integration.history.open_turn import Wish

EXAMPLES = int(os.environ.get("HISTORY_EXAMPLES", "320"))
HUNT = 250
"""So many examples at most until a missing guard must have been noticed."""

ROUND, STEPS = 10, 30
FIRST_SEED = 20261130
MODELS = ["claude-haiku-5-5", "claude-haiku-4-5"]
"""Facts as a message of role system, and within the user's."""


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> str:
    """Both ways of telling the facts."""
    return str(request.param)


def explore(bench: HistoryBench, examples: int, *, first: int, shrink: bool) -> None:
    """Draw so many examples of 30 steps, in rounds with a seed each (tests/integration/store:
    later in a run hypothesis follows a fresh example by mutants of it)."""
    machine = type("Machine", (HistoryMachine,), {"bench": bench})
    for n in range(-(-examples // ROUND)):
        run_state_machine_as_test(
            seed(first + n)(machine),
            settings=settings(
                max_examples=ROUND,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )


def said(bench: HistoryBench) -> str:
    """The counters as one line."""
    most = sorted(bench.visited.items(), key=lambda one: -one[1])
    return f"{bench.examples} examples: {', '.join(f'{name} {count}' for name, count in most)}"


EVERY_WAY = {
    "typed yes",
    "reply",
    "stale reply",
    "propose: proposed",
    "propose: answered",
    "propose: stale",
    "propose: direct",
    "report",
    "template",
    "act",
    "outcome: created",
    "look: uncertain",
    "operator: executed",
    "think died",
    "propose died",
    "restart",
}


def test_whatever_happened_is_shown_once_and_in_order(
    database: Database, model: str, monkeypatch: pytest.MonkeyPatch, report: Report
) -> None:
    """Each thing that happened stands once in what the model is shown, in order, mid-turn things
    after the turn's own; nothing shown changes; nobody but the system speaks as the system; every
    call carries the ledger's facts; what was thought on old facts does not stand; no request is
    refused by the far side's rules."""
    bench = make_bench(database, model, monkeypatch)
    first = FIRST_SEED if "CI" in os.environ else random.randrange(1 << 32)
    explore(bench, EXAMPLES // len(MODELS), first=first, shrink=True)
    report(f"history, {model}: {said(bench)}")
    assert bench.claude.refused == []
    assert EXAMPLES < 300 or set(bench.visited) >= EVERY_WAY, EVERY_WAY - set(bench.visited)


# -- that it bites


def hunt(bench: HistoryBench, report: Report, without: str) -> str:
    """Draw until a promise is broken, and say how long it took. Fails if none is."""
    with pytest.raises(ground.BrokenPromiseError) as found:
        explore(bench, HUNT, first=FIRST_SEED, shrink=False)
    report(f"without {without}: {found.value.name!r} after {bench.examples} examples")
    return found.value.name


SHOWN = {"each thing that happened is shown once and in order", "a call carries what happened"}


class Turns:
    """`store.turns` for one activity, with one function that does something else."""

    def __init__(self, **instead: Any) -> None:
        self.__dict__.update(instead)

    def __getattr__(self, name: str) -> Any:
        return getattr(turns, name)


def test_a_reply_on_old_facts_is_found(
    bench: HistoryBench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where *answer* takes the facts of the thought for those of now, a reply stands on facts that
    moved."""

    async def of_now(connection: Connection, *, turn: uuid.UUID, step: int) -> StoredAnswer | None:
        found = await turns.stored_answer(connection, turn=turn, step=step)
        now = (await turns.read(connection, turn)).facts_seq
        return dataclasses.replace(found, facts_seq=now) if found else None

    monkeypatch.setattr("activities.closing.turns", Turns(stored_answer=of_now))
    broken = hunt(bench, report, "the reply's look at facts_seq")
    assert broken == "a reply stands on facts that hold"


def test_a_proposal_on_old_facts_is_found(
    bench: HistoryBench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for *propose*: its transaction does not see that the facts moved."""
    propose = proposing.propose

    async def on_any_facts(
        connection: Connection, proposal: Proposal, written: TurnHistory
    ) -> ProposeResult:
        now = await proposing._facts_seq(connection, proposal.conversation)
        return await propose(connection, dataclasses.replace(proposal, facts_seq=now), written)

    monkeypatch.setattr(proposing, "propose", on_any_facts)
    broken = hunt(bench, report, "the proposal's look at facts_seq")
    assert broken == "a proposal stands on facts that hold"


def test_what_does_not_wait_for_the_boundary_is_found(
    bench: HistoryBench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an event of mid-turn is placed at once, it stands before the turn's own."""
    append_event = history.append_event

    async def at_once(connection: Connection, *, conversation: uuid.UUID, **what: Any) -> None:
        await append_event(connection, conversation=conversation, **what)
        await history.place_waiting(connection, conversation)

    monkeypatch.setattr(history, "append_event", at_once)
    assert hunt(bench, report, "the wait for the boundary") in SHOWN


def test_a_slot_that_may_be_written_twice_is_found(
    bench: HistoryBench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a repeated activity writes its entries under new slots, they are shown twice."""
    append = history.append_turn_entry

    async def twice(connection: Connection, *, slot: str, **what: Any) -> None:
        await append(connection, slot=f"{slot}:{uuid.uuid4()}", **what)

    monkeypatch.setattr(history, "append_turn_entry", twice)
    assert hunt(bench, report, "the slots") in {*SHOWN, REFUSED}


@pytest.mark.parametrize("where", ["neutral", "neutral_json"])
def test_a_marker_that_is_not_escaped_is_found(
    bench: HistoryBench, report: Report, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Where somebody's words are shown as they are, in a message or in a tool's result, he speaks
    as the system."""
    monkeypatch.setattr(f"llm.render.{where}", lambda given: given)
    assert hunt(bench, report, f"the escaping ({where})") == SPEAKS


def test_a_second_call_of_the_model_is_found(
    bench: HistoryBench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where *think* does not look for its stored answer, a retry asks and pays once more."""

    async def forgetful(_connection: Connection, **_of: Any) -> StoredAnswer | None:
        return None

    monkeypatch.setattr("activities.think.turns", Turns(stored_answer=forgetful))
    broken = hunt(bench, report, "the stored answer")
    assert broken == "a stored answer costs no second call"


def test_a_repeat_that_proposes_what_was_answered_is_found(
    bench: HistoryBench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an answered call is proposed by a repeat, the model was told of an error and the person
    is asked."""
    written = proposing.TurnHistory

    def without_slot(**fields: Any) -> TurnHistory:
        return written(entries=fields["entries"])

    monkeypatch.setattr("activities.propose.TurnHistory", without_slot)
    assert hunt(bench, report, "the look at what was answered") == "what was answered stays"


# -- what the machine has found, step by step


def old_and_open(machine: HistoryMachine) -> None:
    """A charge whose outcome is in doubt, and six newer ones."""
    machine.begin("doubtful", "nothing")
    for n in range(6):
        machine.say("plain")
        for kind in ("reply", "charge", "reply", "reply"):
            machine.work([Wish(kind, what=f"newer {n}")])
    machine.whole_turn("reply")


def test_an_open_action_stays_among_the_facts(
    bench: HistoryBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An action that is being verified is told to the model however many came after it; where only
    the last ones are told, that is found."""
    with by_hand(bench) as machine:
        old_and_open(machine)
    monkeypatch.setattr(actions, "MOST_OPEN", 0)
    with by_hand(bench) as machine, pytest.raises(ground.BrokenPromiseError) as found:
        old_and_open(machine)
    assert found.value.name == "every call carries the ledger's facts"


def test_a_repeat_finds_its_own_action_whatever_prepare_says(
    bench: HistoryBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """*propose* committed, its completion was lost, and now *prepare* refuses: the proposal stands.
    Where a repeat prepares first, the model is told of an error and has nothing to answer."""
    with by_hand(bench) as machine:
        machine.tried_twice(False)

    async def none(*_given: Any, **_named: Any) -> None:
        return None

    monkeypatch.setattr(proposing, "proposed_at", none)
    with by_hand(bench) as machine, pytest.raises(NothingToAnswerError):
        machine.tried_twice(False)


def test_an_answered_turn_is_not_thought_about_again(bench: HistoryBench) -> None:
    """A template was written, and the workflow died before it closed the turn: the next run closes
    it, without a call of the model and without a second word."""
    with by_hand(bench) as machine:
        machine.say("plain")
        machine.work([Wish("reply")])
        machine.trouble(True)
        machine.work([Wish("reply")])
        machine.trouble(False)
        calls = len(bench.claude.asked)
        machine.work([Wish("reply"), Wish("reply"), Wish("reply")])
        assert machine.turn is None
        assert len(bench.claude.asked) == calls
