"""What the examples of a test share: a database, a loop that hypothesis drives from synchronous
code, the wires, the seats where examples begin, and the counters.

An example is a savepoint on its seat's open transaction and is rolled back: no trace, and no time
for the way to its beginning. What several connections do to each other is examined elsewhere
(`tests/integration/store/machine_overlap.py`) and by the examples through the whole stack.
"""

import asyncio
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import asyncpg

from activities.deps import Deps, Gateways
from gateways.contract import Gateway
from store.connection import Connection, Pool, prepare_connection
from tests.harness.databases import SEARCH_PATH, Databases
from tests.integration.history.one_connection import Doors
from tests.integration.lying import ground, judge
from tests.integration.lying.beginnings import BEGINNINGS, before_all
from tests.integration.lying.play import Play
from tests.integration.lying.stage import Far, Stage
from tests.integration.lying.wires import FarModel, FarPhone, FarProvider, Scene
from tools.registry import load_tools

T = TypeVar("T")
MODULES = ["tools.scheduling", "tools.customers", "tools.payments", "tools.handover"]


@dataclass
class Seat:
    """A connection whose open transaction stands at a beginning, and what belongs to it."""

    connection: "asyncpg.Connection[asyncpg.Record]"
    doors: Doors
    deps: Deps
    stage: Stage
    provider: sqlite3.Connection


@dataclass
class Bench:
    """Loop, wires, seats, counters."""

    loop: asyncio.AbstractEventLoop
    dsn: str
    seats: dict[str, Seat] = field(default_factory=dict)
    connections: list["asyncpg.Connection[asyncpg.Record]"] = field(default_factory=list)
    examples: int = 0
    broken_at: int | None = None
    sequences: set[int] = field(default_factory=set)
    visited: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.perf_counter)
    scene: Scene = field(default_factory=Scene)

    def __post_init__(self) -> None:
        self.far = Far(
            model=FarModel(lambda: self.scene),
            phone=FarPhone(lambda: self.scene),
            provider=FarProvider(lambda: self.scene),
        )
        self.registry = load_tools(MODULES)

    def run(self, work: Awaitable[T]) -> T:
        """Run one step to its end."""
        return self.loop.run_until_complete(work)

    def fresh(self) -> None:
        """Begin to count anew."""
        self.examples, self.broken_at, self.began = 0, None, time.perf_counter()
        for one in (self.sequences, self.visited, self.counted, self.kinds):
            one.clear()

    def take_seats(self, names: Sequence[str]) -> None:
        """Play each beginning once, on a connection of its own."""
        for n, name in enumerate(names):
            self.run(self._take_seat(n, name, BEGINNINGS[name]))

    async def _take_seat(self, n: int, name: str, begin: Callable[[Play], Awaitable[None]]) -> None:
        connection = await self._connect()
        await cast(Any, connection).transaction().start()
        doors = Doors(connection)
        deps = self._deps(doors)
        stage = Stage(ground=await ground.found(connection, n))
        self.scene = stage.scene
        self.far.phone.undelivered.clear()
        play = Play(connection, deps, doors, self.far, stage)
        await play.learn()
        await before_all(play)
        await begin(play)
        judge.check(stage.scene.far, stage.ground.books)
        await connection.execute("SAVEPOINT example")
        self.seats[name] = Seat(
            connection=connection,
            doors=doors,
            deps=deps,
            stage=stage,
            provider=self.far.provider.remembers(),
        )

    async def _connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        connection = await asyncpg.connect(
            self.dsn,
            server_settings={
                "search_path": SEARCH_PATH,
                "fake.at": ground.START.isoformat(),
                "synchronous_commit": "off",  # nobody pulls the plug here
                "lock_timeout": "5s",
                "plan_cache_mode": "force_generic_plan",
            },
            statement_cache_size=1000,
        )
        self.connections.append(connection)
        await prepare_connection(connection)
        return connection

    def _deps(self, doors: Doors) -> Deps:
        return Deps(
            pool=cast(Pool, doors),
            registry=self.registry,
            claude=self.far.model.client(),
            whatsapp=self.far.phone.sender(),
            gateways=cast(Gateways, _OneGateway(self.far.provider.gateway())),
        )

    def sit(self, name: str) -> tuple[Seat, Play]:
        """Begin an example where the seat's transaction stands."""
        self.examples += 1
        seat = self.seats[name]
        self.far.provider.forgets(seat.provider)
        stage = seat.stage.copy()
        self.scene = stage.scene
        self.far.phone.undelivered.clear()
        return seat, Play(seat.connection, seat.deps, seat.doors, self.far, stage)

    def leave(self, seat: Seat) -> None:
        """Forget the example; the clock goes back as well."""
        self.counted.update(self.scene.counted)
        self.kinds.update(self.scene.answers)
        self.counted["answers"] += self.scene.answers.total()
        self.run(seat.connection.execute("ROLLBACK TO SAVEPOINT example"))

    def close(self, after: Awaitable[None]) -> None:
        """All connections, what comes after, then the loop."""
        for connection in self.connections:
            self.run(connection.close())
        for seat in self.seats.values():
            seat.provider.close()
        self.far.provider.close()
        self.run(after)
        self.loop.close()

    def said(self) -> str:
        """The counters as lines."""
        seconds = time.perf_counter() - self.began
        return "\n".join(
            [
                f"{len(self.sequences)} different sequences of {self.examples},"
                f" {self.visited.total()} events in {seconds:.0f} s: {_listed(self.visited)}",
                f"  {_listed(self.counted)}",
                f"  {len(self.kinds)} kinds of answers: {_listed(self.kinds)}",
            ]
        )


class _OneGateway:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def of(self, _connection: Connection, _account: str) -> Gateway:
        return self._gateway


def _listed(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


@contextmanager
def running_bench(
    databases: Databases, seats: Sequence[str] = tuple(BEGINNINGS), *, without: str = ""
) -> Iterator[Bench]:
    """A database of its own, with the seats taken. `without`: SQL that takes a guard out of it."""
    loop = asyncio.new_event_loop()
    dsn = loop.run_until_complete(databases.fresh())
    bench = Bench(loop=loop, dsn=dsn)
    try:
        bench.run(_prepare(dsn, without))
        bench.take_seats(seats)
        yield bench
    finally:
        bench.close(databases.drop(dsn))


async def _prepare(dsn: str, without: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(ground.CLOCK)
        if without:
            await connection.execute(without)
    finally:
        await connection.close()


@asynccontextmanager
async def nothing_shown(*_given: object, **_named: object) -> AsyncIterator[None]:
    """Instead of the read receipt: a courtesy beside the call, on a connection of its own."""
    yield
