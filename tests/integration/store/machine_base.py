"""One step in two worlds: the real store on PostgreSQL, the model without; compared, and then the
promises.

An example begins where an action stands in the midst of its life. That beginning was made once, in
an open transaction of its own connection (a *seat*), and the example is a savepoint on it that is
rolled back: no disk, no trace, and no time for the way there. What two connections do to each other
is the business of `machine_overlap.py`.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar, cast

from store import audit
from store.connection import Connection
from tests.integration.store import promises
from tests.integration.store.bench import Bench, Seat
from tests.integration.store.far_side import FarSide, promise
from tests.integration.store.model import Model
from tests.integration.store.model_data import ModelAction
from tests.integration.store.promises import Row
from tests.integration.store.steps import ROWS, OpenTurn, Wanted, microseconds, set_clock
from tests.integration.store.steps_effects import AllSteps

T = TypeVar("T")
Nth = [0, 0, 0, 1, 1, 2, 3]
"""Which of several, open and new ones first; modulo their number."""


def nothing(_got: Any) -> None:
    """The far side does not notice."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step in both worlds. `about` says with what, for the count of different sequences; `note`
    tells the far side of its answer."""

    name: str
    about: tuple[object, ...]
    real: Callable[[Connection], Awaitable[Any]]
    pure: Callable[[Model], Any]
    note: Callable[[Any], None] = nothing


@dataclass(frozen=True)
class Look:
    """What somebody saw and has not written yet; `send`: the latest in doubt when he looked."""

    action: str
    seen: str
    at: int
    send: int | None


@dataclass
class World:
    """All that an example changes outside of the database."""

    model: Model = field(default_factory=Model)
    far: FarSide = field(default_factory=FarSide)
    rows: dict[str, Row] = field(default_factory=dict)
    turns: dict[str, OpenTurn] = field(default_factory=dict)
    done_turns: list[tuple[OpenTurn, Wanted]] = field(default_factory=list)
    looks: list["Look"] = field(default_factory=list)
    troubled: bool = False


class BaseMachine:
    """A machine without rules, at a bench."""

    beginnings: ClassVar[Sequence[str]] = ()
    weights: ClassVar[dict[str, int]] = {}

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.trace: list[tuple[object, ...]] = []
        self.world = World()

    def begin(self, so_far: str) -> None:
        """Sit down where the seat's transaction stands."""
        self.sit(self.bench.seats[so_far])

    def sit(self, seat: Seat) -> None:
        """Begin where the seat's transaction stands."""
        self.db: Connection = self.bench.through(seat.connection)
        self.seat = seat
        self.steps = cast(AllSteps, seat.steps)
        if seat.world is not None:
            known = cast(World, seat.world)
            self.world = deepcopy(World(**{**known.__dict__, "rows": {}}))
            self.world.rows = dict(known.rows)
            self.far.reached.clear()
            self.trace = [(seat.name,)]

    @property
    def model(self) -> Model:
        return self.world.model

    @property
    def far(self) -> FarSide:
        return self.world.far

    @property
    def now(self) -> int:
        """By the clock of all."""
        return self.world.model.now

    def forget(self) -> None:
        """Roll the example back."""
        self.bench.run(self.seat.back())

    # -- one step

    def take(self, step: Step) -> Any:
        """Take the step in both worlds, compare, and check the promises."""
        got = self.bench.run(step.real(self.db))
        self._same(step, got)
        step.note(got)
        self.count(step.name, *step.about)
        self.check()
        return got

    def _same(self, step: Step, got: object) -> None:
        if self.bench.compare:
            self.compare(f"what {step.name} answered", got, step.pure(self.model))
            return
        with suppress(LookupError):  # what a broken product did, the model has never heard of
            step.pure(self.model)

    def count(self, name: str, *about: object) -> None:
        """For the report at the end."""
        self.trace.append((name, *about))
        self.bench.visited[name] += 1

    def compare(self, what: str, got: object, expected: object) -> None:
        """Fail unless product and model agree."""
        if self.bench.compare:
            promise(f"the model: {what}", kept=got == expected, detail=(got, expected))

    def check(self) -> None:
        """Rows against the model, promises against rows and the far side."""
        rows = {row["id"]: row for row in self.bench.run(self.read())}
        if self.bench.compare:
            for action in self.model.actions.values():
                self.compare(f"row {action.id}", _seen(rows[action.id]), self._expected(action))
        promises.check(self.far, rows.values(), self.world.rows, self.now)
        self.world.rows = rows

    def check_evidence(self) -> None:
        """The chain of each action; a broken one stays broken, so the end is early enough."""
        for action_id in self.world.rows:
            broken = self.bench.run(audit.broken_links(self.db, action_id))
            promise("the chain of evidence holds", kept=broken == [], detail=(action_id, broken))

    def agrees(self, row: Row) -> bool:
        """Whether the model says the same of this action."""
        action = self.model.actions.get(row["id"])
        return action is not None and _seen(row) == self._expected(action)

    async def read(self) -> list[Row]:
        """The actions of the example as they stand."""
        return cast("list[Row]", await self.db.fetch(ROWS, list(self.far.known)))

    def _expected(self, action: ModelAction) -> dict[str, Any]:
        return {
            "status": action.status,
            "reason": action.reason,
            "attempt": action.attempt,
            "since": action.since,
            "frozen": action.frozen_at,
            "looks": action.looks,
            "look_at": action.look_at,
            "told": action.told,
            "facts": self.model.facts[action.conversation],
            "decisions": [
                [one.verdict, one.answered, one.followed, one.refusal, one.as_send]
                for one in action.decisions
            ],
            "sends": [[one.n, one.attempt, one.outcome] for one in action.sends],
        }

    def set_clock(self, at: int) -> None:
        """Move the clock of both worlds."""
        self.model.now = at
        self.bench.run(set_clock(self.db, at))

    # -- choosing

    @property
    def actions(self) -> list[ModelAction]:
        """All actions, the open ones first, then the newest."""
        newest = reversed(self.model.actions.values())
        return sorted(newest, key=lambda one: one.over)

    def pick(self, nth: int) -> ModelAction:
        """One of them."""
        return self.actions[nth % len(self.actions)]

    def number(self, action_id: str) -> int:
        """The same name for the same action in every run."""
        return list(self.far.known).index(action_id)

    def has_actions(self) -> bool:
        return bool(self.model.actions)

    def has_attempts(self) -> bool:
        return bool(self.far.attempts)

    def has_trips(self) -> bool:
        return bool(self.far.trips)


def _seen(row: Row) -> dict[str, Any]:
    since, look_at, frozen_at = row["executing_since"], row["look_at"], row["frozen_at"]
    return {
        "status": row["status"],
        "reason": row["reason"],
        "attempt": row["attempt"],
        "since": None if since is None else microseconds(since),
        "frozen": None if frozen_at is None else microseconds(frozen_at),
        "looks": row["looks"],
        "look_at": None if look_at is None else microseconds(look_at),
        "told": row["told"],
        "facts": row["facts_seq"],
        "decisions": [one[:5] for one in row["decisions"]],
        "sends": row["sends"],
    }
