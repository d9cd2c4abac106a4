"""The model's rules of proposing, of the one door out of `pending`, and of what comes next."""

from dataclasses import dataclass, field

from tests.integration.store.model_data import (
    GRACE,
    LOCKED,
    LOOK_FOR,
    ModelAction,
    ModelDecision,
)

Verdict = tuple[str, str | None, ModelDecision | None]
"""Status, reason, and the decision that was followed."""


@dataclass
class Deciding:
    """All actions, the clock, and each conversation's count of changes."""

    now: int = 0
    actions: dict[str, ModelAction] = field(default_factory=dict)
    facts: dict[str, int] = field(default_factory=dict)
    identity_changes: dict[str, list[int]] = field(default_factory=dict)
    members_gone: set[str] = field(default_factory=set)

    # -- proposing

    def propose(self, new: ModelAction, *, facts: int) -> str:
        """`new`, `stale` (think again) or `equal`; a repeat finds its own row."""
        if new.id in self.actions:
            return "new"
        if facts != self.facts.get(new.conversation, 0):
            return "stale"
        if self._equal_lives(new):
            return "equal"
        old = self.pending_of(new.conversation)
        if old is not None and not new.direct:
            if self._judge(old):
                return "stale"
            self._leave(old, "superseded", "superseded")
        new.member, new.made_at = new.conversation not in self.members_gone, self.now
        if new.direct:
            new.status, new.since, new.locked_until = "executing", self.now, self.now + LOCKED
            new.prompt_open = False
        self.actions[new.id] = new
        self._facts_moved(new)
        return "new"

    def pending_of(self, conversation: str) -> ModelAction | None:
        """The conversation's one pending action."""
        for action in self.actions.values():
            if action.conversation == conversation and action.status == "pending":
                return action
        return None

    def _equal_lives(self, one: ModelAction) -> bool:
        """The same thing is being done, or is done where it makes sense once."""
        statuses = {"executing", "executed"} if one.unique else {"executing"}
        return any(
            other.key == one.key and other.status in statuses
            for other in self.actions.values()
            if other.id != one.id
        )

    def _leave(self, action: ModelAction, status: str, reason: str | None) -> None:
        action.status, action.reason = status, reason or action.reason
        if status == "executing":
            action.since = self.now
        self._facts_moved(action)

    def _facts_moved(self, action: ModelAction) -> None:
        self.facts[action.conversation] = self.facts.get(action.conversation, 0) + 1

    # -- deciding

    def click(self, action_id: str, verdict: str, *, right: bool) -> None:
        """A click is a row, whatever the action's status."""
        self.actions[action_id].decisions.append(ModelDecision(verdict, right, self.now))

    def decide(self, action_id: str) -> tuple[str, str]:
        """The status afterwards and what the workflow does next."""
        action = self.actions[action_id]
        if action.status == "pending":
            self._judge(action)
        else:
            self._answer_late(action)
        return self._next(action)

    def _judge(self, action: ModelAction) -> bool:
        """The one door out of `pending`; whether the action went through it."""
        for one in action.unanswered():
            if not one.right:
                one.answer("wrong_person")
        verdict = self._verdict(action)
        if verdict is None:
            return False
        status, reason, followed = verdict
        for one in action.unanswered():
            one.answer(None if one is followed else _why_not(one, followed))
        self._leave(action, status, reason)
        return True

    def _verdict(self, action: ModelAction) -> Verdict | None:
        cancels = [one for one in action.unanswered() if one.verdict == "cancel"]
        timely = [one for one in action.unanswered() if one.at < action.expires_at]
        if any(at >= action.asked_at for at in self.identity_changes.get(action.conversation, [])):
            return "cancelled", "identity_changed", None
        if cancels:
            return "cancelled", "cancelled_by_person", cancels[0]
        if timely:
            return self._confirmed(action, timely[0])
        if self.now >= action.expires_at:
            return "expired", "expired", None
        if action.prompt_failed:
            return "failed", "prompt_failed", None
        return None

    def _confirmed(self, action: ModelAction, confirm: ModelDecision) -> Verdict:
        if self.now >= action.expires_at + GRACE:
            return "expired", "confirmed_too_late", None
        if action.member and action.conversation in self.members_gone:
            return "failed", "role_gone", None
        if self._equal_lives(action):
            return "failed", "equal_effect_live", None
        return "executing", None, confirm

    def _answer_late(self, action: ModelAction) -> None:
        for one in action.unanswered():
            waits = one.right and one.verdict == "cancel" and not action.told
            if action.status == "executing" and waits:
                continue  # answered with the outcome, or when the person is told of the doubt
            one.answer("late" if one.right else "wrong_person")

    def _next(self, action: ModelAction) -> tuple[str, str]:
        if action.status == "pending":
            return "pending", "wait"
        if action.status != "executing":
            self.end_rights(action, "overruled")
            return action.status, "end"
        self.end_rights(action, "late", over_at=self.now)
        if action.frozen_at is None and action.open_right(self.now) is not None:
            return "executing", "execute"
        if action.doubtful or action.frozen_at is not None:
            rests = self.now >= action.looked_for_since + LOOK_FOR
            return "executing", "rest" if rests else "settle"
        if self.now >= action.fresh_until():
            self._leave(action, "failed", "not_sent")
            return "failed", "end"
        return "executing", "execute"

    def end_rights(self, action: ModelAction, why: str, *, over_at: int | None = None) -> None:
        """Answer the operators' rights that nobody used: all, or those over at an instant."""
        for one in action.rights():
            assert one.valid_until is not None
            if over_at is None or one.valid_until <= over_at:
                one.answer(why)


def _why_not(one: ModelDecision, followed: ModelDecision | None) -> str:
    if followed is None:
        return "late"
    return "duplicate" if one.verdict == followed.verdict else "overruled"
