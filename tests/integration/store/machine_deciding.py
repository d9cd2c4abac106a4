"""The rules of turns, proposals, clicks, *decide*, time and the sweeper.

A workflow that is terminated changes no row: it is a workflow that does not come. The end of each
example stands for that, where the sweeper and *decide* alone must bring everything to its end.
"""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from store import ringing
from tests.integration.store.machine_base import (
    BaseMachine,
    Clickers,
    Effects,
    Keys,
    Moves,
    Nth,
    People,
)
from tests.integration.store.model import FRESH, GRACE, LOOK_FOR, SECOND, ModelAction
from tests.integration.store.promises import Known, Pressed
from tests.integration.store.steps import OpenTurn, Wanted, clicker, moment, set_clock


class DecidingMachine(BaseMachine):
    """What people, models and time do."""

    def teardown(self) -> None:
        """Bring everything to its end by the sweeper alone, then forget it."""
        try:
            if not self.broken:
                self._recover()
        finally:
            self.forget()

    # -- turns and proposals

    @rule(person=People)
    def ask(self, person: str) -> None:
        """A turn opens and its model thinks, on the facts of now."""
        if person in self.turns:
            return
        turn = self.bench.run(self.steps.ask(self.db, person, now=self.model.now))
        self.turns[person] = turn
        self.asked.add(person)
        self.count("ask")

    @precondition(lambda self: bool(self.turns))
    @rule(nth=Nth, wanted=Keys, effect=Effects, minutes=st.sampled_from([1, 10, 60]))
    def answer(self, nth: int, wanted: tuple[str, bool], effect: str, minutes: int) -> None:
        """The model's answer is proposed, perhaps on facts that moved meanwhile."""
        turn = list(self.turns.values())[nth % len(self.turns)]
        expires_at = self.model.now + minutes * 60 * SECOND
        self._propose(
            turn, Wanted(key=wanted[0], unique=wanted[1], effect=effect, expires_at=expires_at)
        )

    @rule(person=People, wanted=Keys, effect=Effects)
    def propose(self, person: str, wanted: tuple[str, bool], effect: str) -> None:
        """A whole turn at once: on fresh facts."""
        self.ask(person)
        self.turns[person] = self._thought_again(self.turns[person])
        expires_at = self.model.now + 600 * SECOND
        self._propose(
            self.turns[person],
            Wanted(key=wanted[0], unique=wanted[1], effect=effect, expires_at=expires_at),
        )

    @precondition(lambda self: bool(self.done_turns))
    @rule(nth=Nth)
    def propose_again(self, nth: int) -> None:
        """A retried turn finds its own row, whatever has become of it."""
        turn, wanted = self.done_turns[nth % len(self.done_turns)]
        self._propose(turn, wanted)

    def _thought_again(self, turn: OpenTurn) -> OpenTurn:
        facts = self.model.facts.get(turn.person, 0)
        return OpenTurn(**{**turn.__dict__, "facts": facts})

    def _propose(self, turn: OpenTurn, wanted: Wanted) -> None:
        new = new_action(turn, wanted)
        if new.id not in self.model.actions:
            self.far.known[new.id] = known(turn, wanted)
        result = self.step(
            "propose",
            lambda db: self.steps.propose(db, turn, wanted),
            lambda model: model.propose(new, facts=turn.facts),
        )
        if result == "new" and self.turns.get(turn.person) is turn:
            self.done_turns.append((self.turns.pop(turn.person), wanted))
        elif result == "stale":
            self.turns[turn.person] = self._thought_again(turn)

    @precondition(lambda self: not self.troubled and self.has_actions())
    @rule(person=People, leaves=st.booleans())
    def trouble(self, person: str, leaves: bool) -> None:
        """The person is no longer a member, or may be another one now; once an example."""
        if person not in self.asked:
            return  # nobody whom we know
        self.troubled = True
        if leaves:
            self.step(
                "leave",
                lambda db: self.steps.leave(db, person),
                lambda model: model.members_gone.add(person),
            )
        else:
            self.step(
                "identity",
                lambda db: self.steps.change_identity(db, person),
                lambda model: model.change_identity(person),
            )

    # -- deciding

    @precondition(BaseMachine.has_actions)
    @rule(nth=Nth, verdict=st.sampled_from(["confirm", "confirm", "cancel"]), who=Clickers)
    def click(self, nth: int, verdict: str, who: str) -> None:
        """Anybody presses a button, at any time."""
        action = self.pick(nth)
        self._pressed(action, verdict, who)
        person = clicker(action.conversation, who)
        self.step(
            "click",
            lambda db: self.steps.click(db, action.id, verdict, person),
            lambda model: model.click(action.id, verdict, right=who == "right"),
        )

    def _pressed(self, action: ModelAction, verdict: str, who: str) -> None:
        pressed = Pressed(
            verdict=verdict,
            right=who == "right",
            at=self.model.now,
            while_pending=action.status == "pending",
        )
        self.far.pressed.setdefault(action.id, []).append(pressed)

    @precondition(BaseMachine.has_actions)
    @rule(nth=Nth)
    def decide(self, nth: int) -> None:
        """Somebody woke the workflow, for whatever reason."""
        self._decide(self.pick(nth).id)

    def _decide(self, action_id: str) -> str:
        _status, do = self.step(
            "decide",
            lambda db: self.steps.decide(db, action_id),
            lambda model: model.decide(action_id),
        )
        return do

    def _prompts(self) -> list[ModelAction]:
        now = self.model.now
        return [one for one in self.actions if one.prompt_open and now < one.expires_at]

    @precondition(lambda self: bool(self._prompts()))
    @rule(nth=Nth, outcome=st.sampled_from(["accepted", "refused"]))
    def prompt(self, nth: int, outcome: str) -> None:
        """The prompt goes out, or certainly does not."""
        action = self._prompts()[nth % len(self._prompts())]
        self.step(
            "prompt",
            lambda db: self.steps.prompt(db, action.id, outcome),
            lambda model: model.prompt(action.id, outcome),
        )

    # -- time and the sweeper

    @precondition(BaseMachine.has_actions)
    @rule(nth=Nth, move=Moves, off=st.sampled_from([-1, 0, 1]))
    def time_passes(self, nth: int, move: str, off: int) -> None:
        """Some seconds, or to an edge: a microsecond before, exactly, or after."""
        action, now = self.pick(nth), self.model.now
        if action.since is not None and action.status == "executing":
            edges = {"edge": action.since + FRESH, "far edge": action.since + LOOK_FOR}
        else:
            edges = {"edge": action.expires_at, "far edge": action.expires_at + GRACE}
        at = edges[move] + off if move in edges else now + int(move) * SECOND
        if at > now:
            self._to(at)

    def _to(self, at: int) -> None:
        self.model.now = at
        self.bench.run(set_clock(self.db, at))
        self.count("clock")
        with self.unbroken():
            self.far.check(list(self.rows.values()), self.rows, at)

    def _is_due(self) -> bool:
        now = moment(self.model.now)
        return any(row["ring_at"] and row["ring_at"] < now for row in self.rows.values())

    @precondition(_is_due)
    @rule()
    def sweep(self) -> None:
        """The sweeper rings for all that is due, and pushes it on."""
        self._sweep()

    def _sweep(self) -> set[str]:
        before, now = self.rows, moment(self.model.now)
        rung = {one.action_id for one in self.bench.run(ringing.sweep(self.db)) if one.action_id}
        self.count("sweep")
        self.check()
        for action_id, row in before.items():
            if row["ring_at"] is not None and row["ring_at"] < now:
                self.promise("what is due is rung for", kept=action_id in rung, detail=row)
                later = self.rows[action_id]["ring_at"]
                self.promise("rung for with back-off", kept=later > now, detail=later)
        return rung

    def _recover(self) -> None:
        """Nobody does anything any more but the sweeper: a day later all is over, or waits for an
        operator because it may have been sent; and every click was answered or waits for that."""
        for seconds in (3601, 300, 86_400):
            self._to(self.model.now + seconds * SECOND)
            rung = self._sweep()
            for action_id in [one for one in self.far.known if one in rung]:
                self._decide(action_id)
        for row in self.rows.values():
            doubtful = any(outcome != "not_sent" for _n, _attempt, outcome in row["sends"])
            over = row["status"] not in {"pending", "executing"}
            self.promise("all comes to its end", kept=over or doubtful, detail=dict(row))
            self.promise(
                "every click is answered in the end",
                kept=not over or all(answered for _v, answered, *_ in row["decisions"]),
                detail=dict(row),
            )


def new_action(turn: OpenTurn, wanted: Wanted) -> ModelAction:
    """The action that the proposal would make."""
    return ModelAction(
        id=turn.action_id,
        conversation=turn.person,
        key=wanted.key,
        unique=wanted.unique,
        effect=wanted.effect,
        expires_at=wanted.expires_at,
        asked_at=turn.asked_at,
    )


def known(turn: OpenTurn, wanted: Wanted) -> Known:
    """The same for the promises."""
    return Known(
        key=wanted.key,
        unique=wanted.unique,
        conversation=turn.person,
        expires_at=wanted.expires_at,
    )
