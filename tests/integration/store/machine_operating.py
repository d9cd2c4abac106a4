"""The rules of operators: look-ups of their own, words on what is stuck, and a restore."""

from tests.integration.store.drawing import rule
from tests.integration.store.far_side import promise
from tests.integration.store.machine_base import Nth, Step
from tests.integration.store.machine_executing import ExecutingMachine, Sights
from tests.integration.store.model_data import APART, LAG, ModelAction

Words = ["executed", "failed", "failed", "resend", "resend", "resend"]
Names = ["ana", "bruno"]
Rules = ["knows keys"] * 5 + ["knows no keys", "not built"]
Sends = [0, 0, 0, 0, -1, 1]
"""The next send, one that was made, or one too far."""


class OperatingMachine(ExecutingMachine):
    """What operators say, beside all that people and workers do."""

    @rule(
        when=ExecutingMachine.has_actions, nth=Nth, verdict=Words, off=Sends, by=Names, rules=Rules
    )
    def say(self, nth: int, verdict: str, off: int, by: str, rules: str) -> None:
        """A word on an action, whether or not it is stuck."""
        self.take(self.word_step(self.pick(nth), verdict, off, by, rules))

    @rule(when=lambda self: bool(self._at_providers()), nth=Nth, verdict=Words, by=Names)
    def investigate(self, nth: int, verdict: str, by: str) -> None:
        """As the handbook says: wait, look twice, say it."""
        attempted = self._at_providers()
        action = self.model.actions[attempted[nth % len(attempted)]]
        self.look_in_vain(action)
        self.take(self.word_step(action, verdict, 0, by, "knows keys"))

    def look_in_vain(self, action: ModelAction) -> None:
        """After the provider's lag, a minute apart; if there is nothing to be found."""
        starts = [trip.at for trip in self.far.trips_of(action.id)] + [action.frozen_at or 0]
        for at in (max(starts) + LAG, self.now + APART):
            self.move_clock(max(at, self.now + APART))
            self.look_for_operator(action.id, "absent")

    def word_step(self, action: ModelAction, verdict: str, off: int, by: str, rules: str) -> Step:
        """`aval actions settle` or `resend`."""
        n = max(len(action.sends) + 1 + off, 1) if verdict == "resend" else None

        def note(got: str) -> None:
            if got == "done":
                self.far.settled(action.id, verdict, n, self.now)
            else:
                self.far.reached.add("a word refused")

        return Step(
            name=verdict,
            about=(self.number(action.id), n, by, rules),
            real=lambda db: self.steps.settle(db, action.id, verdict, n, by, rules),
            pure=lambda model: model.settle(action.id, verdict, n, by, rules),
            note=note,
        )

    def _at_providers(self) -> list[str]:
        return [one for one in self.far.attempts if self.model.actions[one].effect == "provider"]

    @rule(when=lambda self: bool(self._at_providers()), nth=Nth, seen=Sights)
    def operator_looks(self, nth: int, seen: str) -> None:
        """`--look`, at any time, also at what is over."""
        attempted = self._at_providers()
        self.look_for_operator(attempted[nth % len(attempted)], seen)

    def look_for_operator(self, action_id: str, seen: str) -> None:
        """What is seen is written at once."""
        sight = self.far.looks(action_id, seen, self.now)
        contradicts = self.take(
            Step(
                name="operator's look",
                about=(self.number(action_id), sight),
                real=lambda db: self.steps.operator_looks(db, action_id, sight),
                pure=lambda model: model.operator_looks(action_id, sight),
            )
        )
        promise("no contradiction", kept=not contradicts, detail=(action_id, sight))

    @rule(when=lambda self: not self.world.troubled and self.has_actions())
    def restore(self) -> None:
        """The database comes back from a backup; once an example."""
        self.world.troubled = True
        self.hold_all()

    def hold_all(self) -> None:
        """`aval restored`."""
        executing = [one.id for one in self.actions if one.status == "executing"]

        def note(_got: None) -> None:
            self.far.restored |= set(executing)
            self.far.reached.add("a restore")
            self.far.words += [
                (one, "failed") for one in executing if self.model.actions[one].effect == "database"
            ]

        self.take(
            Step(
                name="restore",
                about=(),
                real=lambda db: self.steps.hold_all(db),
                pure=lambda model: model.hold_all("ana"),
                note=note,
            )
        )
