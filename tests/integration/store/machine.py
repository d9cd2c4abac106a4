"""The rules of attempts, the fence, the wire and look-ups, and where an example begins.

Gateways do not lie here, but everything may come late, twice, half, or from a zombie.
"""

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from tests.integration.store.machine_base import Beginnings, Effects, Keys, Nth, People
from tests.integration.store.machine_deciding import DecidingMachine
from tests.integration.store.model import ModelAction
from tests.integration.store.promises import Trip


class ActionMachine(DecidingMachine):
    """All rules on one connection."""

    @initialize(person=People, wanted=Keys, effect=Effects, so_far=Beginnings)
    def begin_anywhere(
        self, person: str, wanted: tuple[str, bool], effect: str, so_far: str
    ) -> None:
        """An action that is pending, decided, attempted once or twice, under way, or in doubt."""
        self.propose(person, wanted, effect)
        if so_far == "pressed":
            self.click(0, "confirm", "right")
        if so_far in {"pending", "pressed"}:
            return
        self.confirm(0, so_far != "decided", so_far in {"fenced", "doubtful"})
        if so_far == "reopened":
            self.open_attempt(0)
        if so_far == "doubtful" and self.far.trips:
            self.write(0, "unknown", False)

    @precondition(DecidingMachine.has_actions)
    @rule(nth=Nth, opens=st.booleans(), fences=st.booleans())
    def confirm(self, nth: int, opens: bool, fences: bool) -> None:
        """The way that things go when nothing goes wrong, some steps at once."""
        self.click(nth, "confirm", "right")
        self.decide(nth)
        if opens:
            self.open_attempt(nth)
        if opens and fences and self.far.attempts:
            self.fence(0, 0)

    # -- executing

    @precondition(DecidingMachine.has_actions)
    @rule(nth=Nth)
    def open_attempt(self, nth: int) -> None:
        """A worker begins an attempt, whether or not another one is at it."""
        action = self.pick(nth)
        attempt = self.step(
            "open",
            lambda db: self.steps.open_attempt(db, action.id),
            lambda model: model.open_attempt(action.id),
        )
        self._opened(action.id, attempt)

    def _opened(self, action_id: str, attempt: int | None) -> None:
        if attempt is not None:
            self.far.opened(action_id, attempt)

    def _attempt(self, nth: int, back: int) -> tuple[ModelAction, int]:
        """An action and which of its attempts, counted from the first."""
        attempted = [one for one in self.actions if one.id in self.far.attempts]
        action = attempted[nth % len(attempted)]
        opened = len(self.far.attempts[action.id])
        return action, opened - 1 - back % opened

    @precondition(DecidingMachine.has_attempts)
    @rule(nth=Nth, back=Nth)
    def fence(self, nth: int, back: int) -> None:
        """An attempt that was ever opened, the last or a zombie, reaches its last statement."""
        action, which = self._attempt(nth, back)
        attempt = self.far.attempts[action.id][which]
        if action.effect == "database":
            self._act_in_database(action, attempt)
            return
        n = self.step(
            "fence",
            lambda db: self.steps.fence(db, action.id, attempt),
            lambda model: model.fence(action.id, attempt),
        )
        self._fenced(action.id, n, which)

    def _fenced(self, action_id: str, n: int | None, which: int) -> None:
        if n is not None:
            with self.unbroken():
                self.far.fenced(action_id, n, which)

    def _act_in_database(self, action: ModelAction, attempt: int) -> None:
        acted = self.step(
            "act in database",
            lambda db: self.steps.act_in_database(db, action.id, attempt),
            lambda model: model.act_in_database(action.id, attempt),
        )
        if acted:
            self.far.effects.append(action.id)
            self.check()

    def _trip(self, nth: int) -> Trip:
        return self.far.trips[-1 - nth % len(self.far.trips)]

    @precondition(DecidingMachine.has_trips)
    @rule(nth=Nth)
    def provider_acts(self, nth: int) -> None:
        """What is under way arrives, however late."""
        trip = self._trip(nth)
        if trip.may_act:
            self.far.acts(trip)
            self.count("provider acts")
            self.check()

    @precondition(DecidingMachine.has_trips)
    @rule(
        nth=Nth,
        outcome=st.sampled_from(
            ["created", "rejected", "not_sent", "not_sent", "unknown", "in_progress", "conflict"]
        ),
        killed=st.booleans(),
    )
    def write(self, nth: int, outcome: str, killed: bool) -> None:
        """The outcome of a trip is written, once more, or only half. Gateways do not lie: created
        has acted, rejected and not sent never will."""
        trip = self._trip(nth)
        trip.said = trip.said or _truth(trip, outcome)
        said = trip.said
        if said == "created" and trip.may_act:
            self.far.acts(trip)
        trip.dead = trip.dead or said in {"rejected", "not_sent"}
        if killed:
            self.step(
                "half an outcome",
                lambda db: self.steps.write_send(db, trip.action, trip.n, said),
                lambda model: model.write_send(trip.action, trip.n, said),
            )
            return
        written = self.step(
            "outcome",
            lambda db: self.steps.write_outcome(db, trip.action, trip.n, said),
            lambda model: model.write_outcome(trip.action, trip.n, said),
        )
        self.promise("no contradiction", kept=written != "contradiction", detail=trip)

    @precondition(DecidingMachine.has_attempts)
    @rule(nth=Nth)
    def close_unsent(self, nth: int) -> None:
        """An attempt, perhaps a zombie, finds that the thing is no longer possible."""
        action, _attempt = self._attempt(nth, 0)
        self.step(
            "close",
            lambda db: self.steps.close_unsent(db, action.id),
            lambda model: model.close_unsent(action.id),
        )

    # -- settling

    @precondition(DecidingMachine.has_trips)
    @rule(
        nth=Nth,
        seen=st.sampled_from(
            ["found", "found_working", "found_different", "absent_final", "absent", "uncertain"]
        ),
    )
    def look(self, nth: int, seen: str) -> None:
        """A look-up at the provider, which does not lie either; it is written down later."""
        trip = self._trip(nth)
        if not self.model.actions[trip.action].doubtful:
            return
        acted = trip.action in self.far.effects
        if seen.startswith("found") and not acted:
            seen = "absent"
        if seen == "absent_final" and acted:
            seen = "found"
        if seen == "absent_final":
            self.far.never_acts(trip.action)
        self.looks.append((trip.action, seen))

    @precondition(lambda self: bool(self.looks))
    @rule(nth=Nth)
    def write_look(self, nth: int) -> None:
        """What was seen is written, perhaps long after it was true."""
        action_id, seen = self.looks.pop(nth % len(self.looks))
        written = self.step(
            "look",
            lambda db: self.steps.look(db, action_id, seen),
            lambda model: model.look(action_id, seen),
        )
        self.promise("no contradiction", kept=written != "contradiction", detail=(action_id, seen))


def _truth(trip: Trip, outcome: str) -> str:
    """What an honest gateway may say of this trip."""
    if trip.acted and outcome in {"rejected", "not_sent"}:
        return "created"
    if trip.dead and outcome == "created":
        return "unknown"
    return outcome
