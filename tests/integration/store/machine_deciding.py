"""The rules of proposals, clicks, *decide*, time and the sweeper.

A workflow that is terminated changes no row: it is a workflow that does not come. The end of
every fifth example stands for that, where the sweeper and *decide* alone must bring everything to
its end.
"""

from store import ringing
from tests.integration.store.drawing import rule
from tests.integration.store.far_side import Known, Pressed, promise
from tests.integration.store.machine_base import BaseMachine, Nth, Step
from tests.integration.store.model_data import SECOND, ModelAction
from tests.integration.store.promises import in_doubt
from tests.integration.store.steps import OpenTurn, Wanted, moment, other

People = ["maria", "rita"]
Clickers = ["right", "right", "right", "stranger", "other_owner", "other_user_id", "phone_only"]
Keys = [("a", True), ("a", True), ("b", True), ("c", False)]
Effects = ["provider", "provider", "provider", "database"]
Policies = ["button", "button", "button_or_yes", "button_or_yes", "direct"]
Moves = [1, 5, 30, None, None, None]
"""By so many seconds, or to where a rule changes for the action."""

Off = [-1, 0, 0, 1]
"""A microsecond before, exactly, or after."""


class DecidingMachine(BaseMachine):
    """What people, models and time do."""

    def finish(self, *, to_the_end: bool) -> None:
        """Count the sequence; bring everything to its end by the sweeper alone."""
        self.bench.played(self.trace, self.far.reached)
        if to_the_end and self.bench.compare:
            self._recover()
        self.check_evidence()

    # -- proposals

    def _ask(self, person: str) -> None:
        if person not in self.world.turns:
            turn = self.bench.run(self.steps.ask(self.db, person, now=self.now))
            self.model.ask(person)
            self.far.went(person, "in", self.now, "oi")
            self.world.turns[person] = turn
            self.count("ask", person)

    @rule(person=People, wanted=Keys, effect=Effects, policy=Policies)
    def propose(self, person: str, wanted: tuple[str, bool], effect: str, policy: str) -> None:
        """A whole turn at once: on fresh facts."""
        self._ask(person)
        self.world.turns[person] = self._thought_again(self.world.turns[person])
        self.propose_in(
            self.world.turns[person],
            Wanted(
                key=wanted[0],
                unique=wanted[1],
                effect=effect,
                expires_at=self.now + 600 * SECOND,
                confirm=policy,
            ),
        )

    @rule(when=lambda self: bool(self.world.done_turns), nth=Nth)
    def propose_again(self, nth: int) -> None:
        """A retried turn finds its own row, whatever has become of it."""
        turn, wanted = self.world.done_turns[nth % len(self.world.done_turns)]
        self.propose_in(turn, wanted)

    def _thought_again(self, turn: OpenTurn) -> OpenTurn:
        facts = self.model.facts.get(turn.person, 0)
        return OpenTurn(**{**turn.__dict__, "facts": facts})

    def propose_in(self, turn: OpenTurn, wanted: Wanted) -> None:
        """The turn's one proposal, once more or for the first time."""
        new = _new_action(turn, wanted)
        fresh = new.id not in self.model.actions
        if fresh:
            self.far.known[new.id] = _known(turn, wanted)

        def note(result: str) -> None:
            if result == "new" and fresh and wanted.confirm != "direct":
                self.far.went(turn.person, "prompt", self.now, new.id)

        result = self.take(
            Step(
                name="propose",
                about=(self.number(new.id), wanted),
                real=lambda db: self.steps.propose(db, turn, wanted),
                pure=lambda model: model.propose(new, facts=turn.facts),
                note=note,
            )
        )
        if result != "new":
            self.model.actions.pop(new.id, None)  # where the model is not asked
        if result == "new" and self.world.turns.get(turn.person) is turn:
            self.world.done_turns.append((self.world.turns.pop(turn.person), wanted))
        elif result == "stale":
            self.world.turns[turn.person] = self._thought_again(turn)

    # -- deciding

    @rule(
        when=BaseMachine.has_actions,
        nth=Nth,
        verdict=["confirm", "confirm", "cancel"],
        who=Clickers,
    )
    def click(self, nth: int, verdict: str, who: str) -> None:
        """Anybody presses a button, at any time."""
        self.take(self.click_step(self.pick(nth), verdict, who))

    def click_step(self, action: ModelAction, verdict: str, who: str) -> Step:
        """A press of a button."""
        owner = {"right": action.conversation, "other_owner": other(action.conversation)}.get(who)

        def note(_got: None) -> None:
            self.far.pressed.setdefault(action.id, []).append(
                Pressed(
                    verdict=verdict,
                    right=who == "right",
                    at=self.now,
                    while_pending=self.model.actions[action.id].status == "pending",
                )
            )
            if owner is not None:
                self.far.went(owner, "in", self.now, "a click")

        return Step(
            name=verdict,
            about=(self.number(action.id), who),
            real=lambda db: self.steps.click(
                db, action.id, verdict, self.steps.cast.clicker(action.conversation, who)
            ),
            pure=lambda model: model.press(action.id, verdict, right=who == "right", of=owner),
            note=note,
        )

    @rule(when=BaseMachine.has_actions, nth=Nth)
    def decide(self, nth: int) -> None:
        """Somebody woke the workflow, for whatever reason."""
        self.take(self.decide_step(self.pick(nth)))

    def decide_step(self, action: ModelAction) -> Step:
        """The workflow asks what comes next."""
        return Step(
            name="decide",
            about=(self.number(action.id),),
            real=lambda db: self.steps.decide(db, action.id),
            pure=lambda model: model.decide(action.id),
        )

    # -- time and the sweeper

    @rule(when=BaseMachine.has_actions, nth=Nth, move=Moves, which=Nth, off=Off)
    def time_passes(self, nth: int, move: int | None, which: int, off: int) -> None:
        """Some seconds, or to an edge: a microsecond before, exactly, or after."""
        if move is None:
            self.move_to_edge(self.pick(nth), which, off)
        else:
            self.move_clock(self.now + move * SECOND)

    def move_to_edge(self, action: ModelAction, which: int, off: int) -> None:
        """To one of the next instants at which a rule changes for the action, or beside it."""
        ahead = [at + off for at in action.edges() if at + off > self.now]
        if ahead:
            self.move_clock(ahead[which % len(ahead)])

    def move_clock(self, at: int) -> None:
        """Time passes, and nothing else."""
        self.set_clock(at)
        self.count("clock", at)

    def _is_due(self) -> bool:
        now = moment(self.now)
        return any(row["ring_at"] and row["ring_at"] < now for row in self.world.rows.values())

    @rule(when=_is_due)
    def sweep(self) -> None:
        """The sweeper rings for all that is due, and pushes it on."""
        self._sweep()

    def _sweep(self) -> set[str]:
        before, now = self.world.rows, moment(self.now)
        rung = {one.action_id for one in self.bench.run(ringing.sweep(self.db)) if one.action_id}
        self.count("sweep")
        self.check()
        for action_id, row in before.items():
            if row["ring_at"] is not None and row["ring_at"] < now:
                promise("what is due is rung for", kept=action_id in rung, detail=row)
                later = self.world.rows[action_id]["ring_at"]
                promise("rung for with back-off", kept=later > now, detail=later)
        return rung

    def _recover(self) -> None:
        """Nobody does anything any more but the sweeper: a day later all is over, or waits for an
        operator because it may have been sent; and every decision was answered or waits for
        that."""
        for seconds in (3601, 300, 86_400):
            self.move_clock(self.now + seconds * SECOND)
            rung = self._sweep()
            for action_id in [one for one in self.far.known if one in rung]:
                self.take(self.decide_step(self.model.actions[action_id]))
        for row in self.world.rows.values():
            over = row["status"] not in {"pending", "executing"}
            promise("all comes to its end", kept=over or in_doubt(row), detail=dict(row))
            promise(
                "every decision is answered in the end",
                kept=not over or all(answered for _v, answered, *_ in row["decisions"]),
                detail=dict(row),
            )


def _new_action(turn: OpenTurn, wanted: Wanted) -> ModelAction:
    """The action that the proposal would make."""
    return ModelAction(
        id=turn.action_id,
        conversation=turn.person,
        key=wanted.key,
        unique=wanted.unique,
        effect=wanted.effect,
        confirm=wanted.confirm,
        expires_at=wanted.expires_at,
    )


def _known(turn: OpenTurn, wanted: Wanted) -> Known:
    """The same for the promises."""
    return Known(
        key=wanted.key,
        unique=wanted.unique,
        conversation=turn.person,
        expires_at=wanted.expires_at,
        confirm=wanted.confirm,
    )
