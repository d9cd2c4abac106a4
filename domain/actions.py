"""The life of an action, as data: its states, who may leave which, and what each outcome means.

The same table stands as a CHECK in SQL (`store/migrations`); a test compares the two. A state that
is not in the table is a bug and raises: nothing falls through (style, habit 6).
"""

from enum import StrEnum


class Status(StrEnum):
    """Where an action stands (design §3)."""

    PENDING = "pending"  # waits for a decision
    EXECUTING = "executing"  # decided; the effect may have happened
    EXECUTED = "executed"  # the effect is proved
    FAILED = "failed"  # proved that nothing was done
    CANCELLED = "cancelled"  # the person pressed Cancel
    EXPIRED = "expired"  # nobody decided in time
    SUPERSEDED = "superseded"  # a newer proposal took its place


TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset(
        {Status.EXECUTING, Status.CANCELLED, Status.EXPIRED, Status.SUPERSEDED, Status.FAILED}
    ),
    Status.EXECUTING: frozenset({Status.EXECUTED, Status.FAILED}),
    Status.EXECUTED: frozenset(),
    Status.FAILED: frozenset(),
    Status.CANCELLED: frozenset(),
    Status.EXPIRED: frozenset(),
    Status.SUPERSEDED: frozenset(),
}

OPEN = frozenset({Status.PENDING, Status.EXECUTING})


class IllegalTransitionError(Exception):
    """A bug in Aval: somebody tried to move an action along an edge that is not in the table."""

    def __init__(self, action_id: str, before: Status, after: Status) -> None:
        super().__init__(f"action {action_id!r}: {before.value!r} may not become {after.value!r}")


def check_transition(action_id: str, before: Status, after: Status) -> None:
    """Raise IllegalTransitionError unless `before` may become `after`."""
    if after not in TRANSITIONS[before]:
        raise IllegalTransitionError(action_id, before, after)


class Verdict(StrEnum):
    """What a stored decision says. The last three are an operator's (design §3, operators)."""

    CONFIRM = "confirm"
    CANCEL = "cancel"
    EXECUTED = "executed"
    FAILED = "failed"
    RESEND = "resend"


class Source(StrEnum):
    """How a decision reached us."""

    BUTTON = "button"
    TYPED = "typed"
    OPERATOR = "operator"


class CloseReason(StrEnum):
    """Why an action ended without its effect; chooses the text to the person."""

    CANCELLED_BY_PERSON = "cancelled_by_person"
    EXPIRED = "expired"
    CONFIRMED_TOO_LATE = "confirmed_too_late"  # in time, but handled after the grace
    SUPERSEDED = "superseded"
    PROMPT_FAILED = "prompt_failed"  # nobody may confirm what he never saw
    EQUAL_EFFECT_LIVE = "equal_effect_live"  # the same thing is done or being done already
    DIGEST_MISMATCH = "digest_mismatch"  # the frozen columns are not what was shown
    IDENTITY_CHANGED = "identity_changed"
    ROLE_GONE = "role_gone"
    NO_LONGER_POSSIBLE = "no_longer_possible"  # revalidation refused
    REJECTED = "rejected"  # the provider refused in its own words
    NOT_SENT = "not_sent"  # provably nothing left us, and the time is over
    CONFLICT = "conflict"  # the provider has something else under our key
    SETTLED_BY_OPERATOR = "settled_by_operator"
    TOOL_GONE = "tool_gone"  # the deployment no longer has the tool
    RESTORED = "restored"  # closed because the database came back from a backup


class Refusal(StrEnum):
    """Why a decision was not followed. Silence unless the person is the right one (design §6)."""

    WRONG_PERSON = "wrong_person"
    FOREIGN_PROMPT = "foreign_prompt"  # the click names a message that is not this prompt
    UNKNOWN_ACTION = "unknown_action"
    LATE = "late"  # the action was closed already
    DUPLICATE = "duplicate"  # the action was already decided the same way
    OVERRULED = "overruled"  # another stored decision won
    CLOSED_NUMBER = "closed_number"
    NO_LONGER_POSSIBLE = "no_longer_possible"  # an operator's resend that revalidation refused
    RESTORED = "restored"  # the database came back from a backup: nobody knows what was done since
