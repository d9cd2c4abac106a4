"""What the model's tests share: a database, a loop that is driven from synchronous code,
the seats where sequences begin, and the counters."""

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import asyncpg

from store.connection import Connection, prepare_connection
from tests.harness.databases import SEARCH_PATH, Databases
from tests.integration.store import steps
from tests.integration.store.drawing import Machine, Sequences
from tests.integration.store.steps import Cast, Steps
from tests.integration.store.steps_effects import AllSteps

T = TypeVar("T")
B = TypeVar("B", bound="Bench")
Report = Callable[[str], None]
CASTS = 64
FIRST_SEED = 20260311
FACTOR = float(os.environ.get("MODEL_FACTOR", "1"))
"""`MODEL_FACTOR=20` looks twenty times longer."""


@dataclass
class Seat:
    """A connection whose open transaction stands at a beginning, with the world that belongs."""

    name: str
    connection: "asyncpg.Connection[asyncpg.Record]"
    steps: Steps
    world: object | None = None

    async def hold(self, world: object) -> None:
        """From here on an example can go back."""
        self.world = world
        await self.connection.execute("SAVEPOINT example")

    async def back(self) -> None:
        """Forget what came after; the clock goes back as well."""
        await self.connection.execute("ROLLBACK TO SAVEPOINT example")


@dataclass
class Bench:
    """A loop, a database, the seats and the counters. `through` may wrap each connection."""

    loop: asyncio.AbstractEventLoop
    dsn: str
    compare: bool = True
    through: Callable[[Connection], Connection] = lambda connection: connection
    seats: dict[str, Seat] = field(default_factory=dict)
    examples: int = 0
    sequences: set[int] = field(default_factory=set)
    visited: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.perf_counter)

    def run(self, work: Awaitable[T]) -> T:
        """Run one step to its end."""
        return self.loop.run_until_complete(work)

    def connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        """A session whose clock stands still."""
        return self.run(self._connect())

    async def _connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        connection = await asyncpg.connect(
            self.dsn,
            server_settings={
                "search_path": SEARCH_PATH,
                "fake.at": steps.START.isoformat(),
                "synchronous_commit": "off",  # nobody pulls the plug here
                "lock_timeout": "5s",
                "plan_cache_mode": "force_generic_plan",
            },
            statement_cache_size=1000,
        )
        await prepare_connection(connection)
        return connection

    def seat(self, name: str) -> Seat:
        """A new one, with people of its own, in an open transaction."""
        connection = self.connect()
        self.run(cast(Any, connection).transaction().start())
        seat = Seat(name, connection, AllSteps(Cast(len(self.seats))))
        self.seats[name] = seat
        return seat

    def fresh(self, **changes: Any) -> "Bench":
        """The same seats with fresh counters."""
        return Bench(loop=self.loop, dsn=self.dsn, seats=self.seats, **changes)

    def must_have(self, *, steps: set[str], reached: set[str]) -> None:
        """Fail if something never came about: then its promises were not tried."""
        never = (steps - set(self.visited)) | (reached - set(self.reached))
        assert FACTOR < 1 or not never, f"never came about: {sorted(never)}"

    def played(self, trace: list[tuple[object, ...]], reached: set[str]) -> None:
        """Count a sequence of steps, and what came about in it."""
        self.examples += 1
        self.sequences.add(hash(tuple(trace)))
        self.reached.update(reached)

    def close(self, after: Awaitable[None]) -> None:
        """All connections, what comes after, then the loop."""
        for seat in self.seats.values():
            self.run(seat.connection.close())
        self.run(after)
        self.loop.close()

    def said(self) -> str:
        """The counters as one line."""
        seconds = time.perf_counter() - self.began
        return (
            f"{len(self.sequences)} different sequences of {self.examples},"
            f" {self.visited.total()} steps in {seconds:.0f} s;"
            f" {_counted(self.reached)}; steps: {_counted(self.visited)}"
        )


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


@contextmanager
def running_bench(databases: Databases, kind: type[B]) -> Iterator[B]:
    """A seeded database of its own."""
    loop = asyncio.new_event_loop()
    dsn = loop.run_until_complete(databases.fresh())
    bench = kind(loop=loop, dsn=dsn)
    first = bench.connect()
    bench.run(steps.seed(first, casts=CASTS))
    bench.run(first.close())
    try:
        yield bench
    finally:
        bench.close(databases.drop(dsn))


def explore(machine: Callable[[], Machine], bench: Bench, *, sequences: int) -> None:
    """Draw so many different sequences: the same ones each time where the variable CI is set,
    elsewhere new ones. Fails if they do not differ."""
    first = FIRST_SEED if "CI" in os.environ else random.randrange(1 << 32)
    wanted = int(sequences * FACTOR)
    drawn = Sequences(machine, first)
    for _ in range(wanted + wanted // 4):
        if len(bench.sequences) < wanted:
            drawn.play_next()
    assert len(bench.sequences) >= wanted, "more than every fifth sequence was drawn before"
