"""The rules of *decide*, as one pure function: what becomes of a pending action, and why.

The store gathers the facts under the action's lock and writes what this says. Expiry, supersede and
a failed prompt go through the same door, so none of them passes over a stored decision. Nothing
here knows which signal or timer woke the workflow: only rows and PostgreSQL's clock count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from domain.actions import CloseReason, Refusal, Status, Verdict
from domain.people import Person

GRACE = timedelta(seconds=60)
"""How long after the deadline a Confirm that came in time may still be handled: a worker may have
been away. Beyond it the world that was confirmed no longer exists (design §3)."""


@dataclass(frozen=True, kw_only=True)
class StoredDecision:
    """A click or a typed yes, as stored; `received_at` is our clock at the webhook.
    `foreign_prompt`: it names a message that is not the prompt of its action."""

    id: UUID
    verdict: Verdict
    person: Person
    phone_number_id: str
    received_at: datetime
    foreign_prompt: bool = False


@dataclass(frozen=True, kw_only=True)
class PendingFacts:
    """What holds for the pending action now, read under its lock. `now` was read after the lock."""

    person: Person
    phone_number_id: str
    expires_at: datetime
    now: datetime
    digest_ok: bool = True
    role_ok: bool = True
    identity_changed: bool = False
    equal_effect_live: bool = False
    prompt_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """`after` None: still pending. `followed`: the decision that won. `refused`: the others."""

    after: Status | None = None
    reason: CloseReason | None = None
    followed: StoredDecision | None = None
    refused: dict[UUID, Refusal] = field(default_factory=dict)


def is_right_person(decision: StoredDecision, *, person: Person, phone_number_id: str) -> bool:
    """Whether the decision is of the person it was frozen for, on the same business number."""
    return decision.phone_number_id == phone_number_id and person.is_same(decision.person)


def is_right(decision: StoredDecision, *, person: Person, phone_number_id: str) -> bool:
    """Whether it is the right person's, and of this action's prompt if it names a message."""
    right = is_right_person(decision, person=person, phone_number_id=phone_number_id)
    return right and not decision.foreign_prompt


def why_wrong(decision: StoredDecision) -> Refusal:
    """Why a decision that is not right is refused, in silence."""
    return Refusal.FOREIGN_PROMPT if decision.foreign_prompt else Refusal.WRONG_PERSON


def judge(facts: PendingFacts, decisions: Sequence[StoredDecision]) -> Judgement:
    """What becomes of a pending action, given its unanswered decisions in the order stored.

    A stored Cancel wins, in whichever order they came; else the first Confirm of the right person,
    received before the deadline and handled within the grace.
    """
    right = [
        one
        for one in decisions
        if is_right(one, person=facts.person, phone_number_id=facts.phone_number_id)
    ]
    refused = {one.id: why_wrong(one) for one in decisions if one not in right}
    after, reason, followed = _outcome(facts, right)
    if after is not None:
        refused |= {one.id: _why_passed(one, followed) for one in right if one is not followed}
    return Judgement(after=after, reason=reason, followed=followed, refused=refused)


def _outcome(
    facts: PendingFacts, right: list[StoredDecision]
) -> tuple[Status | None, CloseReason | None, StoredDecision | None]:
    cancel = next((one for one in right if one.verdict is Verdict.CANCEL), None)
    if facts.identity_changed:
        return Status.CANCELLED, CloseReason.IDENTITY_CHANGED, None
    if cancel is not None:
        return Status.CANCELLED, CloseReason.CANCELLED_BY_PERSON, cancel
    confirms = [one for one in right if one.verdict is Verdict.CONFIRM]
    timely = next((one for one in confirms if one.received_at < facts.expires_at), None)
    if timely is not None:
        return _confirmed(facts, timely)
    if facts.now >= facts.expires_at:
        return Status.EXPIRED, CloseReason.EXPIRED, None
    if facts.prompt_failed:
        return Status.FAILED, CloseReason.PROMPT_FAILED, None
    return None, None, None


def _confirmed(
    facts: PendingFacts, confirm: StoredDecision
) -> tuple[Status, CloseReason | None, StoredDecision | None]:
    if facts.now >= facts.expires_at + GRACE:
        return Status.EXPIRED, CloseReason.CONFIRMED_TOO_LATE, None
    if not facts.digest_ok:
        return Status.FAILED, CloseReason.DIGEST_MISMATCH, None
    if not facts.role_ok:
        return Status.FAILED, CloseReason.ROLE_GONE, None
    if facts.equal_effect_live:
        return Status.FAILED, CloseReason.EQUAL_EFFECT_LIVE, None
    return Status.EXECUTING, None, confirm


def _why_passed(decision: StoredDecision, followed: StoredDecision | None) -> Refusal:
    if followed is None:
        return Refusal.LATE
    return Refusal.DUPLICATE if decision.verdict is followed.verdict else Refusal.OVERRULED
