"""The rules of operators: look-ups of their own, words on what is stuck, and a restore."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.integration.store.machine_base import Nth, Step
from tests.integration.store.machine_executing import ExecutingMachine, Sights
from tests.integration.store.model_data import ModelAction

Words = st.sampled_from(["executed", "failed", "failed", "resend", "resend", "resend"])
Names = st.sampled_from(["ana", "bruno"])
Rules = st.sampled_from(["knows keys"] * 5 + ["knows no keys", "not built"])
Sends = st.sampled_from([0, 0, 0, 0, -1, 1])
"""The next send, one that was made, or one too far."""


class OperatingMachine(ExecutingMachine):
    """What operators say, beside all that people and workers do."""

    @precondition(ExecutingMachine.has_actions)
    @rule(nth=Nth, verdict=Words, off=Sends, by=Names, rules=Rules)
    def say(self, nth: int, verdict: str, off: int, by: str, rules: str) -> None:
        """A word on an action, whether or not it is stuck."""
        self.take(self.word_step(self.pick(nth), verdict, off, by, rules))

    def word_step(self, action: ModelAction, verdict: str, off: int, by: str, rules: str) -> Step:
        """`aval actions settle` or `resend`."""
        n = max(len(action.sends) + 1 + off, 1) if verdict == "resend" else None

        def note(got: str) -> None:
            if got == "done":
                self.far.settled(action.id, verdict, n, self.now)

        return Step(
            name=verdict,
            about=(self.number(action.id), n, by, rules),
            real=lambda db: self.steps.settle(db, action.id, verdict, n, by, rules),
            pure=lambda model: model.settle(action.id, verdict, n, by, rules),
            note=note,
        )

    def _at_providers(self) -> list[str]:
        return [one for one in self.far.attempts if self.model.actions[one].effect == "provider"]

    @precondition(lambda self: bool(self._at_providers()))
    @rule(nth=Nth, seen=Sights)
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
        self.promise("no contradiction", kept=not contradicts, detail=(action_id, sight))

    @precondition(lambda self: not self.world.troubled and self.has_actions())
    @rule()
    def restore(self) -> None:
        """The database comes back from a backup; once an example."""
        self.world.troubled = True
        self.hold_all()

    def hold_all(self) -> None:
        """`aval restored`."""
        executing = [one.id for one in self.actions if one.status == "executing"]

        def note(_got: None) -> None:
            self.far.restored |= set(executing)
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
