"""What must hold whatever the model answered, judged by the far sides' records alone.

For each effect: one prompt that named it, one decision of the person who was sent that prompt,
after it was sent and before the deadline that it prints, and what was executed is what it shows.
For each prompt: a call of the model that counts, and asks for just that.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.integration.lying import asked, done
from tests.integration.lying.prompts import BY_WORD, Shown, is_prompt, read_prompt
from tests.integration.lying.records import (
    Answered,
    Changed,
    Delivered,
    Died,
    FarSide,
    Pressed,
    Sent,
    Trip,
    Wrote,
    promise,
)
from tests.integration.lying.yes import is_yes

ONCE = "an effect happens once"
DECIDED = "an effect has a decision of the right person, on what he was shown, in time"
SAME = "what was executed is what was shown"
CANCELLED = "a Cancel before every Confirm wins"
COUNTS = "a prompt is only shown for a call of the model that counts"
BESIDE = "text beside a call is shown to nobody"
RECEIPT = "a receipt tells of an effect that is there"
CALLS = "a turn calls the model six times at most"
OTHERS = "what is another's is neither shown nor changed"

MOST_CALLS = 6
RECEIPTS = ("Cobrança de R$", "Estorno de R$", "Transferência de R$", "Horário ", "E-mail atual")


@dataclass
class Case:
    """A prompt, in all its copies, and who may decide it."""

    shown: Shown
    number: str
    to: str
    first: int
    copies: set[str] = field(default_factory=set)
    used: bool = False


def check(far: FarSide, books: asked.Books, *, since: int = 0) -> None:
    """All promises over all records; of those before `since` nothing new can be said where a record
    is judged alone."""
    _others(far, books, since)
    _calls(far)
    if not any(isinstance(one, Sent | Trip | Changed) for one in far.records[since:]):
        return
    cases = {case.shown.action: case for case in _cases(far)}
    _only_for_calls_that_count(far, cases, books)
    for n, trip in far.of(Trip):
        if trip.acted:
            case = _decided(far, cases.get(trip.key), n, trip)
            done.check_trip(case.shown, trip, books)
    for n, change in far.of(Changed):
        _changed(far, cases, n, change)
    _receipts(far, books, since)
    _beside(far)


def _cases(far: FarSide) -> Iterator[Case]:
    cases: dict[str, Case] = {}
    for n, sent in far.of(Sent):
        if not is_prompt(sent.body):
            continue
        shown = read_prompt(sent.body, sent_at=sent.at)
        case = cases.setdefault(
            shown.action, Case(shown=shown, number=sent.number, to=sent.to, first=n)
        )
        same = (case.shown.text, case.to, case.number) == (shown.text, sent.to, sent.number)
        promise(SAME, kept=same, detail=(case, shown))
        case.copies.add(sent.wamid)
    yield from cases.values()


# -- decisions


def _decided(far: FarSide, case: Case | None, at: int, effect: object) -> Case:
    """The case of an effect; it is used up."""
    promise(DECIDED, kept=case is not None, detail=("no prompt", effect))
    assert case is not None
    promise(ONCE, kept=not case.used, detail=(case, effect))
    case.used = True
    first = next((n for n in valid_confirms(far, case) if n < at), None)
    promise(DECIDED, kept=first is not None, detail=(case, effect, _pressed(far, case)))
    assert first is not None
    earlier = [n for n in _cancels(far, case) if n < first]
    promise(CANCELLED, kept=not earlier, detail=(case, effect))
    return case


def valid_confirms(far: FarSide, case: Case) -> list[int]:
    """Where the right person confirmed, after it was sent and before its deadline."""
    button = f"pa:confirm:{case.shown.action}"
    presses = [n for n, one in _presses(far, case, button) if _in_time(case, one.at)]
    return sorted([*presses, *_words(far, case)])


def _presses(far: FarSide, case: Case, button: str) -> list[tuple[int, Pressed]]:
    """The right person's, after it was sent; one that names a message names a copy of it."""
    return [
        (n, one)
        for n, one in far.of(Pressed)
        if one.button == button
        and _is_his(case, one)
        and n > case.first
        and (one.under is None or one.under in case.copies)
    ]


def _cancels(far: FarSide, case: Case) -> list[int]:
    return [n for n, _ in _presses(far, case, f"pa:cancel:{case.shown.action}")]


def _pressed(far: FarSide, case: Case) -> list[Pressed]:
    return [one for _, one in far.of(Pressed) if one.button.endswith(case.shown.action)]


def _is_his(case: Case, one: Pressed | Wrote | Sent) -> bool:
    by = one.to if isinstance(one, Sent) else one.by
    return (one.number, by) == (case.number, case.to)


def _in_time(case: Case, at: datetime) -> bool:
    return at < case.shown.until


def _words(far: FarSide, case: Case) -> list[int]:
    """Typed yeses that leave one reading: after the prompt was there, and nothing in between."""
    if case.shown.title not in BY_WORD:
        return []
    return [
        n
        for n, one in far.of(Wrote)
        if _is_his(case, one)
        and one.plain
        and is_yes(one.text)
        and _in_time(case, one.at)
        and _alone_after(far, case, n)
        and _was_there(far, case, one.at)
    ]


def _alone_after(far: FarSide, case: Case, word: int) -> bool:
    """Since the prompt nothing else went either way."""
    between = [
        one
        for one in far.records[case.first : word]
        if isinstance(one, Pressed | Wrote | Sent) and _is_his(case, one)
    ]
    return word > case.first and all(
        isinstance(one, Sent) and one.wamid in case.copies for one in between
    )


def _was_there(far: FarSide, case: Case, word_at: datetime) -> bool:
    """The prompt had arrived, by the channel's clock of whole seconds."""
    second = word_at.replace(microsecond=0)
    return any(
        one.wamid in case.copies and one.at.replace(microsecond=0) <= second - timedelta(seconds=1)
        for _, one in far.of(Delivered)
    )


# -- the business's own books


def _changed(far: FarSide, cases: dict[str, Case], at: int, change: Changed) -> None:
    """Whose row names no action is matched by what it says."""
    if change.key is not None:
        case = _decided(far, cases.get(change.key), at, change)
        promise(SAME, kept=done.agrees(case.shown, change), detail=(case.shown, change))
        return
    fitting = [one for one in cases.values() if not one.used and done.agrees(one.shown, change)]
    decided = [one for one in fitting if any(n < at for n in valid_confirms(far, one))]
    promise(DECIDED, kept=bool(decided), detail=(change, fitting))
    _decided(far, decided[0], at, change)


# -- prompts and words


def _only_for_calls_that_count(far: FarSide, cases: dict[str, Case], books: asked.Books) -> None:
    """Each prompt has a call of its own: of an offered tool, under `tool_use`, that asks for it."""
    calls = [
        (n, one, call)
        for n, one in far.of(Answered)
        if one.stop_reason == "tool_use"
        for call in one.calls
        if isinstance(call, dict) and call.get("name") in one.offered
    ]
    for case in cases.values():
        fitting = [
            (n, one, call)
            for n, one, call in calls
            if n < case.first
            and (one.number, one.by) == (case.number, case.to)
            and asked.asks_for(call, case.shown, books)
        ]
        promise(COUNTS, kept=bool(fitting), detail=(case, calls[-3:]))
        calls.remove(fitting[-1])


def _receipts(far: FarSide, books: asked.Books, since: int) -> None:
    """What a template says was done, was done: by then the far side had it."""
    for n, sent in far.of(Sent):
        if n < since:
            continue
        key: str = sent.body.get("biz_opaque_callback_data", "")
        text = str(sent.body.get("text", {}).get("body", ""))
        if not key.startswith("action:") or not text.startswith(RECEIPTS):
            continue
        before = far.records[:n] if books.read_at_once else far.records
        there = any(
            isinstance(one, Trip) and one.acted and one.key in key for one in far.records[:n]
        )
        there = there or any(isinstance(one, Changed) for one in before)
        promise(RECEIPT, kept=there, detail=sent)


def _calls(far: FarSide) -> None:
    """Six, and one more for each answer that died with its worker. Whatever has no stop reason is a
    failed call, which is tried again like any."""
    most, turns = MOST_CALLS + sum(1 for _ in far.of(Died)), Counter[str]()
    for _, one in far.of(Answered):
        turns[one.turn] += one.stop_reason is not None
        promise(CALLS, kept=turns[one.turn] <= most or not one.turn, detail=one)


def _beside(far: FarSide) -> None:
    for _, sent in far.of(Sent):
        text = str(sent.body.get("text", {}).get("body", ""))
        promise(BESIDE, kept=asked.BESIDE_A_CALL not in text, detail=sent)


def _others(far: FarSide, books: asked.Books, since: int) -> None:
    """Secrets of an account stand in no request and no message of another's conversations."""
    for one in far.records[since:]:
        if not isinstance(one, Answered):
            continue
        found = [word for word in books.secrets_from(one.number, one.by) if word in one.request]
        promise(OTHERS, kept=not found, detail=(found, one))
    for n, sent in far.of(Sent):
        if n < since:
            continue
        text = str(sent.body)
        found = [word for word in books.secrets_from(sent.number, sent.to) if word in text]
        promise(OTHERS, kept=not found, detail=(found, sent))
