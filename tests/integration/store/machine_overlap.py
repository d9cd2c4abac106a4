"""Two steps at the same moment, on two connections that really commit.

The first step is held before its n-th statement while the second runs until it is done or waits for
a lock of the first. Together they must come to what one after the other would have come to; and
what was done before the first took the action's row must have been seen by it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from store.connection import Connection
from tests.integration.store.machine import ActionMachine
from tests.integration.store.machine_base import Bench, Nth
from tests.integration.store.model import Model, ModelAction
from tests.integration.store.promises import Row
from tests.integration.store.steps import clicker, set_clock

LOCK = "FROM actions WHERE id = $1 FOR UPDATE"
FORGET = """
UPDATE conversations SET closed_at = clock_timestamp() WHERE closed_at IS NULL;
UPDATE members SET active = true WHERE NOT active;
UPDATE inbox SET ring_at = NULL WHERE ring_at IS NOT NULL;
UPDATE outbox SET ring_at = NULL WHERE ring_at IS NOT NULL;
UPDATE actions SET ring_at = NULL WHERE ring_at IS NOT NULL;
UPDATE decisions SET ring_at = NULL WHERE ring_at IS NOT NULL;
"""

Real = Callable[[Connection], Awaitable[Any]]
Firsts = st.sampled_from(["decide", "decide", "open", "fence", "close"])
Clicks = st.sampled_from(["confirm", "cancel"])
Places = st.integers(1, 9)
"""Before which statement of the first the second begins."""


@dataclass
class TwoConnections(Bench):
    """A second connection, and a third that watches the two."""

    second: Connection = field(kw_only=True)
    watcher: Connection = field(kw_only=True)
    overlaps: int = 0
    waited: int = 0


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step in both worlds; `note` tells the far side of its answer."""

    name: str
    real: Real
    pure: Callable[[Model], Any]
    note: Callable[[Any], None]


class Held:
    """A connection that lets something else happen before its n-th statement."""

    def __init__(
        self, connection: Connection, *, at: int, meanwhile: Callable[[], Awaitable[None]]
    ) -> None:
        self._connection = connection
        self._left = at
        self._meanwhile = meanwhile
        self.locked = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def _run(self, method: str, query: str, *values: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            await self._meanwhile()
        result = await getattr(self._connection, method)(query, *values)
        self.locked = self.locked or query.rstrip().endswith(LOCK)
        return result

    async def fetch(self, query: str, *values: Any) -> Any:
        """As the connection."""
        return await self._run("fetch", query, *values)

    async def fetchrow(self, query: str, *values: Any) -> Any:
        """As the connection."""
        return await self._run("fetchrow", query, *values)

    async def fetchval(self, query: str, *values: Any) -> Any:
        """As the connection."""
        return await self._run("fetchval", query, *values)

    async def execute(self, query: str, *values: Any) -> Any:
        """As the connection."""
        return await self._run("execute", query, *values)


class OverlapMachine(ActionMachine):
    """All rules of one connection, and two steps at once."""

    bench: ClassVar[TwoConnections]

    def begin(self) -> None:
        """All that is written stays."""
        self._clock(0)

    def _clock(self, at: int) -> None:
        for connection in (self.db, self.bench.second, self.bench.watcher):
            self.bench.run(set_clock(connection, at))

    def _to(self, at: int) -> None:
        self._clock(at)
        super()._to(at)

    def forget(self) -> None:
        """The next example meets no open conversation and hears no bell of this one."""
        self.bench.run(self.db.execute(FORGET))

    @precondition(ActionMachine.has_actions)
    @rule(nth=Nth, first=Firsts, second=Clicks, at=Places)
    def click_meanwhile(self, nth: int, first: str, second: str, at: int) -> None:
        """A click in the midst of a step with the same action."""
        self._meanwhile(nth, first, second, at)

    @precondition(ActionMachine.has_actions)
    @rule(nth=Nth, first=Firsts, second=Firsts, at=Places)
    def work_meanwhile(self, nth: int, first: str, second: str, at: int) -> None:
        """Two workers with the same action, the second begun in the midst of the first."""
        self._meanwhile(nth, first, second, at)

    def _meanwhile(self, nth: int, first: str, second: str, at: int) -> None:
        action = self.pick(nth)
        one, two = self._step(first, action), self._step(second, action)
        if one is None or two is None:
            return
        with self.unbroken():
            self._at_once(one, two, at)
        self.check()

    def _at_once(self, one: Step, two: Step, at: int) -> None:
        got_one, got_two, must_be_seen = self.bench.run(self._overlap(one, two, at))
        answers = {id(one): got_one, id(two): got_two}
        orders = [[two, one]] if must_be_seen else [[one, two], [two, one]]
        rows = self.bench.run(self._read())
        for order in orders:
            if self._agrees(order, answers, rows):
                break
        else:
            self.promise(
                "two at once come to what one after the other would",
                kept=False,
                detail=(one.name, two.name, at, got_one, got_two, must_be_seen, rows),
            )
        for step in order:
            step.note(answers[id(step)])
            step.pure(self.model)
        self.count(f"{one.name} beside {two.name}")

    def _agrees(self, order: list[Step], answers: dict[int, Any], rows: list[Row]) -> bool:
        before, self.model = self.model, deepcopy(self.model)
        try:
            same = all(step.pure(self.model) == answers[id(step)] for step in order)
            return same and all(self.agrees(row) for row in rows)
        finally:
            self.model = before

    async def _overlap(self, one: Step, two: Step, at: int) -> tuple[Any, Any, bool]:
        """Both answers, and whether the second was done before the first had the row."""
        running: list[asyncio.Task[Any]] = []
        must_be_seen = False

        async def meanwhile() -> None:
            nonlocal must_be_seen
            running.append(asyncio.ensure_future(two.real(self.bench.second)))
            done = await self._done_or_waiting(running[0])
            must_be_seen = done and not held.locked

        held = Held(self.db, at=at, meanwhile=meanwhile)
        try:
            got_one = await one.real(cast(Connection, held))
        except BaseException:
            for task in running:
                with suppress(Exception):
                    await task
            raise
        got_two = await (running[0] if running else two.real(self.bench.second))
        self.bench.overlaps += bool(running)
        return got_one, got_two, must_be_seen

    async def _done_or_waiting(self, task: "asyncio.Task[Any]") -> bool:
        pid = cast(Any, self.bench.second).get_server_pid()
        for _ in range(2000):
            await asyncio.wait([task], timeout=0.001)
            if task.done():
                return True
            if await self.bench.watcher.fetchval("SELECT pg_blocking_pids($1) <> '{}'", pid):
                self.bench.waited += 1
                return False
        raise AssertionError("the second step is neither done nor waits")

    def _step(self, name: str, action: ModelAction) -> Step | None:
        steps, one = self.steps, action.id
        if name in {"confirm", "cancel"}:
            person = clicker(action.conversation, "right")
            return Step(
                name=name,
                real=lambda db: steps.click(db, one, name, person),
                pure=lambda model: model.click(one, name, right=True),
                note=lambda _got: self._pressed(self.model.actions[one], name, "right"),
            )
        if name == "decide":
            return Step(
                name=name,
                real=lambda db: steps.decide(db, one),
                pure=lambda model: model.decide(one),
                note=lambda _got: None,
            )
        if name == "open":
            return Step(
                name=name,
                real=lambda db: steps.open_attempt(db, one),
                pure=lambda model: model.open_attempt(one),
                note=lambda got: self._opened(one, got),
            )
        return self._attempted(name, action) if one in self.far.attempts else None

    def _attempted(self, name: str, action: ModelAction) -> Step | None:
        steps, one = self.steps, action.id
        if name == "close":
            return Step(
                name=name,
                real=lambda db: steps.close_unsent(db, one),
                pure=lambda model: model.close_unsent(one),
                note=lambda _got: None,
            )
        if action.effect == "database":
            return None
        which = len(self.far.attempts[one]) - 1
        attempt = self.far.attempts[one][which]
        return Step(
            name=name,
            real=lambda db: steps.fence(db, one, attempt),
            pure=lambda model: model.fence(one, attempt),
            note=lambda got: self._fenced(one, got, which),
        )
