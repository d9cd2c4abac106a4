"""How an action lives (design §3), once more and without a database: what each step must lead to.

Written from the design's page, not from the product's code, of which only the words are used. A
rule that both misread in the same way would be seen by the promises in `promises.py`, which look at
the far side and at rows alone. Time is whole microseconds since the start: the edges of a deadline
are hit exactly.
"""

from dataclasses import dataclass, field

SECOND = 1_000_000
GRACE = 60 * SECOND
FRESH = 120 * SECOND
LOOK_FIRST, LOOK_LONGEST, LOOK_FOR = 5 * SECOND, 900 * SECOND, 24 * 3600 * SECOND


@dataclass
class ModelDecision:
    """A stored click; `right` says whether it is of the person for whom the action was frozen."""

    verdict: str
    right: bool
    at: int
    answered: bool = False
    followed: bool | None = None
    refusal: str | None = None

    def answer(self, refusal: str | None) -> None:
        """Handled: followed, or refused with a reason."""
        self.answered, self.followed, self.refusal = True, refusal is None, refusal


@dataclass
class ModelSend:
    """One trip over the wire, and what was written about it."""

    n: int
    attempt: int
    outcome: str | None = None


@dataclass
class ModelAction:
    """An action and all that hangs on it."""

    id: str
    conversation: str
    key: str
    effect: str
    expires_at: int
    asked_at: int
    unique: bool
    member: bool = True
    status: str = "pending"
    reason: str | None = None
    attempt: int = 0
    since: int | None = None
    looks: int = 0
    look_at: int = 0
    told: bool = False
    prompt_failed: bool = False
    prompt_open: bool = True
    decisions: list[ModelDecision] = field(default_factory=list)
    sends: list[ModelSend] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Nothing leads out of its status."""
        return self.status not in {"pending", "executing"}

    @property
    def doubtful(self) -> bool:
        """Something may have been sent: a send that is not proved not sent."""
        return any(send.outcome != "not_sent" for send in self.sends)

    def unanswered(self) -> list[ModelDecision]:
        """The clicks that nobody has handled yet, in the order stored."""
        return [one for one in self.decisions if not one.answered]


@dataclass
class Model:
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
        if old is not None:
            if self._judge(old):
                return "stale"
            self._leave(old, "superseded", "superseded")
        new.member = new.conversation not in self.members_gone
        self.actions[new.id] = new
        self._facts_moved(new)
        return "new"

    def pending_of(self, conversation: str) -> ModelAction | None:
        """The conversation's one pending action."""
        for action in self.actions.values():
            if action.conversation == conversation and action.status == "pending":
                return action
        return None

    def change_identity(self, person: str) -> None:
        """The person became somebody else to us, now."""
        self.identity_changes.setdefault(person, []).append(self.now)

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

    def _verdict(self, action: ModelAction) -> tuple[str, str | None, ModelDecision | None] | None:
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

    def _confirmed(
        self, action: ModelAction, confirm: ModelDecision
    ) -> tuple[str, str | None, ModelDecision | None]:
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
            return action.status, "end"
        assert action.since is not None
        if action.doubtful:
            return "executing", "rest" if self.now >= action.since + LOOK_FOR else "settle"
        if self.now >= action.since + FRESH:
            self._leave(action, "failed", "not_sent")
            return "failed", "end"
        return "executing", "execute"

    # -- executing

    def _fresh(self, action: ModelAction) -> bool:
        return (
            action.status == "executing"
            and action.since is not None
            and self.now < action.since + FRESH
        )

    def open_attempt(self, action_id: str) -> int | None:
        """The number of the attempt, which is the only one that may send from now on."""
        action = self.actions[action_id]
        if not self._fresh(action) or action.doubtful:
            return None
        action.attempt += 1
        return action.attempt

    def fence(self, action_id: str, attempt: int) -> int | None:
        """The number of the send that may go now."""
        action = self.actions[action_id]
        if not self._fresh(action) or action.attempt != attempt or action.doubtful:
            return None
        action.sends.append(ModelSend(len(action.sends) + 1, attempt))
        return len(action.sends)

    def act_in_database(self, action_id: str, attempt: int) -> bool:
        """Whether the effect happened, in the transaction that records it."""
        action = self.actions[action_id]
        if not self._fresh(action) or action.attempt != attempt:
            return False
        self._leave(action, "executed", None)
        return True

    def write_send(self, action_id: str, n: int, outcome: str) -> None:
        """The outcome goes into the send's row, the first one that is written."""
        send = self.actions[action_id].sends[n - 1]
        send.outcome = send.outcome or outcome

    def write_outcome(self, action_id: str, n: int, outcome: str) -> str:
        """What recording the outcome makes of the action."""
        self.write_send(action_id, n, outcome)
        action = self.actions[action_id]
        if outcome == "created":
            return self._proved(action)
        if outcome == "rejected" and action.status == "executing":
            others = [one for one in action.sends if one.n != n and one.outcome != "not_sent"]
            if others:
                action.sends[n - 1].outcome = "unknown"
                return "open"
            self._leave(action, "failed", "rejected")
        return _written(action)

    def _proved(self, action: ModelAction) -> str:
        if action.status == "executing":
            self._leave(action, "executed", None)
        return "executed" if action.status == "executed" else "contradiction"

    def close_unsent(self, action_id: str) -> bool:
        """Whether "nothing was sent" could be made true."""
        action = self.actions[action_id]
        if action.status != "executing" or action.doubtful:
            return False
        self._leave(action, "failed", "no_longer_possible")
        return True

    # -- settling

    def look(self, action_id: str, seen: str) -> str:
        """What a look-up leads to: `found` (equal, final), `absent_final`, or nothing certain."""
        action = self.actions[action_id]
        if seen == "found":
            return self._proved(action)
        if action.status != "executing":
            return _written(action)
        if seen == "absent_final":
            self._leave(action, "failed", "rejected")
            return "failed"
        action.looks += 1
        action.look_at = self.now + min(LOOK_FIRST * 2 ** (action.looks - 1), LOOK_LONGEST)
        action.told = action.told or action.looks >= 2
        return "open"

    # -- the prompt

    def prompt(self, action_id: str, outcome: str) -> bool:
        """Whether the prompt could be sent; `refused` means that no copy arrived."""
        action = self.actions[action_id]
        if not action.prompt_open:
            return False
        action.prompt_open = False
        if action.status != "pending":
            action.prompt_failed = True  # dropped unsent; it matters to nobody any more
            return False
        action.prompt_failed = outcome == "refused"
        return True


def _written(action: ModelAction) -> str:
    if action.status == "executing":
        return "open"
    return "executed" if action.status == "executed" else "failed"


def _why_not(one: ModelDecision, followed: ModelDecision | None) -> str:
    if followed is None:
        return "late"
    return "duplicate" if one.verdict == followed.verdict else "overruled"
