"""The rules of *decide*: what no order, no clock and no stranger can change.

The properties are stated from the outside, each by itself; none repeats the function under test.
Decisions come with `received_at` at or before `now`, as one clock read under one lock gives them.
"""

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.actions import CloseReason, Refusal, Status, Verdict
from domain.deciding import GRACE, Judgement, PendingFacts, StoredDecision, is_right_person, judge
from domain.people import Person

EXPIRES = datetime(2026, 3, 11, 14, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)
NUMBER = "100200300"
MARIA = Person(user_id="BR.1", wa_id="5511988880001")
NOT_MARIA = [
    (NUMBER, Person(user_id="BR.2", wa_id="5511988880001")),  # her phone, somebody else's account
    (NUMBER, Person(wa_id="5511988880001")),  # her phone, and the user id is missing
    (NUMBER, Person(user_id="BR.2", wa_id="5511988880002")),
    ("999", MARIA),  # she herself, on another business number
]
GOOD = PendingFacts(person=MARIA, phone_number_id=NUMBER, expires_at=EXPIRES, now=EXPIRES - TICK)


def decision(
    verdict: Verdict,
    received_at: datetime = EXPIRES - timedelta(minutes=5),
    *,
    number: str = NUMBER,
    person: Person = MARIA,
) -> StoredDecision:
    """A stored decision, of the right person unless another is given."""
    return StoredDecision(
        id=uuid.uuid4(),
        verdict=verdict,
        person=person,
        phone_number_id=number,
        received_at=received_at,
    )


def confirm(received_at: datetime = EXPIRES - timedelta(minutes=5)) -> StoredDecision:
    """A Confirm of the right person."""
    return decision(Verdict.CONFIRM, received_at)


def cancel(received_at: datetime = EXPIRES - timedelta(minutes=5)) -> StoredDecision:
    """A Cancel of the right person."""
    return decision(Verdict.CANCEL, received_at)


def shown(judgement: Judgement) -> tuple[Status | None, CloseReason | None]:
    """What became of the action, and why."""
    return judgement.after, judgement.reason


# ---------------------------------------------------------------- tables

LATE = CloseReason.CONFIRMED_TOO_LATE


@pytest.mark.parametrize(
    ("received", "now", "after", "reason"),
    [
        (None, EXPIRES - TICK, None, None),
        (None, EXPIRES, Status.EXPIRED, CloseReason.EXPIRED),
        (None, EXPIRES + GRACE, Status.EXPIRED, CloseReason.EXPIRED),
        (EXPIRES - TICK, EXPIRES - TICK, Status.EXECUTING, None),
        (EXPIRES - TICK, EXPIRES, Status.EXECUTING, None),
        (EXPIRES - TICK, EXPIRES + GRACE - TICK, Status.EXECUTING, None),
        (EXPIRES - TICK, EXPIRES + GRACE, Status.EXPIRED, LATE),
        (EXPIRES - TICK, EXPIRES + timedelta(days=3), Status.EXPIRED, LATE),
        (EXPIRES, EXPIRES, Status.EXPIRED, CloseReason.EXPIRED),
        (EXPIRES + TICK, EXPIRES + TICK, Status.EXPIRED, CloseReason.EXPIRED),
        (EXPIRES, EXPIRES + GRACE, Status.EXPIRED, CloseReason.EXPIRED),
    ],
)
def test_the_boundaries_are_exact_to_the_microsecond(
    received: datetime | None, now: datetime, after: Status | None, reason: CloseReason | None
) -> None:
    """Before `expires_at` it came in time; before `expires_at` + grace it is handled in time."""
    decisions = [] if received is None else [confirm(received)]
    assert shown(judge(replace(GOOD, now=now), decisions)) == (after, reason)


def test_the_grace_is_a_minute() -> None:
    """Long enough for a worker's outage, short enough that the confirmed world still exists."""
    assert timedelta(seconds=60) == GRACE


@pytest.mark.parametrize(
    ("facts", "after", "reason"),
    [
        ({}, Status.EXECUTING, None),
        ({"digest_ok": False}, Status.FAILED, CloseReason.DIGEST_MISMATCH),
        ({"role_ok": False}, Status.FAILED, CloseReason.ROLE_GONE),
        ({"equal_effect_live": True}, Status.FAILED, CloseReason.EQUAL_EFFECT_LIVE),
        ({"identity_changed": True}, Status.CANCELLED, CloseReason.IDENTITY_CHANGED),
        ({"prompt_failed": True}, Status.EXECUTING, None),  # who clicked has seen it
    ],
)
def test_one_bad_fact_is_enough(
    facts: dict[str, Any], after: Status, reason: CloseReason | None
) -> None:
    """A Confirm in time with everything right executes; with one thing wrong it does not."""
    assert shown(judge(replace(GOOD, **facts), [confirm()])) == (after, reason)


@pytest.mark.parametrize(
    ("facts", "after", "reason"),
    [
        ({}, None, None),
        ({"prompt_failed": True}, Status.FAILED, CloseReason.PROMPT_FAILED),
        ({"identity_changed": True}, Status.CANCELLED, CloseReason.IDENTITY_CHANGED),
        ({"digest_ok": False}, None, None),  # judged when somebody decides, not before
        ({"role_ok": False}, None, None),
        ({"equal_effect_live": True}, None, None),
    ],
)
def test_without_a_decision(
    facts: dict[str, Any], after: Status | None, reason: CloseReason | None
) -> None:
    """A failed prompt or a changed identity closes by itself; the rest waits for a decision."""
    assert shown(judge(replace(GOOD, **facts), [])) == (after, reason)


@pytest.mark.parametrize(("number", "person"), NOT_MARIA)
@pytest.mark.parametrize("verdict", [Verdict.CONFIRM, Verdict.CANCEL])
def test_a_wrong_person_decides_nothing(verdict: Verdict, number: str, person: Person) -> None:
    """Silence and no change: the action goes on waiting, the click is recorded as refused."""
    wrong = decision(verdict, number=number, person=person)
    judgement = judge(GOOD, [wrong])
    assert judgement == Judgement(refused={wrong.id: Refusal.WRONG_PERSON})


def test_the_first_confirm_is_followed_and_each_other_decision_is_answered() -> None:
    """A double click, a change of mind and a late click each have their own name."""
    first, second = confirm(), confirm()
    judgement = judge(GOOD, [first, second])
    assert judgement.followed is first
    assert judgement.refused == {second.id: Refusal.DUPLICATE}

    wish, stop, again = confirm(), cancel(), cancel()
    judgement = judge(GOOD, [wish, stop, again])
    assert judgement.followed is stop
    assert judgement.refused == {wish.id: Refusal.OVERRULED, again.id: Refusal.DUPLICATE}

    late = confirm(EXPIRES)
    judgement = judge(replace(GOOD, now=EXPIRES), [late])
    assert judgement.followed is None
    assert judgement.refused == {late.id: Refusal.LATE}


def test_a_late_confirm_stored_first_does_not_hide_one_in_time() -> None:
    """The order of the rows is not the order of the clock."""
    late, timely = confirm(EXPIRES), confirm(EXPIRES - TICK)
    judgement = judge(replace(GOOD, now=EXPIRES), [late, timely])
    assert judgement.after is Status.EXECUTING
    assert judgement.followed is timely


@pytest.mark.parametrize("verdict", [Verdict.EXECUTED, Verdict.FAILED, Verdict.RESEND])
def test_an_operators_verdict_is_no_confirm(verdict: Verdict) -> None:
    """Whatever row gets in here: only the word *confirm* confirms."""
    assert judge(GOOD, [decision(verdict)]).after is not Status.EXECUTING


# ---------------------------------------------------------------- properties

OFFSETS = st.one_of(
    st.sampled_from(
        [timedelta(minutes=-10), -TICK, timedelta(0), TICK, GRACE - TICK, GRACE, GRACE + TICK]
    ),
    st.timedeltas(min_value=timedelta(minutes=-10), max_value=timedelta(minutes=5)),
)
VERDICTS = st.sampled_from([Verdict.CONFIRM, Verdict.CANCEL])


@st.composite
def scenes(
    draw: st.DrawFn, verdicts: st.SearchStrategy[Verdict] = VERDICTS
) -> tuple[PendingFacts, list[StoredDecision]]:
    """A pending action at some moment, and what is stored for it by then, in some order."""
    now = EXPIRES + draw(OFFSETS)
    flags: dict[str, Any] = {
        name: draw(st.booleans())
        for name in ("digest_ok", "role_ok", "identity_changed", "equal_effect_live",
                     "prompt_failed")
    }  # fmt: skip
    decisions = []
    for _ in range(draw(st.integers(0, 5))):
        received = min(EXPIRES + draw(OFFSETS), now)
        number, person = draw(st.sampled_from([(NUMBER, MARIA), (NUMBER, MARIA), *NOT_MARIA]))
        decisions.append(decision(draw(verdicts), received, number=number, person=person))
    return replace(GOOD, now=now, **flags), decisions


def hers(decisions: list[StoredDecision]) -> list[StoredDecision]:
    """The decisions of Maria on the right number."""
    return [one for one in decisions if (one.phone_number_id, one.person) == (NUMBER, MARIA)]


Scene = tuple[PendingFacts, list[StoredDecision]]


@given(scenes(), st.randoms(use_true_random=False))
def test_a_stored_cancel_of_the_right_person_always_wins(scene: Scene, shuffle: Random) -> None:
    """In whatever order it came, however late, whatever else is stored and whatever the facts."""
    facts, decisions = scene
    decisions = [*decisions, cancel(min(EXPIRES, facts.now))]
    shuffle.shuffle(decisions)
    judgement = judge(facts, decisions)
    assert judgement.after is Status.CANCELLED
    if not facts.identity_changed:
        assert judgement.followed is not None
        assert judgement.followed.verdict is Verdict.CANCEL
        assert judgement.followed in hers(decisions)


@given(scenes(verdicts=st.sampled_from([Verdict.CONFIRM, Verdict.CONFIRM, Verdict.CANCEL])))
def test_executing_needs_everything_and_nothing_more(scene: Scene) -> None:
    """A Confirm of the right person received in time and handled in time, all facts good, no
    Cancel: then and only then; the first such Confirm is the one that is followed."""
    facts, decisions = scene
    timely = [
        one
        for one in hers(decisions)
        if one.verdict is Verdict.CONFIRM and one.received_at < EXPIRES
    ]
    everything = (
        bool(timely)
        and facts.now < EXPIRES + GRACE
        and facts.digest_ok
        and facts.role_ok
        and not facts.identity_changed
        and not facts.equal_effect_live
        and all(one.verdict is not Verdict.CANCEL for one in hers(decisions))
    )
    judgement = judge(facts, decisions)
    assert (judgement.after is Status.EXECUTING) == everything
    if everything:
        assert judgement.followed is timely[0]
        assert judgement.reason is None


@given(scenes(), st.lists(st.tuples(st.sampled_from(NOT_MARIA), VERDICTS, st.integers(0, 9))))
def test_a_wrong_persons_decisions_never_change_the_outcome(
    scene: Scene, strangers: list[tuple[tuple[str, Person], Verdict, int]]
) -> None:
    """With them or without them, wherever they stand: the same status, reason and winner."""
    facts, decisions = scene
    without = judge(facts, hers(decisions))
    for (number, person), verdict, place in strangers:
        wrong = decision(verdict, min(EXPIRES - TICK, facts.now), number=number, person=person)
        decisions.insert(place, wrong)
    judgement = judge(facts, decisions)
    assert (*shown(judgement), judgement.followed) == (*shown(without), without.followed)
    right = {one.id for one in hers(decisions)}
    assert {i for i, why in judgement.refused.items() if why is Refusal.WRONG_PERSON} == {
        one.id for one in decisions if one.id not in right
    }


@given(scenes())
def test_nothing_expires_before_its_deadline_and_nothing_waits_beyond(scene: Scene) -> None:
    """Expiry is at or after `expires_at`, never before; from then on nothing stays pending."""
    facts, decisions = scene
    judgement = judge(facts, decisions)
    if judgement.after is Status.EXPIRED:
        assert facts.now >= EXPIRES
    if judgement.after is None:
        assert facts.now < EXPIRES


@given(scenes())
def test_a_failed_prompt_never_passes_over_a_stored_decision(scene: Scene) -> None:
    """Who decided has seen the prompt, whatever the statuses say: the fact changes nothing then."""
    facts, decisions = scene
    failed = judge(replace(facts, prompt_failed=True), decisions)
    if hers(decisions):
        assert failed == judge(replace(facts, prompt_failed=False), decisions)
        assert failed.reason is not CloseReason.PROMPT_FAILED


@given(scenes())
def test_no_decision_is_left_without_an_answer(scene: Scene) -> None:
    """Each is followed or refused, never both, never neither: one without answer rings for ever."""
    facts, decisions = scene
    judgement = judge(facts, decisions)
    followed = {judgement.followed.id} if judgement.followed else set()
    assert followed | set(judgement.refused) == {one.id for one in decisions}
    assert not followed & set(judgement.refused)


@given(scenes(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_never_changes_the_outcome(scene: Scene, shuffle: Random) -> None:
    """It only says which of two equal decisions is the one that is followed."""
    facts, decisions = scene
    mixed = list(decisions)
    shuffle.shuffle(mixed)
    assert shown(judge(facts, mixed)) == shown(judge(facts, decisions))


@given(scenes(), OFFSETS)
def test_time_alone_never_makes_an_action_execute(scene: Scene, later: timedelta) -> None:
    """What would not execute now does not execute later on the same rows."""
    facts, decisions = scene
    after = replace(facts, now=max(facts.now, EXPIRES + later))
    if judge(facts, decisions).after is not Status.EXECUTING:
        assert judge(after, decisions).after is not Status.EXECUTING


def test_who_is_right_is_asked_of_the_frozen_person() -> None:
    """The comparison is that of the people's table, and the business number is part of it."""
    click = decision(Verdict.CONFIRM, person=Person(user_id="BR.1"))
    assert is_right_person(click, person=MARIA, phone_number_id=NUMBER)
    assert not is_right_person(click, person=MARIA, phone_number_id="999")
    assert not is_right_person(click, person=Person(wa_id="5511988880001"), phone_number_id=NUMBER)
