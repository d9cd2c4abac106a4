"""Two steps at the same moment, on two connections that really commit.

The first step is held before its n-th statement while the second runs until it is done or waits for
a lock of the first. Together they must come to what one after the other would have come to; and
what was done before the first took the action's row must have been seen by it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from store.connection import Connection
from tests.integration.store.beginnings import PEOPLE, STUCK, WORKERS, Everything
from tests.integration.store.bench import Bench, Seat
from tests.integration.store.drawing import rule, rules_of
from tests.integration.store.far_side import promise
from tests.integration.store.machine_base import Nth, Step
from tests.integration.store.model_data import ModelAction
from tests.integration.store.promises import Row
from tests.integration.store.steps import Cast, set_clock
from tests.integration.store.steps_effects import AllSteps

LOCK = "FROM actions WHERE id = $1 FOR UPDATE"
FORGET = """
UPDATE conversations SET closed_at = clock_timestamp() WHERE closed_at IS NULL;
UPDATE members SET active = true WHERE NOT active;
UPDATE inbox SET ring_at = NULL WHERE ring_at IS NOT NULL;
UPDATE outbox SET ring_at = NULL WHERE ring_at IS NOT NULL;
UPDATE actions SET ring_at = NULL WHERE ring_at IS NOT NULL;
UPDATE decisions SET ring_at = NULL WHERE ring_at IS NOT NULL;
"""

WORDS = ["failed", "executed", "resend"]
Workers = ["decide", "decide", "open", "fence", "close"]
Speakers = ["confirm", "cancel", "burst"]
Words = ["failed", "executed", "resend", "resend"]
Places = range(1, 10)
"""Before which statement of the first the second begins."""

BEGINNINGS = {**PEOPLE, **WORKERS, **STUCK}
Decided = ["pressed", "yes_waits", "both_pressed", "both_pressed", "one_of_two_acts", "decided"]
Sending = ["reopened", "fenced", "not_sent", "unknown", "direct", "in_database"]
Settled = ["worker_died", "looked_twice", "looked_twice", "resend_ordered", "resend_opened"]


class CommittingSeat(Seat):
    """All that is written stays; the next example meets no open conversation of this one and hears
    no bell."""

    async def back(self) -> None:
        """Forget by closing."""
        await self.connection.execute(FORGET)


@dataclass
class TwoConnections(Bench):
    """A second connection, and a third that watches the two."""

    second: Connection = field(init=False)
    watcher: Connection = field(init=False)
    overlaps: int = 0
    waited: int = 0

    def open(self) -> None:
        """Take one seat, and connect the other two."""
        connection = self.connect()
        seat = CommittingSeat("two", connection, AllSteps(Cast(0)))
        self.seats, self.second, self.watcher = {"two": seat}, self.connect(), self.connect()


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
        found = getattr(self._connection, name)
        if name not in {"fetch", "fetchrow", "fetchval", "execute"}:
            return found

        async def run(query: str, *values: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                await self._meanwhile()
            result = await found(query, *values)
            self.locked = self.locked or query.rstrip().endswith(LOCK)
            return result

        return run


class OverlapMachine(Everything):
    """Two steps at once, and what leads there."""

    bench: TwoConnections
    beginnings: ClassVar[Sequence[str]] = (*Decided, *Sending, *Settled)
    weights: ClassVar[dict[str, int]] = {
        **dict.fromkeys(rules_of(Everything), 0),
        **dict.fromkeys(["propose", "click", "decide", "time_passes", "confirm", "work"], 1),
        **dict.fromkeys(["stall", "write", "phone"], 1),
        **dict.fromkeys(["speak_meanwhile", "work_meanwhile"], 3),
        **dict.fromkeys(["settle_meanwhile", "elsewhere_meanwhile"], 3),
    }

    def begin(self, so_far: str) -> None:
        """In the midst of an action's life, reached anew: what is committed cannot be rolled
        back."""
        seat = self.bench.seats["two"]
        seat.steps = AllSteps(seat.steps.cast)
        self.sit(seat)
        self.set_clock(0)
        BEGINNINGS[so_far](self)
        self.far.reached.clear()
        self.trace = [(so_far,)]

    def set_clock(self, at: int) -> None:
        super().set_clock(at)
        for connection in (self.bench.second, self.bench.watcher):
            self.bench.run(set_clock(connection, at))

    @rule(when=Everything.has_actions, nth=Nth, first=Workers + Words, second=Speakers, at=Places)
    def speak_meanwhile(self, nth: int, first: str, second: str, at: int) -> None:
        """A press or a typed yes in the midst of a step with the same action."""
        action = self.pick(nth)
        self._meanwhile(self._step(first, action), self._step(second, action), at)

    @rule(when=Everything.has_actions, nth=Nth, first=Workers, second=Workers + Words, at=Places)
    def work_meanwhile(self, nth: int, first: str, second: str, at: int) -> None:
        """Two workers, or a worker and an operator, with the same action."""
        action = self.pick(nth)
        self._meanwhile(self._step(first, action), self._step(second, action), at)

    @rule(
        when=Everything.has_actions, nth=Nth, first=Words, second=Workers + Words + Words, at=Places
    )
    def settle_meanwhile(self, nth: int, first: str, second: str, at: int) -> None:
        """Two operators, or an operator and a worker, with the same action."""
        action = self.pick(nth)
        self._meanwhile(self._step(first, action), self._step(second, action, by="bruno"), at)

    @rule(
        when=lambda self: len(self.model.actions) > 1,
        first=["decide", "decide", "open", "close"],
        at=Places,
    )
    def elsewhere_meanwhile(self, first: str, at: int) -> None:
        """*decide* on one action in the midst of a step with another one, of another conversation
        perhaps, that may want the same."""
        self._meanwhile(self._step(first, self.pick(0)), self._step("decide", self.pick(1)), at)

    def _meanwhile(self, one: Step | None, two: Step | None, at: int) -> None:
        if one is None or two is None:
            return
        self._at_once(one, two, at)
        self.check()

    def _at_once(self, one: Step, two: Step, at: int) -> None:
        got_one, got_two, must_be_seen = self.bench.run(self._overlap(one, two, at))
        answers = {id(one): got_one, id(two): got_two}
        orders = [[two, one]] if must_be_seen else [[one, two], [two, one]]
        rows = self.bench.run(self.read())
        order = next((each for each in orders if self._agrees(each, answers, rows)), None)
        promise(
            "two at once come to what one after the other would",
            kept=order is not None,
            detail=(one.name, two.name, at, got_one, got_two, must_be_seen, rows),
        )
        for step in order or []:
            step.pure(self.model)
            step.note(answers[id(step)])
        self.count(f"{one.name} beside {two.name}", *one.about, *two.about, at)

    def _agrees(self, order: list[Step], answers: dict[int, Any], rows: list[Row]) -> bool:
        before, self.world.model = self.model, deepcopy(self.model)
        try:
            same = all(step.pure(self.model) == answers[id(step)] for step in order)
            return same and all(self.agrees(row) for row in rows)
        finally:
            self.world.model = before

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

    def _step(self, name: str, action: ModelAction, *, by: str = "ana") -> Step | None:
        if name in {"confirm", "cancel"}:
            return self.click_step(action, name, "right")
        if name == "burst":
            return self.burst_step(action.conversation)
        if name in WORDS:
            return self.word_step(action, name, 0, by, "knows keys")
        if name == "decide":
            return self.decide_step(action)
        if name == "open":
            return self.open_step(action)
        if action.id not in self.far.attempts:
            return None
        if name == "close":
            return self.close_step(action)
        return self.send_step(action, -1) if action.effect == "provider" else None
