"""The rules of attempts, the fence, the wire and look-ups.

Gateways do not lie here, but everything may come late, twice, half, or from a zombie.
"""

from tests.integration.store.drawing import rule
from tests.integration.store.far_side import Trip, promise
from tests.integration.store.machine_base import Look, Nth, Step
from tests.integration.store.machine_deciding import DecidingMachine, Off
from tests.integration.store.model_data import LOOK_LIFE, ModelAction

Outcomes = [
    "created",
    "rejected",
    "not_sent",
    "not_sent",
    "unknown",
    "unknown",
    "in_progress",
    "conflict",
]
Works = ["open", "open", "fence", "fence", "fence", "fence", "close"]
Stalls = ["fence", "fence", "fence", "open", "open", "decide"]
Sights = [
    "found",
    "found_working",
    "found_different",
    "absent_final",
    "absent",
    "absent",
    "uncertain",
]


class ExecutingMachine(DecidingMachine):
    """What workers do."""

    @rule(when=DecidingMachine.has_actions, nth=Nth, opens=(False, True), fences=(False, True))
    def confirm(self, nth: int, opens: bool, fences: bool) -> None:
        """The way that things go when nothing goes wrong, some steps at once."""
        action = self.pick(nth)
        self.take(self.click_step(action, "confirm", "right"))
        self.take(self.decide_step(action))
        if opens and self.take(self.open_step(action)) is not None and fences:
            self.take(self.send_step(action, -1))

    # -- executing

    @rule(when=DecidingMachine.has_actions, nth=Nth, back=Nth, what=Works)
    def work(self, nth: int, back: int, what: str) -> None:
        """A worker begins an attempt; or one that ever began, the last or a zombie, reaches its
        last statement before the effect, or finds that the thing is no longer possible."""
        if what == "open" or not self.far.attempts:
            self.take(self.open_step(self.pick(nth)))
        elif what == "fence":
            self.take(self.send_step(self._attempted(nth), -1 - back))
        else:
            self.take(self.close_step(self._attempted(nth)))

    @rule(when=DecidingMachine.has_attempts, nth=Nth, which=Nth, off=Off, what=Stalls)
    def stall(self, nth: int, which: int, off: int, what: str) -> None:
        """A worker comes to its next step only when a rule changes, or beside that."""
        action = self._attempted(nth)
        self.move_to_edge(action, which, off)
        if what == "fence":
            self.take(self.send_step(action, -1))
        else:
            self.take((self.open_step if what == "open" else self.decide_step)(action))

    def open_step(self, action: ModelAction) -> Step:
        """An attempt begins."""

        def note(attempt: int | None) -> None:
            if attempt is not None:
                self.far.opened(action.id, attempt, self.now)

        return Step(
            name="open",
            about=(self.number(action.id),),
            real=lambda db: self.steps.open_attempt(db, action.id),
            pure=lambda model: model.open_attempt(action.id),
            note=note,
        )

    def _attempted(self, nth: int) -> ModelAction:
        attempted = [one for one in self.actions if one.id in self.far.attempts]
        return attempted[nth % len(attempted)]

    def send_step(self, action: ModelAction, which: int) -> Step:
        """The last statement before the effect, by an attempt counted from either end."""
        opened = self.far.attempts[action.id]
        which %= len(opened)
        return (self._act if action.effect == "database" else self._fence)(action, which)

    def _fence(self, action: ModelAction, which: int) -> Step:
        attempt = self.far.attempts[action.id][which]

        def note(n: int | None) -> None:
            if n is not None:
                self.far.fenced(action.id, n, which, self.now)
            elif which < len(self.far.attempts[action.id]) - 1:
                self.far.reached.add("a zombie stopped")

        return Step(
            name="fence",
            about=(self.number(action.id), which),
            real=lambda db: self.steps.fence(db, action.id, attempt),
            pure=lambda model: model.fence(action.id, attempt),
            note=note,
        )

    def _act(self, action: ModelAction, which: int) -> Step:
        attempt = self.far.attempts[action.id][which]

        def note(acted: bool) -> None:
            if acted:
                self.far.took_effect(action.id)

        return Step(
            name="act in database",
            about=(self.number(action.id), which),
            real=lambda db: self.steps.act_in_database(db, action.id, attempt),
            pure=lambda model: model.act_in_database(action.id, attempt),
            note=note,
        )

    def _trip(self, nth: int) -> Trip:
        return self.far.trips[-1 - nth % len(self.far.trips)]

    @rule(when=DecidingMachine.has_trips, nth=Nth)
    def provider_acts(self, nth: int) -> None:
        """What is under way arrives, however late."""
        trip = self._trip(nth)
        if trip.may_act:
            self.far.acts(trip)
            self.count("provider acts", self.number(trip.action), trip.n)
            self.check()

    @rule(when=DecidingMachine.has_trips, nth=Nth, outcome=Outcomes, killed=[False, False, True])
    def write(self, nth: int, outcome: str, killed: bool) -> None:
        """The outcome of a trip is written, once more, or only half. Gateways do not lie: created
        has acted, rejected and not sent never will."""
        trip = self._trip(nth)
        trip.said = said = trip.said or _truth(trip, outcome)
        if said == "created" and trip.may_act:
            self.far.acts(trip)
        trip.dead = trip.dead or said in {"rejected", "not_sent"}
        about = (self.number(trip.action), trip.n, said)
        if killed:
            self.take(
                Step(
                    name="half an outcome",
                    about=about,
                    real=lambda db: self.steps.write_send(db, trip.action, trip.n, said),
                    pure=lambda model: model.write_send(trip.action, trip.n, said),
                )
            )
            return
        written = self.take(
            Step(
                name="outcome",
                about=about,
                real=lambda db: self.steps.write_outcome(db, trip.action, trip.n, said),
                pure=lambda model: model.write_outcome(trip.action, trip.n, said),
            )
        )
        promise("no contradiction", kept=written != "contradiction", detail=trip)

    def close_step(self, action: ModelAction) -> Step:
        """Revalidation refuses."""
        return Step(
            name="close",
            about=(self.number(action.id),),
            real=lambda db: self.steps.close_unsent(db, action.id),
            pure=lambda model: model.close_unsent(action.id),
        )

    # -- settling

    @rule(when=DecidingMachine.has_trips, nth=Nth, seen=Sights, stalls=[False, False, True])
    def look(self, nth: int, seen: str, stalls: bool) -> None:
        """A look-up at the provider, which does not lie either; perhaps it is written down
        later."""
        trip = self._trip(nth)
        if not self.model.actions[trip.action].doubtful:
            return
        send = self.model.actions[trip.action].last_doubtful
        seen = self.far.looks(trip.action, seen, self.now)
        if stalls:
            self.world.looks.append(Look(trip.action, seen, self.now, send))
            self.count("look", self.number(trip.action), seen)
        else:
            self.write_sight(trip.action, seen, send)

    @rule(when=lambda self: bool(self.world.looks), nth=Nth)
    def write_look(self, nth: int) -> None:
        """What was seen is written, perhaps when it is no longer true; but not once the look-up's
        own time is over."""
        look = self.world.looks.pop(nth % len(self.world.looks))
        if self.now <= look.at + LOOK_LIFE:
            self.write_sight(look.action, look.seen, look.send)

    def write_sight(self, action_id: str, seen: str, send: int | None) -> None:
        """What *settle* saw is written; `send`: the latest in doubt when it looked."""
        written = self.take(
            Step(
                name="sight",
                about=(self.number(action_id), seen),
                real=lambda db: self.steps.look(db, action_id, seen, send),
                pure=lambda model: model.look(action_id, seen, send),
            )
        )
        promise("no contradiction", kept=written != "contradiction", detail=(action_id, seen))


def _truth(trip: Trip, outcome: str) -> str:
    """What an honest gateway may say of this trip."""
    if trip.acted and outcome in {"rejected", "not_sent"}:
        return "created"
    if trip.dead and outcome == "created":
        return "unknown"
    return outcome
