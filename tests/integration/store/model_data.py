"""What the model of §3 remembers of an action, and at which instants a rule changes for it.

Time is whole microseconds since the start: the edges of a deadline are hit exactly.
"""

from dataclasses import dataclass, field

SECOND = 1_000_000
GRACE = 60 * SECOND
FRESH, FRESH_DIRECT, LOCKED = 120 * SECOND, 600 * SECOND, 120 * SECOND
LOOK_FIRST, LOOK_LONGEST, LOOK_FOR = 5 * SECOND, 900 * SECOND, 24 * 3600 * SECOND
IN_FLIGHT, APART, LOOK_LIFE = 75 * SECOND, 60 * SECOND, 40 * SECOND
RESEND_FRESH, RESEND_AFTER_CLICK = 120 * SECOND, 1800 * SECOND
LAG, KEY_KNOWN = 60 * SECOND, 900 * SECOND
"""What the provider of these tests promises: after `LAG` a look-up shows what was sent; a key is
known for `KEY_KNOWN`, shorter than the half hour after the click so that both limits are met."""

LAG_UNKNOWN = LOOK_FOR
PROVIDERS = {"knows keys": (LAG, KEY_KNOWN), "knows no keys": (LAG, 0), "not built": None}
"""What an operator's command learns of the gateway: lag and key retention, or nothing."""


@dataclass
class ModelDecision:
    """A stored click, typed yes or operator's word; `right` says whether it is of the person for
    whom the action was frozen."""

    verdict: str
    right: bool
    at: int
    answered: bool = False
    followed: bool | None = None
    refusal: str | None = None
    by: str | None = None
    as_send: int | None = None
    valid_until: int | None = None

    def answer(self, refusal: str | None) -> None:
        """Handled: followed, or refused with a reason."""
        self.answered, self.followed, self.refusal = True, refusal is None, refusal


@dataclass
class ModelSend:
    """One trip over the wire, and what was written about it."""

    n: int
    attempt: int
    at: int
    outcome: str | None = None

    @property
    def in_doubt(self) -> bool:
        """It is not proved not sent."""
        return self.outcome != "not_sent"


@dataclass
class ModelAction:
    """An action and all that hangs on it."""

    id: str
    conversation: str
    key: str
    effect: str
    expires_at: int
    unique: bool
    confirm: str = "button"
    asked_at: int = 0
    made_at: int = 0
    member: bool = True
    status: str = "pending"
    reason: str | None = None
    attempt: int = 0
    locked_until: int = 0
    since: int | None = None
    frozen_at: int | None = None
    looks: int = 0
    look_at: int | None = None
    told: bool = False
    prompt_failed: bool = False
    prompt_open: bool = True
    prompted_at: int | None = None
    delivered_at: int | None = None
    decisions: list[ModelDecision] = field(default_factory=list)
    sends: list[ModelSend] = field(default_factory=list)
    looked: list[tuple[int, str]] = field(default_factory=list)

    @property
    def direct(self) -> bool:
        """Nobody had to decide it."""
        return self.confirm == "direct"

    @property
    def over(self) -> bool:
        """Nothing leads out of its status."""
        return self.status not in {"pending", "executing"}

    @property
    def doubtful(self) -> bool:
        """Something may have been sent."""
        return any(send.in_doubt for send in self.sends)

    @property
    def last_doubtful(self) -> int | None:
        """The number of the latest send that may have gone."""
        return max((n for n, one in enumerate(self.sends, 1) if one.in_doubt), default=None)

    @property
    def confirmed_at(self) -> int:
        """When the person said yes; of a direct tool's action, when it began."""
        confirms = [one.at for one in self.decisions if one.verdict == "confirm" and one.followed]
        return min(confirms, default=self.made_at if self.since is None else self.since)

    @property
    def looked_for_since(self) -> int:
        """From when on machines look for a day."""
        assert self.since is not None
        return max(self.since, self.frozen_at or self.since)

    def unanswered(self) -> list[ModelDecision]:
        """What people said and nobody has handled yet, in the order stored."""
        return [one for one in self.decisions if not one.answered and one.by is None]

    def rights(self) -> list[ModelDecision]:
        """The operators' resends that are neither used nor over."""
        return [one for one in self.decisions if one.verdict == "resend" and not one.answered]

    def open_right(self, now: int) -> ModelDecision | None:
        """The one that lets the next send through now."""
        for one in self.rights():
            assert one.valid_until is not None
            if one.as_send == len(self.sends) + 1 and now < one.valid_until:
                return one
        return None

    def fresh_until(self) -> int:
        """Until when it may begin to act by itself."""
        assert self.since is not None
        return self.since + (FRESH_DIRECT if self.direct else FRESH)

    def edges(self) -> list[int]:
        """The instants at which a rule changes for it."""
        found = [self.expires_at, self.expires_at + GRACE]
        if self.status == "executing" and self.since is not None:
            found = [self.fresh_until(), self.looked_for_since + LOOK_FOR]
            found += [self.locked_until] if self.direct else []
            found += [self.confirmed_at + RESEND_AFTER_CLICK] if self.sends else []
            found += [self.frozen_at + LAG] if self.frozen_at is not None else []
        for send in self.sends[-1:]:
            found += [send.at + IN_FLIGHT, send.at + LAG, send.at + KEY_KNOWN]
        absent = [at for at, presence in self.looked if presence == "absent"]
        found += [at + APART for at in absent if at == absent[0]]
        found += [one.valid_until for one in self.rights() if one.valid_until is not None]
        return sorted(found)
