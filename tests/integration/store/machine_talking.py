"""The rules of turns that think while things move, of prompts, typed yeses, people who change."""

from store.connection import Connection
from tests.integration.store.drawing import rule
from tests.integration.store.machine_base import Nth, Step
from tests.integration.store.machine_deciding import (
    DecidingMachine,
    Effects,
    Keys,
    People,
    Policies,
)
from tests.integration.store.model_data import SECOND, ModelAction
from tests.integration.store.model_talking import TEXTS, Said
from tests.integration.store.steps import Wanted

Texts = ["Sim"] * 8 + list(TEXTS)
Phone = ["says", "says", "says", "reply"]
Plain = [True] * 7 + [False]


class TalkingMachine(DecidingMachine):
    """What is said, beside all that people press."""

    @rule(person=People)
    def ask(self, person: str) -> None:
        """A turn opens and its model thinks, on the facts of now."""
        self._ask(person)

    @rule(
        when=lambda self: bool(self.world.turns),
        nth=Nth,
        wanted=Keys,
        effect=Effects,
        policy=Policies,
        minutes=[1, 60],
    )
    def answer(
        self, nth: int, wanted: tuple[str, bool], effect: str, policy: str, minutes: int
    ) -> None:
        """The model's answer is proposed, perhaps on facts that moved meanwhile."""
        turn = list(self.world.turns.values())[nth % len(self.world.turns)]
        expires_at = self.now + minutes * 60 * SECOND
        self.propose_in(
            turn,
            Wanted(
                key=wanted[0],
                unique=wanted[1],
                effect=effect,
                expires_at=expires_at,
                confirm=policy,
            ),
        )

    # -- what is said

    def _known_people(self) -> list[str]:
        return sorted(self.model.talks)

    @rule(
        when=lambda self: bool(self._known_people()),
        nth=Nth,
        what=Phone,
        text=Texts,
        plain=Plain,
        more=[False, False, False, True],
    )
    def phone(self, nth: int, what: str, text: str, plain: bool, more: bool) -> None:
        """A person writes something, and perhaps more before anybody takes it; or something that is
        no prompt goes out."""
        person = self._known_people()[nth % len(self._known_people())]
        if what == "reply":
            self.reply(person)
            return
        self.write_text(person, text, plain)
        if not more:
            self.take(self.burst_step(person))

    def write_text(self, person: str, text: str, plain: bool) -> None:
        """A message comes in."""
        now = self.now
        self.take(
            Step(
                name="says",
                about=(person, text, plain),
                real=lambda db: self.steps.says(db, person, text, plain=plain, now=now),
                pure=lambda model: model.says(person, Said(text, plain, now)),
                note=lambda _got: self.far.went(person, "in", now, text, plain=plain),
            )
        )

    @rule(when=lambda self: any(one.waiting for one in self.model.talks.values()), nth=Nth)
    def burst_ends(self, nth: int) -> None:
        """What waits is taken: as a decision, or by a turn."""
        waiting = [person for person in self._known_people() if self.model.talks[person].waiting]
        self.take(self.burst_step(waiting[nth % len(waiting)]))

    def burst_step(self, person: str) -> Step:
        """*take*, as the turn's workflow calls it at the end of a burst."""
        pending = self.model.pending_of(person)
        now = self.now

        def note(got: str) -> None:
            if got == "yes":
                assert pending is not None, "a yes to nothing"
                yes = self.far.said_yes(person, pending.id)
                self.far.pressed.setdefault(pending.id, []).append(yes)

        async def real(db: Connection) -> str:
            got, turn = await self.steps.take(db, person, now=now)
            if turn is not None:
                self.world.turns.setdefault(person, turn)
            return got

        return Step(
            name="burst",
            about=(person,),
            real=real,
            pure=lambda model: model.take(person),
            note=note,
        )

    def reply(self, person: str) -> None:
        """A message goes out."""
        self.take(
            Step(
                name="reply",
                about=(person,),
                real=lambda db: self.steps.reply(db, person),
                pure=lambda model: model.reply(person),
                note=lambda _got: self.far.went(person, "out", self.now),
            )
        )

    # -- prompts

    def _prompts(self) -> list[ModelAction]:
        return [one for one in self.actions if one.prompt_open and self.now < one.expires_at]

    @rule(
        when=lambda self: bool(self._prompts()),
        nth=Nth,
        outcome=["delivered", "delivered", "accepted", "refused"],
    )
    def prompt(self, nth: int, outcome: str) -> None:
        """The prompt goes out, or certainly does not."""
        action = self._prompts()[nth % len(self._prompts())]

        def note(claimed: bool) -> None:
            if claimed and outcome != "refused":
                self.far.went(action.conversation, "sent", self.now, action.id)

        self.take(
            Step(
                name="prompt",
                about=(self.number(action.id), outcome),
                real=lambda db: self.steps.prompt(db, action.id, outcome),
                pure=lambda model: model.prompt(action.id, outcome),
                note=note,
            )
        )
        if outcome == "delivered" and action.prompted_at is not None:
            self._deliver(action)

    def _travelling(self) -> list[ModelAction]:
        return [
            one for one in self.actions if one.prompted_at is not None and one.delivered_at is None
        ]

    @rule(when=lambda self: bool(self._travelling()), nth=Nth)
    def deliver(self, nth: int) -> None:
        """A prompt arrives, perhaps long after."""
        self._deliver(self._travelling()[nth % len(self._travelling())])

    def _deliver(self, action: ModelAction) -> None:
        now = self.now
        self.take(
            Step(
                name="deliver",
                about=(self.number(action.id),),
                real=lambda db: self.steps.deliver(db, action.id, now=now),
                pure=lambda model: model.delivered(action.id),
                note=lambda _got: self.far.went(action.conversation, "delivered", now, action.id),
            )
        )

    # -- people who change

    @rule(
        when=lambda self: not self.world.troubled and bool(self._known_people()),
        nth=Nth,
        leaves=(False, True),
    )
    def trouble(self, nth: int, leaves: bool) -> None:
        """The person is no longer a member, or may be another one now; once an example."""
        people = self._known_people()
        person = people[nth % len(people)]
        self.world.troubled = True
        self.take(self._leave(person) if leaves else self._change(person))

    def _leave(self, person: str) -> Step:
        return Step(
            name="leave",
            about=(person,),
            real=lambda db: self.steps.leave(db, person),
            pure=lambda model: model.members_gone.add(person),
        )

    def _change(self, person: str) -> Step:
        return Step(
            name="identity",
            about=(person,),
            real=lambda db: self.steps.change_identity(db, person),
            pure=lambda model: model.change_identity(person),
            note=lambda _got: self.far.went(person, "in", self.now, "another identity"),
        )
