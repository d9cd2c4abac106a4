"""The model's rules of what is said in a conversation, and of when a typed yes is a decision
(design §6)."""

from dataclasses import dataclass, field

from tests.integration.store.model_data import SECOND, ModelAction, ModelDecision
from tests.integration.store.model_operators import Operating

TEXTS = {"Sim": True, "ok.": True, "sim?": False, "pode, mas amanhã": False, "oi": False}
"""What people write here, and whether it is exactly a yes."""


@dataclass(frozen=True)
class Said:
    """A message that nobody has handled yet. `plain`: neither quoting nor forwarded."""

    text: str
    plain: bool
    at: int


@dataclass
class Talk:
    """A conversation: when something came in or went out beside prompts, and what waits."""

    received: list[int] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    waiting: list[Said] = field(default_factory=list)
    turn_open: bool = False
    asked_at: int = 0


@dataclass
class Talking(Operating):
    """What is said, in either direction."""

    talks: dict[str, Talk] = field(default_factory=dict)

    def talk(self, person: str) -> Talk:
        """The person's conversation."""
        return self.talks.setdefault(person, Talk())

    def propose(self, new: ModelAction, *, facts: int) -> str:
        """A proposal that stands ends its turn."""
        talk, again = self.talk(new.conversation), new.id in self.actions
        result = super().propose(new, facts=facts)
        if result == "new" and not again:
            new.asked_at, talk.turn_open = talk.asked_at, False
        return result

    def press(self, action_id: str, verdict: str, *, right: bool, of: str | None) -> None:
        """A click, which comes in in the conversation `of` whoever presses, if it is known."""
        self.click(action_id, verdict, right=right)
        if of is not None:
            self.received(of)

    def change_identity(self, person: str) -> None:
        """The person became somebody else to us, now."""
        self.identity_changes.setdefault(person, []).append(self.now)
        self.received(person)

    def received(self, person: str) -> None:
        """Anything came in, a click for instance."""
        self.talk(person).received.append(self.now)

    def ask(self, person: str) -> None:
        """A message comes in and a turn takes all that waits."""
        self.says(person, Said("oi", True, self.now))
        self._open_turn(self.talk(person))

    def says(self, person: str, said: Said) -> None:
        """A message comes in."""
        self.received(person)
        self.talk(person).waiting.append(said)

    def reply(self, person: str) -> None:
        """A message beside the prompts goes out."""
        self.talk(person).sent.append(self.now)

    def delivered(self, action_id: str) -> None:
        """The channel reports that a prompt arrived, by its clock of whole seconds."""
        self.actions[action_id].delivered_at = self.now // SECOND

    def take(self, person: str) -> str:
        """`yes` if what waits is a decision, else `turn` or `nothing`."""
        talk = self.talk(person)
        action = self.pending_of(person)
        if action is not None and self._is_yes(talk, action):
            (said,) = talk.waiting
            talk.waiting.clear()
            action.decisions.append(ModelDecision("confirm", True, said.at))
            return "yes"
        if talk.turn_open:
            return "turn"
        if not talk.waiting:
            return "nothing"
        self._open_turn(talk)
        return "turn"

    def _open_turn(self, talk: Talk) -> None:
        if not talk.turn_open:
            talk.turn_open, talk.asked_at = True, talk.waiting[0].at
            talk.waiting.clear()

    def _is_yes(self, talk: Talk, action: ModelAction) -> bool:
        if talk.turn_open or len(talk.waiting) != 1 or action.confirm != "button_or_yes":
            return False
        (said,) = talk.waiting
        seen = action.delivered_at is not None and said.at // SECOND > action.delivered_at
        others = [at for at in talk.received if at >= action.made_at]
        return (
            TEXTS[said.text]
            and said.plain
            and seen
            and len(others) == 1
            and not self._sent_between(talk, action)
        )

    def _sent_between(self, talk: Talk, action: ModelAction) -> bool:
        assert action.delivered_at is not None
        prompts = [
            one
            for one in self.actions.values()
            if one.conversation == action.conversation and one.id != action.id
        ]
        out = talk.sent + [one.prompted_at for one in prompts if one.prompted_at is not None]
        arrived = [one.delivered_at for one in prompts if one.delivered_at is not None]
        return any(at >= action.made_at for at in out) or any(
            at > action.delivered_at for at in arrived
        )
