"""What an operator's word may do to a stuck action, and what no wording of it may do.

The table names each refusal by a word of its reason; the properties are stated from the outside.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.actions import Status, Verdict
from domain.outcomes import Outcome, Presence
from domain.settling import (
    IN_FLIGHT,
    LAG_UNKNOWN,
    LOOKS_APART,
    RESEND_AFTER_CLICK,
    RESEND_FRESH,
    FirstWord,
    Look,
    ProviderRules,
    StuckFacts,
    Trip,
    Wish,
    rule,
)
from store.next_step import FRESH, LOOK_FOR
from workflows import options

CLICK = datetime(2026, 3, 11, 14, 0, tzinfo=UTC)
SENT = CLICK + timedelta(seconds=2)
LAG = timedelta(seconds=60)
RULES = ProviderRules(lookup_lag=LAG, resend_within=timedelta(hours=23), resend_after_absent=True)
UNKNOWN = Trip(n=1, fenced_at=SENT, outcome=Outcome.UNKNOWN)
TICK = timedelta(microseconds=1)

EXECUTED = Wish(verdict=Verdict.EXECUTED)
FAILED = Wish(verdict=Verdict.FAILED)
SECOND = Wish(verdict=Verdict.RESEND, as_send=2)


def looks(*seconds: float, presence: Presence = Presence.ABSENT) -> list[Look]:
    """Looks so many seconds after the lag of the first send was over."""
    return [Look(at=SENT + LAG + timedelta(seconds=one), presence=presence) for one in seconds]


STUCK = StuckFacts(
    status=Status.EXECUTING,
    in_database=False,
    confirmed_at=CLICK,
    now=CLICK + timedelta(minutes=10),
    sends=[UNKNOWN],
    looks=looks(1, 61),
    rules=RULES,
)
"""Sent, unknown, and two looks found nothing: every word is allowed."""


@pytest.mark.parametrize("wish", [EXECUTED, FAILED, SECOND])
def test_a_stuck_action_that_two_looks_did_not_find_may_be_settled(wish: Wish) -> None:
    """The case for which the rules exist."""
    assert rule(STUCK, wish).refused is None


@pytest.mark.parametrize(
    ("wish", "facts", "because"),
    [
        (EXECUTED, {"status": Status.PENDING}, "only the person decides"),
        (FAILED, {"status": Status.EXPIRED}, "expired already"),
        (SECOND, {"status": Status.EXECUTED}, "executed already"),
        # in flight
        (EXECUTED, {"sends": [Trip(n=1, fenced_at=STUCK.now)]}, "wait 75 s"),
        (FAILED, {"sends": [Trip(n=1, fenced_at=STUCK.now - IN_FLIGHT + TICK)]}, "wait 1 s"),
        # nothing was sent, or nothing can be
        (EXECUTED, {"sends": []}, "nothing was sent"),
        (EXECUTED, {"in_database": True, "sends": []}, "own database"),
        (SECOND, {"in_database": True, "sends": []}, "own database"),
        (SECOND, {"sends": [replace(UNKNOWN, outcome=Outcome.NOT_SENT)]}, "no send is in doubt"),
        # the provider has it
        (FAILED, {"looks": looks(1, 61, presence=Presence.FOUND)}, "something under its key"),
        (SECOND, {"looks": [*looks(0, presence=Presence.FOUND), *looks(1, 61)]}, "found at"),
        (FAILED, {"sends": [replace(UNKNOWN, outcome=Outcome.CONFLICT)]}, "something else"),
        (FAILED, {"sends": [replace(UNKNOWN, outcome=Outcome.CREATED)]}, "did it"),
        (SECOND, {"sends": [replace(UNKNOWN, outcome=Outcome.IN_PROGRESS)]}, "works on it"),
        # absent, but not proved
        (FAILED, {"now": SENT + LAG - timedelta(seconds=5), "looks": []}, "wait 5 s"),
        (FAILED, {"looks": looks(-30, 1)}, "there are 1"),
        (FAILED, {"looks": looks(1, 2, 3)}, "60 s apart"),
        (FAILED, {"looks": looks(1, 61, presence=Presence.UNCERTAIN)}, "there are 0"),
        (FAILED, {"rules": None}, "a day is assumed"),
        (SECOND, {"looks": looks(1)}, "there are 1"),
        # a resend's own limits
        (SECOND, {"now": CLICK + RESEND_AFTER_CLICK}, "over 30 minutes ago"),
        (SECOND, {"rules": replace(RULES, resend_after_absent=False)}, "not promise"),
        (SECOND, {"rules": replace(RULES, resend_within=timedelta(0))}, "not promise"),
        (SECOND, {"rules": replace(RULES, resend_within=timedelta(minutes=5))}, "forgotten"),
        (SECOND, {"rules": None}, "nobody knows"),
        (SECOND, {"frozen_at": CLICK}, "backup"),
        (Wish(verdict=Verdict.RESEND, as_send=3), {}, "next send is 2"),
        (Wish(verdict=Verdict.RESEND, as_send=1), {}, "was made at"),
    ],
)
def test_each_refusal_says_why(wish: Wish, facts: dict[str, object], because: str) -> None:
    """Every rule refuses by itself, in words that an operator can act on."""
    refused = rule(replace(STUCK, **facts), wish).refused  # type: ignore[arg-type]  # by name
    assert refused is not None
    assert because in refused


@pytest.mark.parametrize("sends", [[], [replace(UNKNOWN, outcome=Outcome.NOT_SENT)]])
def test_failed_needs_no_look_where_nothing_was_sent(sends: list[Trip]) -> None:
    """The lock makes it true: no fence passes afterwards."""
    facts = replace(STUCK, sends=sends, looks=[], rules=None)
    assert rule(facts, FAILED).refused is None


def test_after_a_restore_no_row_proves_that_nothing_was_sent() -> None:
    """A backup forgets sends: failed needs looks made after it, executed needs no send."""
    frozen = replace(STUCK, sends=[], frozen_at=STUCK.now - timedelta(seconds=200))
    assert rule(frozen, EXECUTED).refused is None
    assert "there are 0" in (rule(frozen, FAILED).refused or "")
    seen = [Look(at=STUCK.now - timedelta(seconds=s), presence=Presence.ABSENT) for s in (100, 5)]
    assert rule(replace(frozen, looks=seen), FAILED).refused is None


def test_the_second_operator_is_told_who_was_first() -> None:
    """By name and time, for each verdict."""
    word = FirstWord(operator="Ana", verdict=Verdict.FAILED, at=STUCK.now)
    closed = replace(STUCK, status=Status.FAILED, words=[word])
    for wish in (EXECUTED, FAILED, SECOND):
        assert "'Ana' was first and settled it as failed" in (rule(closed, wish).refused or "")
    asked = replace(word, verdict=Verdict.RESEND, as_send=2)
    assert "'Ana' was first" in (rule(replace(STUCK, words=[asked]), SECOND).refused or "")
    sent = replace(
        STUCK, words=[asked], sends=[UNKNOWN, Trip(n=2, fenced_at=SENT, outcome=Outcome.UNKNOWN)]
    )
    assert "'Ana' asked for it" in (rule(sent, SECOND).refused or "")


def test_a_resends_right_ends_with_the_first_of_its_limits() -> None:
    """Two minutes, half an hour after the click, or the provider's key."""
    assert rule(STUCK, SECOND).valid_until == STUCK.now + RESEND_FRESH
    late = replace(STUCK, now=CLICK + RESEND_AFTER_CLICK - timedelta(seconds=10))
    assert rule(late, SECOND).valid_until == CLICK + RESEND_AFTER_CLICK
    short = replace(RULES, resend_within=timedelta(minutes=11))
    now = CLICK + timedelta(minutes=10, seconds=30)
    assert rule(replace(STUCK, rules=short, now=now), SECOND).valid_until == SENT + timedelta(
        minutes=11
    )


@pytest.mark.parametrize(
    "wish",
    [
        Wish(verdict=Verdict.CONFIRM),
        Wish(verdict=Verdict.RESEND),
        Wish(verdict=Verdict.FAILED, as_send=1),
        Wish(verdict=Verdict.RESEND, as_send=0),
    ],
)
def test_what_is_no_operators_word_is_a_bug(wish: Wish) -> None:
    """An operator never confirms for the person, and a number belongs to a resend."""
    with pytest.raises(ValueError, match=r"as_send|operator|numbered"):
        rule(STUCK, wish)


def test_the_limits_are_those_of_their_homes() -> None:
    """An attempt lives as long as its activity; a resend is as fresh as a first send; without a
    gateway a look is believed when machines stop looking."""
    assert options.EXECUTE["start_to_close_timeout"] == IN_FLIGHT
    assert FRESH == RESEND_FRESH
    assert LOOK_FOR == LAG_UNKNOWN


def _moments() -> st.SearchStrategy[datetime]:
    return st.integers(0, 7200).map(lambda seconds: CLICK + timedelta(seconds=seconds))


@st.composite
def situations(draw: st.DrawFn) -> StuckFacts:
    """Any history of an executing action, consistent or not."""
    outcomes = draw(st.lists(st.sampled_from([None, *Outcome]), max_size=3))
    seen = draw(st.lists(st.tuples(_moments(), st.sampled_from(Presence)), max_size=5))
    return StuckFacts(
        status=Status.EXECUTING,
        in_database=False,
        confirmed_at=CLICK,
        now=draw(_moments()),
        sends=[
            Trip(n=n, fenced_at=draw(_moments()), outcome=outcome)
            for n, outcome in enumerate(outcomes, start=1)
        ],
        looks=[Look(at=at, presence=presence) for at, presence in seen],
        rules=draw(st.sampled_from([None, RULES])),
        frozen_at=draw(st.none() | _moments()),
    )


@given(situations())
def test_never_failed_while_anything_may_still_turn_up(facts: StuckFacts) -> None:
    """Whatever the history: allowed means that nothing may have left us, or that two looks far
    enough apart and late enough found nothing and none ever found anything."""
    if rule(facts, FAILED).refused is not None:
        return
    doubtful = [s for s in facts.sends if s.outcome is not Outcome.NOT_SENT]
    assert all(s.outcome is not None or facts.now - s.fenced_at >= IN_FLIGHT for s in doubtful)
    if not doubtful and facts.frozen_at is None:
        return
    last = max([s.fenced_at for s in doubtful] + ([facts.frozen_at] if facts.frozen_at else []))
    lag = LAG if facts.rules else LAG_UNKNOWN
    absent = [
        look.at
        for look in facts.looks
        if look.presence is Presence.ABSENT and look.at >= last + lag
    ]
    assert max(absent) - min(absent) >= LOOKS_APART
    assert not any(look.presence is Presence.FOUND for look in facts.looks)


@given(situations(), st.integers(1, 5))
def test_a_resend_is_the_next_send_of_a_young_click(facts: StuckFacts, n: int) -> None:
    """Whatever the history: exactly the next number, within half an hour, never of a frozen one,
    and its right ends in time."""
    ruling = rule(facts, Wish(verdict=Verdict.RESEND, as_send=n))
    if ruling.refused is not None:
        assert ruling.valid_until is None
        return
    assert n == len(facts.sends) + 1
    assert facts.frozen_at is None
    assert ruling.valid_until is not None
    assert facts.now < ruling.valid_until <= CLICK + RESEND_AFTER_CLICK
    assert ruling.valid_until <= facts.now + RESEND_FRESH
