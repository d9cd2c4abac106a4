"""What must hold after every step, whoever was right about the rules: counted at the far side and
read from rows, without the model.

Each promise that is broken raises `BrokenPromiseError` with its name.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from domain.actions import TRANSITIONS, Status
from tests.integration.store.far_side import BrokenPromiseError, FarSide, promise
from tests.integration.store.steps import moment

__all__ = ["BrokenPromiseError", "Row", "check", "promise"]

GRACE = timedelta(seconds=60)
LOOK_FOR, LONGEST_SILENCE = timedelta(hours=24), timedelta(minutes=61)
NO_EFFECT = {"pending", "failed", "cancelled", "expired", "superseded"}

Row = Mapping[str, Any]


def check(far: FarSide, rows: Iterable[Row], before: Mapping[str, Row], now: int) -> None:
    """All promises over the rows as they stand now and as they stood before the step."""
    rows = list(rows)
    _once(far)
    _one_lives(far, rows)
    for row in rows:
        _only_by_a_decision(far, row)
        _no_false_end(far, row)
        _never_hidden(row, now)
        if (old := before.get(row["id"])) is not None:
            _legal(old, row)
            _words_count(far, old, row)


def _once(far: FarSide) -> None:
    for action, count in Counter(far.effects).items():
        promise("at most one effect an action", kept=count == 1, detail=(action, count))
    keys = Counter(far.known[one].key for one in far.effects if far.known[one].unique)
    promise("at most one effect a business key", kept=set(keys.values()) <= {1}, detail=keys)


def _one_lives(far: FarSide, rows: list[Row]) -> None:
    """Before any effect: what makes sense once lives once, in whichever conversation; and nothing
    executes twice at a time."""
    live = [row for row in rows if row["status"] in {"executing", "executed"}]
    once = Counter(far.known[row["id"]].key for row in live if far.known[row["id"]].unique)
    promise("one live action a business key", kept=set(once.values()) <= {1}, detail=once)
    now = Counter(far.known[row["id"]].key for row in live if row["status"] == "executing")
    promise("nothing executes twice at a time", kept=set(now.values()) <= {1}, detail=now)


def _only_by_a_decision(far: FarSide, row: Row) -> None:
    known, pressed = far.known[row["id"]], far.pressed.get(row["id"], [])
    decided = row["status"] in {"executing", "executed"} or row["id"] in far.effects
    valid = [
        one
        for one in pressed
        if one.right and one.verdict == "confirm" and one.at < known.expires_at
    ]
    kept = bool(valid) or known.direct or not decided
    promise("no act without a decision", kept=kept, detail=row["id"])
    cancelled = [one for one in pressed if one.right and one.while_pending]
    cancelled = [one for one in cancelled if one.verdict == "cancel"]
    promise("a stored Cancel wins", kept=not (cancelled and decided), detail=row["id"])
    since = row["executing_since"]
    kept = known.direct or since is None or since < moment(known.expires_at) + GRACE
    promise("decided within the grace", kept=kept, detail=(row["id"], since))


def _no_false_end(far: FarSide, row: Row) -> None:
    if row["status"] not in NO_EFFECT:
        return
    promise(
        "no effect once the row says that there is none",
        kept=row["id"] not in far.effects,
        detail=(row["id"], row["status"]),
    )
    trips = [trip for trip in far.trips_of(row["id"]) if trip.may_act]
    promise("no end while a send is under way", kept=not trips, detail=(row["status"], trips))


def _words_count(far: FarSide, old: Row, row: Row) -> None:
    """Beside a send in doubt only an operator's word ends an action as failed, or the provider's
    own: what was not proved not sent may have been sent."""
    if row["status"] != "failed" or old["status"] == "failed":
        return
    doubtful = any(outcome != "not_sent" for _n, _attempt, outcome in row["sends"])
    by_word = any(verdict == "failed" for _action, verdict in far.words if _action == row["id"])
    by_provider = row["reason"] == "rejected"
    promise(
        "failed beside a send in doubt only by an operator's or the provider's word",
        kept=not doubtful or by_word or by_provider,
        detail=dict(row),
    )


def _never_hidden(row: Row, now: int) -> None:
    """Whatever is not done is rung for, within the hour; but for an outcome that is unknown for a
    day, which only an operator can settle."""
    rings = row["ring_at"] is not None
    over = row["status"] not in {"pending", "executing"}
    promise("nothing stuck is unlisted", kept=rings or over or _rests(row, now), detail=dict(row))
    promise("what is over is not rung for", kept=not (over and rings), detail=dict(row))
    soon = not rings or row["ring_at"] <= moment(now) + LONGEST_SILENCE
    promise("rung for within the hour", kept=soon, detail=dict(row))
    for verdict, answered, _followed, _refusal, _as_send, listed in row["decisions"]:
        promise(
            "a decision is answered or rung for",
            kept=answered != listed,
            detail=(row["id"], verdict),
        )


def in_doubt(row: Row) -> bool:
    """Something may have been sent for it, as far as its rows say, or they may have forgotten."""
    return row["frozen_at"] is not None or any(
        outcome != "not_sent" for _n, _attempt, outcome in row["sends"]
    )


def _rests(row: Row, now: int) -> bool:
    since = row["executing_since"]
    if since is None or not in_doubt(row):
        return False
    looked_since: Any = max(since, row["frozen_at"] or since)
    return bool(moment(now) >= looked_since + LOOK_FOR)


def _legal(old: Row, row: Row) -> None:
    before, after = Status(old["status"]), Status(row["status"])
    legal = before is after or after in TRANSITIONS[before]
    promise("legal transitions", kept=legal, detail=(row["id"], before, after))
    promise(
        "a change moves facts_seq",
        kept=before is after or row["facts_seq"] > old["facts_seq"],
        detail=row["id"],
    )
    promise("facts_seq only grows", kept=row["facts_seq"] >= old["facts_seq"], detail=row["id"])
    written = [(n, outcome) for n, _attempt, outcome in old["sends"] if outcome is not None]
    now_written = {n: outcome for n, _attempt, outcome in row["sends"]}
    for n, outcome in written:
        kept = now_written.get(n) == outcome or (outcome, now_written[n]) == ("rejected", "unknown")
        promise("what a send proved stays written", kept=kept, detail=(row["id"], n))
