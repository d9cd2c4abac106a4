"""The rules: messages, the turn's activities with deaths and repeats, clicks, time, outcomes,
look-ups and operators, in any order."""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from activities.closing import Answer, Apologise, Close
from activities.look_up import LookUp
from activities.messages import (
    ActionRef,
    ConversationRef,
    ProposalOutcome,
    Route,
    TurnEnd,
)
from activities.propose import Propose
from activities.report import Report
from activities.take import Take
from activities.think import Think
from tests.integration.history import shown
from tests.integration.history.far_claude import Block
from tests.integration.history.ground import REFUSED
from tests.integration.history.happened import Item
from tests.integration.history.machine_acting import ActingMachine
from tests.integration.history.one_connection import DiedError
from tests.integration.history.open_turn import OpenTurn, Wish
from tests.integration.history.scripts import CHARGE, EFFECTS, KINDS, MARK, NOTE, READ, answer
from workflows.options import MOST_STEPS, MOST_USELESS_ANSWERS

T = TypeVar("T")
Whats = st.sampled_from(["a", "b", "c"])
Deaths = st.sampled_from([None, None, None, None, None, None, 1, 2, 3, 4])
Repeats = st.sampled_from([False, False, False, True])
BEGINNINGS = ["new", "charge", "note", "executing", "doubtful", "verified", "executed"]
THINKING = ["nothing", "reply", "reply", "charge", "charge", "read and charge", "direct"]
Step = tuple[uuid.UUID, int]


class HistoryMachine(ActingMachine):
    """All rules."""

    def __init__(self) -> None:
        super().__init__()
        self.turn: OpenTurn | None = None
        self.answers: dict[Step, list[Block]] = {}
        self.thought_on: dict[Step, dict[str, str]] = {}
        self.paired: dict[Step, str] = {}

    @initialize(begins=st.sampled_from(BEGINNINGS), thinks=st.sampled_from(THINKING))
    def begin(self, begins: str, thinks: str) -> None:
        """A conversation that is new, or has a note or a charge in some state; the model may have
        thought already of what came in since."""
        if begins != "new":
            self._begin(begins)
        if thinks != "nothing":
            self.say("plain")
            self._work(Wish(kind=thinks))
            self._work(Wish(kind=thinks, what="b"))

    def _begin(self, begins: str) -> None:
        self._whole_turn("note" if begins == "note" else "charge")
        if begins in {"executing", "doubtful", "verified", "executed"}:
            self.click_and_decide(0, "confirm")
        if begins in {"doubtful", "verified", "executed"}:
            self.send(0, "created" if begins == "executed" else "unknown", False)
        if begins == "verified":
            self.look(0, "uncertain")
            self.look(0, "uncertain")

    @rule(kind=st.sampled_from(["reply", "charge", "charge", "note", "read", "direct"]))
    def whole_turn(self, kind: str) -> None:
        """The person asks for something, and nothing comes between."""
        if self.turn is None:
            self._whole_turn(kind)

    @rule()
    def note_and_typed_yes(self) -> None:
        """The person is asked, and answers with an exact yes."""
        if self.turn is None:
            self._whole_turn("note")
            self.prompt_arrives()
            self.say("yes")
            self._work(Wish(kind="reply"))
            self.decide(0)

    @rule(kind=st.sampled_from(["reply", "charge", "direct"]), expires=st.booleans())
    def overtaken(self, kind: str, expires: bool) -> None:
        """What the model knew of the open action changes between its thought and its word."""
        if self.turn is not None:
            return
        self._whole_turn("note")
        self.say("plain")
        self._work(Wish(kind=kind))
        self._work(Wish(kind=kind, what="c"))
        if expires:
            self.time_passes(601, False)
            self.decide(0)
        else:
            self.click_and_decide(0, "cancel")
        self._work(Wish(kind=kind))

    @rule(refuses=st.booleans())
    def tried_twice(self, refuses: bool) -> None:
        """*propose* commits and its completion is lost; when it runs again, *prepare* says
        otherwise."""
        if self.turn is not None:
            return
        self.say("plain")
        self._work(Wish(kind="reply"))
        self._work(Wish(kind="charge", what=f"twice {next(self.numbers)}"))
        self.bench.charge.refuses = refuses
        self._work(Wish(kind="reply"))
        self.bench.charge.refuses = not refuses
        self.trouble(False)
        self._work(Wish(kind="reply"))
        self._work(Wish(kind="reply"))
        self._work(Wish(kind="reply"))

    def _whole_turn(self, kind: str) -> None:
        if not self.unhandled:
            self.say("plain")
        self._work(Wish(kind=kind))
        while self.turn is not None:
            self._work(Wish(kind=kind if self.turn.step == 0 else "reply"))

    @rule(
        wishes=st.lists(
            st.builds(Wish, st.sampled_from(KINDS), Whats, Deaths, Repeats), min_size=1, max_size=4
        )
    )
    def work(self, wishes: list[Wish]) -> None:
        """The next activities of the turn."""
        for wish in wishes:
            self._work(wish)

    def _work(self, wish: Wish) -> None:
        """The next activity, killed at its n-th door to the database or not; where it lived, its
        completion may be lost, so that it runs once more."""
        self.tick(1)
        self.bench.claude.says = answer(wish.kind, wish.what, next(self.numbers))
        before = replace(self.turn) if self.turn else None
        phase = before.phase if before else "take"
        self.bench.doors.dies_at = wish.dies
        try:
            getattr(self, f"_{phase}")()
            self.bench.doors.dies_at = None
            if wish.again and before is not None and self.turn is not None:
                self.turn = before
                self.count(f"{phase} again")
                getattr(self, f"_{phase}")()
        except DiedError:
            self.learn(f"{phase} died")
        finally:
            self.bench.doors.dies_at = None

    @precondition(lambda self: self.turn is not None)
    @rule(model_is_gone=st.booleans())
    def trouble(self, model_is_gone: bool) -> None:
        """The workflow is gone, and a new one takes the open turn and begins at its first step; or
        no model answers, and a template does."""
        assert self.turn is not None
        if model_is_gone:
            self.turn.phase = "apologise"
            return
        taken = self._run(Take(self.bench.deps).run, self._whose())
        self.promise("an open turn comes first", kept=taken.turn_id == self.turn.id, detail=taken)
        self.turn = OpenTurn(id=self.turn.id)
        self.learn("restart")

    def _run(self, activity: Callable[..., Awaitable[T]], *given: Any) -> T:
        return self.bench.run(activity(*given))

    def _whose(self) -> ConversationRef:
        return ConversationRef(conversation_id=self.conversation)

    # -- the activities of a turn

    def _take(self) -> None:
        taken = self._run(Take(self.bench.deps).run, self._whose())
        if taken.turn_id is not None:
            self.turn = OpenTurn(id=taken.turn_id)
            self.happened.turn_open = True
            self.happened.in_turn(*(("person", text) for text in self.unhandled))
        if taken.turn_id is not None or taken.confirmed is not None:
            self.unhandled = []
        self.learn("typed yes" if taken.confirmed else "take")

    def _think(self) -> None:
        assert self.turn is not None
        turn, claude = self.turn, self.bench.claude
        step, calls = (turn.id, turn.step), len(claude.asked)
        statuses = self.ledger.statuses
        try:
            thought = self._run(Think(self.bench.deps).run, turn.ref)
        finally:
            self.promise(REFUSED, kept=not claude.refused, detail=claude.refused)
        if step in self.answers:
            self.promise(
                "a stored answer costs no second call", kept=len(claude.asked) == calls, detail=step
            )
        elif len(claude.asked) > calls:
            self.answers[step], self.thought_on[step] = claude.said[-1], statuses
            self._carries_what_is_known(claude.asked[-1]["messages"])
        turn.phase = {
            Route.REPLY: "answer",
            Route.READ: "look_up",
            Route.EFFECT: "look_up" if thought.reads else "propose",
        }.get(thought.route, "")
        turn.reads = thought.route is Route.READ
        if not turn.phase:
            turn.useless += 1 + (thought.route is Route.GIVE_UP) * MOST_USELESS_ANSWERS
            self._think_on()
        self.learn("think")

    def _carries_what_is_known(self, messages: list[dict[str, Any]]) -> None:
        told, statuses = shown.facts(messages), self.ledger.statuses
        open_ones = {id_ for id_, one in statuses.items() if one in {"pending", "executing"}}
        wanted = open_ones | set(list(statuses)[-5:])
        self.promise(
            "every call carries the ledger's facts",
            kept=all(told.get(id_) == statuses[id_] for id_ in wanted),
            detail=(told, statuses),
        )
        self.promise(
            "a call carries what happened",
            kept=shown.items(messages) == self.happened.placed,
            detail=(shown.items(messages), self.happened.placed),
        )

    def _think_on(self) -> None:
        assert self.turn is not None
        self.turn.step += 1
        self.turn.phase = "think"
        if self.turn.step == MOST_STEPS or self.turn.useless > MOST_USELESS_ANSWERS:
            self.turn.phase = "apologise"

    def _answer(self) -> None:
        assert self.turn is not None
        known = self.ledger
        stands = self._run(Answer(self.bench.deps).run, self.turn.ref)
        fresh = f"turn:{self.turn.id}:reply:0" not in known.messages
        if stands and fresh:
            self._thought_on_what_holds("reply")
        if stands:
            self._end("reply")
        else:
            self._think_on()
        self.learn("reply" if stands else "stale reply")

    def _thought_on_what_holds(self, what: str) -> None:
        assert self.turn is not None
        then, now = self.thought_on[self.turn.id, self.turn.step], self.ledger.statuses
        self.promise(f"a {what} stands on facts that hold", kept=then == now, detail=(then, now))

    def _look_up(self) -> None:
        assert self.turn is not None
        turn = self.turn
        self._run(LookUp(self.bench.deps).run, turn.ref)
        pair: list[Item] = []
        if turn.reads:
            pair = self._pair("")
            self._think_on()
        else:
            turn.phase = "propose"
        self.learn("look up", pair)

    def _propose(self) -> None:
        assert self.turn is not None
        turn, known = self.turn, self.ledger
        expected = self._answered_by()
        done = self._run(Propose(self.bench.deps).run, turn.ref)
        pair: list[Item] = []
        new = done.action is not None and done.action.action_id not in known.actions
        if new:
            self._thought_on_what_holds("proposal")
            self._remember(done.action)
        match done.outcome:
            case ProposalOutcome.PROPOSED:
                assert done.action is not None
                pair = self._pair(f"pending {done.action.action_id}")
                self._end("proposal")
            case ProposalOutcome.ANSWERED:
                pair = self._pair(expected)
                self._think_on()
            case ProposalOutcome.STALE:
                self._think_on()
            case ProposalOutcome.DIRECT:
                turn.action, turn.phase = done.action, "report"
        self.learn(f"propose: {done.outcome.value}", pair)

    def _report(self) -> None:
        assert self.turn is not None
        assert self.turn.action is not None
        action = self.turn.action.action_id
        status = self.ledger.statuses[action]
        self._run(Report(self.bench.deps).run, self.turn.ref, self.turn.action)
        pair = self._pair(f"known {action}" if status == "executing" else "data")
        self._think_on()
        self.learn("report", pair)

    def _apologise(self) -> None:
        assert self.turn is not None
        self._run(Apologise(self.bench.deps).run, self.turn.id)
        self._end("template")
        self.learn("template")

    def _end(self, outcome: str) -> None:
        assert self.turn is not None
        self.turn.phase, self.turn.outcome = "close", outcome

    def _close(self) -> None:
        assert self.turn is not None
        end = TurnEnd(turn_id=self.turn.id, outcome=self.turn.outcome)
        self._run(Close(self.bench.deps).run, end)
        self.turn = None
        self.learn("close", closes=True)
        self._run(Close(self.bench.deps).run, end)
        self.learn("close again")

    # -- what a step must have written

    def _calls(self) -> list[Block]:
        assert self.turn is not None
        blocks = self.answers[self.turn.id, self.turn.step]
        return [block for block in blocks if block["type"] == "tool_use"]

    def _pair(self, effect: str) -> list[Item]:
        """Calls and results of the step, if they are new. `effect`: what its first effect came
        to."""
        assert self.turn is not None
        step = (self.turn.id, self.turn.step)
        if step in self.paired:
            was = self.paired[step]
            changed = effect.startswith("pending") and was != effect
            self.promise("what was answered stays", kept=not changed, detail=(was, effect))
            return []
        self.paired[step] = effect
        results, effects = [], [effect]
        for call in self._calls():
            kind = {READ: "data"}.get(call["name"], "error")
            if call["name"] in EFFECTS:
                kind = effects.pop() if effects else "error"
            results.append(("result", call["id"], kind))
        return [*(("call", call["id"]) for call in self._calls()), *results]

    def _first_effect(self) -> Block:
        return next(call for call in self._calls() if call["name"] in EFFECTS)

    def _answered_by(self) -> str:
        """What the first effect comes to if it is not proposed: an error, or an equal one."""
        call = self._first_effect()
        what = call["input"].get("what")
        if what is None or (call["name"] == CHARGE and self.bench.charge.refuses):
            return "error"
        for id_, status in self.ledger.statuses.items():
            same = self.wanted.get(id_) == (call["name"], what)
            once = status == "executed" and call["name"] == CHARGE
            if same and (once or status == "executing"):
                return f"known {id_}"
        return "error"

    def _remember(self, action: ActionRef | None) -> None:
        assert action is not None
        call = self._first_effect()
        assert call["name"] in {CHARGE, NOTE, MARK}
        self.wanted[action.action_id] = (call["name"], call["input"]["what"])
