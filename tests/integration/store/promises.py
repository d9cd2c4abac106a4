"""What must hold after every step, whoever was right about the rules: counted at the far side and
read from rows, without the model.

The far side stands for the worst provider there could be: it knows no keys, so that each trip that
arrives acts, and a trip that is under way may arrive at any later time unless its outcome excludes
that. Each promise that is broken raises `BrokenPromiseError` with its name.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from domain.actions import TRANSITIONS, Status
from tests.integration.store.steps import moment

GRACE = timedelta(seconds=60)
LOOK_FOR, LONGEST_SILENCE = timedelta(hours=24), timedelta(minutes=61)
NO_EFFECT = {"pending", "failed", "cancelled", "expired", "superseded"}

Row = Mapping[str, Any]


class BrokenPromiseError(AssertionError):
    """`name` says which promise."""

    def __init__(self, name: str, detail: object) -> None:
        self.name = name
        super().__init__(f"{name}: {detail}")


def promise(name: str, *, kept: bool, detail: object) -> None:
    """Raise unless it was kept."""
    if not kept:
        raise BrokenPromiseError(name, detail)


@dataclass
class Trip:
    """A send under way. `said` is the outcome that its sender has seen and will write."""

    action: str
    n: int
    acted: bool = False
    dead: bool = False
    said: str | None = None

    @property
    def may_act(self) -> bool:
        """It is still under way."""
        return not self.acted and not self.dead


@dataclass(frozen=True, kw_only=True)
class Pressed:
    """A click as the person made it."""

    verdict: str
    right: bool
    at: int
    while_pending: bool


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the test itself proposed."""

    key: str
    unique: bool
    conversation: str
    expires_at: int


@dataclass
class FarSide:
    """The world outside of the database: who pressed what, what is under way, what was done."""

    known: dict[str, Known] = field(default_factory=dict)
    pressed: dict[str, list[Pressed]] = field(default_factory=dict)
    attempts: dict[str, list[int]] = field(default_factory=dict)
    trips: list[Trip] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)

    def acts(self, trip: Trip) -> None:
        """The trip arrives: one effect."""
        assert trip.may_act
        trip.acted = True
        self.effects.append(trip.action)

    def never_acts(self, action: str) -> None:
        """The provider has its own record that this key failed."""
        for trip in self.trips:
            if trip.action == action:
                trip.dead = not trip.acted

    def opened(self, action: str, attempt: int) -> None:
        """An attempt began."""
        self.attempts.setdefault(action, []).append(attempt)

    def fenced(self, action: str, n: int, which: int) -> None:
        """A send may go: by the attempt that was opened last, and only if no earlier send may have
        acted. `which` counts the attempts from the first."""
        opened = self.attempts[action]
        promise(
            "only the newest attempt sends",
            kept=which == len(opened) - 1,
            detail=(action, which, opened),
        )
        earlier = [trip for trip in self.trips if trip.action == action]
        promise(
            "a second send only if all earlier are not_sent",
            kept=all(trip.said == "not_sent" for trip in earlier),
            detail=(action, n, earlier),
        )
        self.trips.append(Trip(action, n))

    # -- the promises

    def check(self, rows: Iterable[Row], before: Mapping[str, Row], now: int) -> None:
        """All promises over the rows as they stand now and as they stood before the step."""
        self._once()
        for row in rows:
            self._only_by_a_click(row)
            self._no_false_end(row)
            self._never_hidden(row, now)
            if (old := before.get(row["id"])) is not None:
                _legal(old, row)
        _facts_grow(rows, before)

    def _once(self) -> None:
        for action, count in Counter(self.effects).items():
            promise("at most one effect an action", kept=count == 1, detail=(action, count))
        keys = Counter(self.known[one].key for one in self.effects if self.known[one].unique)
        promise("at most one effect a business key", kept=set(keys.values()) <= {1}, detail=keys)

    def _only_by_a_click(self, row: Row) -> None:
        known, pressed = self.known[row["id"]], self.pressed.get(row["id"], [])
        decided = row["status"] in {"executing", "executed"} or row["id"] in self.effects
        valid = [
            one
            for one in pressed
            if one.right and one.verdict == "confirm" and one.at < known.expires_at
        ]
        promise("no act without a click", kept=bool(valid) or not decided, detail=row["id"])
        cancelled = [one for one in pressed if one.right and one.while_pending]
        cancelled = [one for one in cancelled if one.verdict == "cancel"]
        promise("a stored Cancel wins", kept=not (cancelled and decided), detail=row["id"])
        since = row["executing_since"]
        promise(
            "decided within the grace",
            kept=since is None or since < moment(known.expires_at) + GRACE,
            detail=(row["id"], since),
        )

    def _no_false_end(self, row: Row) -> None:
        if row["status"] not in NO_EFFECT:
            return
        promise(
            "no effect once the row says that there is none",
            kept=row["id"] not in self.effects,
            detail=(row["id"], row["status"]),
        )
        trips = [trip for trip in self.trips if trip.action == row["id"] and trip.may_act]
        promise("no end while a send is under way", kept=not trips, detail=(row["status"], trips))

    def _never_hidden(self, row: Row, now: int) -> None:
        """Whatever is not done is rung for, within the hour; but for an outcome that is unknown for
        a day, which only an operator can settle."""
        rings = row["ring_at"] is not None
        over = row["status"] not in {"pending", "executing"}
        since = row["executing_since"]
        doubtful = any(outcome != "not_sent" for _n, _attempt, outcome in row["sends"])
        rests = since is not None and doubtful and moment(now) >= since + LOOK_FOR
        promise("nothing stuck is unlisted", kept=rings or over or rests, detail=dict(row))
        promise("what is over is not rung for", kept=not (over and rings), detail=dict(row))
        soon = not rings or row["ring_at"] <= moment(now) + LONGEST_SILENCE
        promise("rung for within the hour", kept=soon, detail=dict(row))
        for verdict, answered, _followed, _refusal, listed in row["decisions"]:
            promise(
                "a decision is answered or rung for",
                kept=answered != listed,
                detail=(row["id"], verdict),
            )


def _legal(old: Row, row: Row) -> None:
    before, after = Status(old["status"]), Status(row["status"])
    legal = before is after or after in TRANSITIONS[before]
    promise("legal transitions", kept=legal, detail=(row["id"], before, after))
    promise(
        "a change moves facts_seq",
        kept=before is after or row["facts_seq"] > old["facts_seq"],
        detail=row["id"],
    )
    written = [(n, outcome) for n, _attempt, outcome in old["sends"] if outcome is not None]
    now_written = {n: outcome for n, _attempt, outcome in row["sends"]}
    for n, outcome in written:
        kept = now_written.get(n) == outcome or (outcome, now_written[n]) == ("rejected", "unknown")
        promise("what a send proved stays written", kept=kept, detail=(row["id"], n))


def _facts_grow(rows: Iterable[Row], before: Mapping[str, Row]) -> None:
    for row in rows:
        old = before.get(row["id"])
        kept = old is None or row["facts_seq"] >= old["facts_seq"]
        promise("facts_seq only grows", kept=kept, detail=row["id"])
