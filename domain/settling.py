"""The rules of settling by an operator's word, as one pure function: allowed, or refused and why.

A stuck action may have been sent. The traps are a false "failed", after which the person asks again
and pays twice, and a second send that the provider no longer recognises as a repeat. So `failed`
needs look-ups that could have seen the effect and did not; `resend` needs that too, a provider that
still knows the key, a click that is not old, and the exact number of the next send, so that two
operators or a replay send once (design §3, operators; facts: payments §9). An operator's word is
evidence, and it never overrules a provider that has something under our key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from domain.actions import Status, Verdict
from domain.outcomes import Outcome, Presence

IN_FLIGHT = timedelta(seconds=75)
"""An attempt lives as long as the activity that makes it; until then its own outcome may come."""

RESEND_AFTER_CLICK = timedelta(minutes=30)
"""Longer ago the person no longer counts on it, and may have done it elsewhere."""

RESEND_FRESH = timedelta(seconds=120)
"""A resend that no worker took is not made later: whoever ordered it knew the world of now."""

ABSENTS = 2
LOOKS_APART = timedelta(seconds=60)
"""Two looks at once are one look: the same replica may lag (facts: payments §9)."""

LAG_UNKNOWN = timedelta(hours=24)
"""Where the account's gateway cannot be asked what it promises: as long as machines look."""

_MAY_HAVE_ACTED = frozenset(Outcome) - {Outcome.NOT_SENT}


@dataclass(frozen=True, kw_only=True)
class ProviderRules:
    """What the provider promises for this operation (gateways: Capabilities).

    `lookup_lag`: an absent within this time after a send proves nothing. `resend_within`: age of
    the first send up to which the same key may go again; zero: never. `resend_after_absent`: the
    same key may go again once look-ups stayed empty.
    """

    lookup_lag: timedelta
    resend_within: timedelta
    resend_after_absent: bool


@dataclass(frozen=True, kw_only=True)
class Trip:
    """One send. `outcome` None: in flight, or its writer died. Times are UTC."""

    n: int
    fenced_at: datetime
    outcome: Outcome | None = None

    @property
    def in_doubt(self) -> bool:
        """Whether it may have had an effect."""
        return self.outcome is None or self.outcome in _MAY_HAVE_ACTED


@dataclass(frozen=True, kw_only=True)
class Look:
    """One look-up and when it was written (UTC)."""

    at: datetime
    presence: Presence


@dataclass(frozen=True, kw_only=True)
class FirstWord:
    """What another operator said before."""

    operator: str
    verdict: Verdict
    at: datetime
    as_send: int | None = None


@dataclass(frozen=True, kw_only=True)
class StuckFacts:
    """What the rows say of the action, read under its lock. `now` was read after the lock.

    `in_database`: the effect is in our own PostgreSQL, recorded with it or not done. `frozen_at`:
    when the database came back from a backup, which forgets sends. `rules` None: the gateway cannot
    be built here. `words`: of earlier operators, oldest first, followed or still waiting.
    """

    status: Status
    in_database: bool
    confirmed_at: datetime
    now: datetime
    sends: Sequence[Trip] = ()
    looks: Sequence[Look] = ()
    rules: ProviderRules | None = None
    frozen_at: datetime | None = None
    words: Sequence[FirstWord] = ()

    @property
    def doubtful(self) -> list[Trip]:
        """The sends that may have had an effect."""
        return [send for send in self.sends if send.in_doubt]

    @property
    def next_send(self) -> int:
        """The number that the next send would have."""
        return max((send.n for send in self.sends), default=0) + 1


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What an operator wants. `as_send` belongs to RESEND alone."""

    verdict: Verdict
    as_send: int | None = None


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """`refused`: the reason in words; None: allowed. `valid_until`: when an allowed resend ends."""

    refused: str | None = None
    valid_until: datetime | None = None


def rule(facts: StuckFacts, wish: Wish) -> Ruling:
    """Whether an operator's verdict may be followed now. Raises ValueError for a verdict that is
    no operator's, and for `as_send` where it does not belong."""
    if (wish.verdict is Verdict.RESEND) != (wish.as_send is not None):
        raise ValueError(f"as_send belongs to a resend: {wish!r}")
    if wish.as_send is not None and wish.as_send < 1:
        raise ValueError(f"sends are numbered from 1: {wish!r}")
    if (refused := _closed(facts) or _in_flight(facts)) is not None:
        return Ruling(refused=refused)
    match wish.verdict:
        case Verdict.EXECUTED:
            return Ruling(refused=_not_executed(facts))
        case Verdict.FAILED:
            return Ruling(refused=_not_failed(facts))
        case Verdict.RESEND:
            assert wish.as_send is not None
            return _resend(facts, wish.as_send)
    raise ValueError(f"{wish.verdict.value!r} is no operator's verdict")


def _closed(facts: StuckFacts) -> str | None:
    if facts.status is Status.EXECUTING:
        return None
    if facts.status is Status.PENDING:
        return "it is pending: only the person decides"
    settled = [word for word in facts.words if word.verdict is not Verdict.RESEND]
    if settled:
        first = settled[0]
        verdict = first.verdict.value
        return f"{first.operator!r} was first and settled it as {verdict} at {_time(first.at)}"
    return f"it is {facts.status.value} already, without an operator's word"


def _in_flight(facts: StuckFacts) -> str | None:
    flying = [send for send in facts.sends if send.outcome is None]
    ends = max((send.fenced_at + IN_FLIGHT for send in flying), default=facts.now)
    if ends <= facts.now or facts.in_database:
        return None
    return f"send {flying[-1].n} may still be under way; wait {_wait(ends, facts.now)}"


def _not_executed(facts: StuckFacts) -> str | None:
    if facts.in_database:
        return "its effect is in our own database and would stand there: nothing was done"
    if not facts.doubtful and facts.frozen_at is None:
        return "nothing was sent for it"
    return None


def _not_failed(facts: StuckFacts) -> str | None:
    if facts.in_database or (not facts.doubtful and facts.frozen_at is None):
        return None  # made true by the lock: no fence passes afterwards
    return _seen_at_provider(facts) or _not_absent_yet(facts)


def _seen_at_provider(facts: StuckFacts) -> str | None:
    """Something under our key, equal or not: it is not "nothing"."""
    found = [look for look in facts.looks if look.presence is Presence.FOUND]
    if found:
        return f"the provider has something under its key, found at {_time(found[-1].at)}"
    said = {Outcome.CREATED: "did it", Outcome.CONFLICT: "has something else under its key"}
    for send in facts.sends:
        if send.outcome in said:
            return f"the provider answered to send {send.n} that it {said[send.outcome]}"
    return None


def _not_absent_yet(facts: StuckFacts) -> str | None:
    lag = facts.rules.lookup_lag if facts.rules else LAG_UNKNOWN
    last = max(
        [send.fenced_at for send in facts.doubtful] + ([facts.frozen_at] if facts.frozen_at else [])
    )
    after = last + lag
    if facts.now < after:
        unknown = "" if facts.rules else " (the gateway cannot be built here, so a day is assumed)"
        return (
            f"a look-up may not show it yet{unknown}; wait {_wait(after, facts.now)}, then look "
            f"{ABSENTS} times, {_seconds(LOOKS_APART)} apart"
        )
    absent = [
        look.at for look in facts.looks if look.presence is Presence.ABSENT and look.at >= after
    ]
    if len(absent) >= ABSENTS and max(absent) - min(absent) >= LOOKS_APART:
        return None
    return (
        f"since {_time(after)} it needs {ABSENTS} look-ups, {_seconds(LOOKS_APART)} apart, that "
        f"found nothing; there are {len(absent)} (--look makes one)"
    )


def _resend(facts: StuckFacts, as_send: int) -> Ruling:
    refused = (
        _never_again(facts)
        or _other_number(facts, as_send)
        or _too_old(facts)
        or _seen_at_provider(facts)
        or _not_absent_yet(facts)
    )
    if refused is not None:
        return Ruling(refused=refused)
    assert facts.rules is not None
    return Ruling(
        valid_until=min(
            facts.now + RESEND_FRESH,
            facts.confirmed_at + RESEND_AFTER_CLICK,
            facts.sends[0].fenced_at + facts.rules.resend_within,
        )
    )


def _never_again(facts: StuckFacts) -> str | None:
    if facts.in_database:
        return "its effect is in our own database: there is nothing to send"
    if facts.frozen_at is not None:
        return "the database came back from a backup and may have forgotten sends"
    if not facts.doubtful:
        return "no send is in doubt: workers try by themselves while it is fresh"
    if any(send.outcome is Outcome.IN_PROGRESS for send in facts.sends):
        return "the provider answered that it works on it"
    if facts.rules is None:
        return "the account's gateway cannot be built here, so nobody knows whether a repeat is one"
    if not facts.rules.resend_after_absent or not facts.rules.resend_within:
        return "its provider does not promise to recognise a repeat of this operation"
    return None


def _other_number(facts: StuckFacts, as_send: int) -> str | None:
    asked = next(
        (w for w in facts.words if w.verdict is Verdict.RESEND and w.as_send == as_send), None
    )
    by = f"; {asked.operator!r} asked for it at {_time(asked.at)}" if asked else ""
    if as_send < facts.next_send:
        made = next(send.fenced_at for send in facts.sends if send.n == as_send)
        return f"send {as_send} was made at {_time(made)}{by}; the next is {facts.next_send}"
    if as_send > facts.next_send:
        return f"the next send is {facts.next_send}, not {as_send}"
    if asked is not None:
        return f"{asked.operator!r} was first and asked for send {as_send} at {_time(asked.at)}"
    return None


def _too_old(facts: StuckFacts) -> str | None:
    assert facts.rules is not None
    if facts.now >= facts.confirmed_at + RESEND_AFTER_CLICK:
        minutes = int(RESEND_AFTER_CLICK.total_seconds() // 60)
        return f"the person clicked at {_time(facts.confirmed_at)}, over {minutes} minutes ago"
    if facts.now >= facts.sends[0].fenced_at + facts.rules.resend_within:
        return "its provider may have forgotten the key by now: a repeat could be a second effect"
    return None


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


def _wait(until: datetime, now: datetime) -> str:
    return _seconds(until - now)


def _seconds(span: timedelta) -> str:
    return f"{int(-(-span.total_seconds() // 1))} s"
