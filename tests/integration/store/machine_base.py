"""One step in two worlds: the real store on PostgreSQL, the model without; compared, and then the
promises.

An example runs in one transaction that is rolled back at its end, so that it costs no disk and
leaves no trace; the product's own transactions are savepoints in it. What two connections do to
each other is the business of `machine_overlap.py`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar, cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from store import audit
from store.connection import Connection
from tests.integration.store.model import Model, ModelAction
from tests.integration.store.promises import FarSide, Row, promise
from tests.integration.store.steps import ROWS, OpenTurn, Steps, Wanted, microseconds, set_clock

T = TypeVar("T")
Beginnings = st.sampled_from(
    [
        "pending",
        "pressed",
        "decided",
        "opened",
        "reopened",
        "fenced",
        "fenced",
        "doubtful",
        "doubtful",
    ]
)
Nth = st.sampled_from([0, 0, 0, 1, 1, 2, 3])
"""Which of several, open and new ones first; modulo their number."""
People = st.sampled_from(["maria", "rita"])
Clickers = st.sampled_from(
    ["right", "right", "right", "stranger", "other_owner", "other_user_id", "phone_only"]
)
Keys = st.sampled_from([("a", True), ("b", True), ("c", False)])
Effects = st.sampled_from(["provider", "provider", "provider", "database"])
Moves = st.sampled_from(["1", "5", "5", "30", "61", "edge", "edge", "far edge"])
"""By so many seconds, or exactly to where a rule changes for the action."""


@dataclass
class Bench:
    """What the examples of a test share: a loop, a connection, and the counters."""

    loop: asyncio.AbstractEventLoop
    connection: Connection
    compare: bool = True
    examples: int = 0
    steps: int = 0
    visited: dict[str, int] = field(default_factory=dict)
    broken_at: int | None = None

    def run(self, work: Awaitable[T]) -> T:
        """Run one step to its end."""
        return self.loop.run_until_complete(work)


class BaseMachine(RuleBasedStateMachine):
    """A machine without rules. `bench` is set by the test that runs it."""

    bench: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self.db = self.bench.connection
        self.steps = Steps()
        self.model = Model()
        self.far = FarSide()
        self.rows: dict[str, Row] = {}
        self.turns: dict[str, OpenTurn] = {}
        self.done_turns: list[tuple[OpenTurn, Wanted]] = []
        self.looks: list[tuple[str, str]] = []
        self.broken = False
        self.troubled = False
        self.asked: set[str] = set()
        self.bench.examples += 1
        self.begin()

    def begin(self) -> None:
        """Open the transaction of the example."""
        self._example = cast(Any, self.db).transaction()
        self.bench.run(self._example.start())
        self.bench.run(set_clock(self.db, 0))

    def teardown(self) -> None:
        """Forget the example."""
        self.forget()

    def forget(self) -> None:
        """Roll the example back."""
        self.bench.run(self._example.rollback())

    # -- one step

    def step(
        self, name: str, real: Callable[[Connection], Awaitable[T]], pure: Callable[[Model], T]
    ) -> T:
        """Take the step in both worlds, compare, and check the promises."""
        with self.unbroken():
            got = self.bench.run(real(self.db))
            self.compare(f"what {name} answered", got, pure(self.model))
            self.count(name)
            self.check()
        return got

    @contextmanager
    def unbroken(self) -> Iterator[None]:
        """What breaks here is the finding; the end of the example is not tried any more."""
        try:
            yield
        except Exception:
            self.broken = True
            self.bench.broken_at = self.bench.broken_at or self.bench.examples
            raise

    def promise(self, name: str, *, kept: bool, detail: object) -> None:
        """A promise that a rule itself sees broken."""
        with self.unbroken():
            promise(name, kept=kept, detail=detail)

    def count(self, name: str) -> None:
        """For the report at the end."""
        self.bench.steps += 1
        self.bench.visited[name] = self.bench.visited.get(name, 0) + 1

    def compare(self, what: str, got: object, expected: object) -> None:
        """Fail unless product and model agree."""
        if self.bench.compare:
            promise(f"the model: {what}", kept=got == expected, detail=(got, expected))

    def check(self) -> None:
        """Rows against the model, promises against rows and the far side."""
        with self.unbroken():
            self._check()

    def _check(self) -> None:
        rows = {row["id"]: row for row in self.bench.run(self._read())}
        if self.bench.compare:
            for action in self.model.actions.values():
                self.compare(f"row {action.id}", _seen(rows[action.id]), self._expected(action))
        self.far.check(rows.values(), self.rows, self.model.now)
        moved = [one for one in rows if rows[one] != self.rows.get(one)]
        for action_id in moved:
            broken = self.bench.run(audit.broken_links(self.db, action_id))
            promise("the chain of evidence holds", kept=broken == [], detail=(action_id, broken))
        self.rows = rows

    def agrees(self, row: Row) -> bool:
        """Whether the model says the same of this action."""
        action = self.model.actions.get(row["id"])
        return action is not None and _seen(row) == self._expected(action)

    async def _read(self) -> list[Row]:
        return cast("list[Row]", await self.db.fetch(ROWS, list(self.far.known)))

    def _expected(self, action: ModelAction) -> dict[str, Any]:
        return {
            "status": action.status,
            "reason": action.reason,
            "attempt": action.attempt,
            "since": action.since,
            "looks": action.looks,
            "look_at": action.look_at if action.looks else None,
            "told": action.told,
            "facts": self.model.facts[action.conversation],
            "decisions": [
                [one.verdict, one.answered, one.followed, one.refusal] for one in action.decisions
            ],
            "sends": [[one.n, one.attempt, one.outcome] for one in action.sends],
        }

    # -- choosing

    @property
    def actions(self) -> list[ModelAction]:
        """All actions, the open ones first, then the newest."""
        newest = reversed(self.model.actions.values())
        return sorted(newest, key=lambda one: one.over)

    def pick(self, nth: int) -> ModelAction:
        """One of them."""
        return self.actions[nth % len(self.actions)]

    def has_actions(self) -> bool:
        return bool(self.model.actions)

    def has_attempts(self) -> bool:
        return bool(self.far.attempts)

    def has_trips(self) -> bool:
        return bool(self.far.trips)


def _seen(row: Row) -> dict[str, Any]:
    since, look_at = row["executing_since"], row["look_at"]
    return {
        "status": row["status"],
        "reason": row["reason"],
        "attempt": row["attempt"],
        "since": None if since is None else microseconds(since),
        "looks": row["looks"],
        "look_at": None if look_at is None else microseconds(look_at),
        "told": row["told"],
        "facts": row["facts_seq"],
        "decisions": [one[:4] for one in row["decisions"]],
        "sends": row["sends"],
    }
