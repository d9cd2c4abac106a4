"""Thousands of steps of §3 in any order on real PostgreSQL, compared with a pure model after each;
and the proof that this bites: without one of the guards, a counterexample is found.

`MODEL_EXAMPLES=5000` looks longer. Where the variable CI is set, the same examples are drawn each
time; elsewhere new ones.
"""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

import asyncpg
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from domain.deciding import StoredDecision
from store import actions, deciding, executing
from store.actions import Action
from store.connection import Connection, prepare_connection
from tests.harness.databases import SEARCH_PATH, Databases
from tests.integration.store import steps
from tests.integration.store.machine import ActionMachine
from tests.integration.store.machine_base import Bench
from tests.integration.store.machine_overlap import OverlapMachine, TwoConnections
from tests.integration.store.promises import BrokenPromiseError

EXAMPLES = int(os.environ.get("MODEL_EXAMPLES", "220"))
OVERLAP_EXAMPLES = max(EXAMPLES // 5, 1)
HUNT = 200
"""So many examples at most until a missing guard must have been noticed."""

ROUND = 10
FIRST_SEED = 20260311

Report = Callable[[str], None]


@dataclass
class Connections:
    """A loop of its own, which hypothesis drives from synchronous code, and connections on it."""

    loop: asyncio.AbstractEventLoop
    dsn: str
    opened: "list[asyncpg.Connection[asyncpg.Record]]"

    def connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        """A session whose clock stands still."""
        return self.loop.run_until_complete(self._connect())

    async def _connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        connection = await asyncpg.connect(
            self.dsn,
            server_settings={
                "search_path": SEARCH_PATH,
                "fake.at": steps.START.isoformat(),
                "synchronous_commit": "off",  # nobody pulls the plug here
                "lock_timeout": "5s",
            },
        )
        self.opened.append(connection)
        await prepare_connection(connection)
        return connection

    def close(self) -> None:
        """All of them, then the loop."""
        for connection in self.opened:
            self.loop.run_until_complete(connection.close())
        self.loop.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def dsn(databases: Databases) -> AsyncIterator[str]:
    """One database for all examples."""
    fresh = await databases.fresh()
    yield fresh
    await databases.drop(fresh)


@pytest.fixture(scope="module")
def connections(dsn: str) -> Iterator[Connections]:
    """The seeded database."""
    made = Connections(asyncio.new_event_loop(), dsn, [])
    made.loop.run_until_complete(steps.seed(made.connect()))
    yield made
    made.close()


@pytest.fixture
def bench(connections: Connections) -> Bench:
    """One connection, fresh counters."""
    return Bench(loop=connections.loop, connection=connections.opened[0])


@pytest.fixture
def two(connections: Connections) -> TwoConnections:
    """Two connections and one that watches them."""
    first, second, watcher = (connections.connect() for _ in range(3))
    return TwoConnections(loop=connections.loop, connection=first, second=second, watcher=watcher)


@pytest.fixture
def report(pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]) -> Report:
    """Says a line beside pytest's own, also where output is captured."""
    terminal = cast(Any, pytestconfig.pluginmanager.getplugin("terminalreporter"))

    def say(line: str) -> None:
        with capsys.disabled():
            terminal.ensure_newline()
            terminal.write_line(line)

    return say


def rounds(machine: type[ActionMachine], examples: int, *, first: int, shrink: bool) -> None:
    """Draw so many examples of 30 steps, in rounds with a seed each.

    Later in a run hypothesis follows a fresh example by five mutants of it, in its first ten it
    does not: of 221 examples in one run 106 were different, of 36 in rounds 28.
    """
    for n in range(-(-examples // ROUND)):
        run_state_machine_as_test(
            seed(first + n)(machine),
            settings=settings(
                max_examples=ROUND,
                stateful_step_count=30,
                deadline=None,
                database=None,
                phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )


def explore(machine: type[ActionMachine], examples: int) -> None:
    """The same examples each time where CI is set, elsewhere new ones."""
    first = FIRST_SEED if "CI" in os.environ else random.randrange(1 << 32)
    rounds(machine, examples, first=first, shrink=True)


def said(bench: Bench) -> str:
    """The counters as one line."""
    most = sorted(bench.visited.items(), key=lambda one: -one[1])
    steps_taken = ", ".join(f"{name} {count}" for name, count in most)
    return f"{bench.examples} examples, {bench.steps} steps: {steps_taken}"


def test_every_interleaving_agrees_with_the_model(bench: Bench, report: Report) -> None:
    """Whatever comes in whatever order, zombies, lies of time and late arrivals included: product
    and model agree, and no promise is broken at the far side."""
    machine = type("Machine", (ActionMachine,), {"bench": bench})
    explore(machine, EXAMPLES)
    report(f"model: {said(bench)}")
    assert bench.examples >= EXAMPLES
    unseen = {"outcome", "look", "fence", "provider acts", "act in database"} - set(bench.visited)
    assert EXAMPLES < 100 or not unseen, f"never taken: {unseen}"


def test_two_at_once_agree_with_the_model(two: TwoConnections, report: Report) -> None:
    """Two steps on two connections, one begun in the midst of the other, come to what one after the
    other would, and what was stored before the lock is seen behind it."""
    machine = type("Machine", (OverlapMachine,), {"bench": two})
    explore(machine, OVERLAP_EXAMPLES)
    report(f"model, two at once: {two.overlaps} overlaps, {two.waited} waited; {said(two)}")
    assert two.overlaps > two.waited > 0 or OVERLAP_EXAMPLES < 20


# -- that it bites


class Tampered:
    """A connection on which one piece of the product's SQL says something else."""

    def __init__(self, connection: Connection, before: str, after: str) -> None:
        self._connection, self._before, self._after = connection, before, after
        self.used = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._connection, name)
        if name not in {"fetch", "fetchrow", "fetchval", "execute"}:
            return found

        async def run(query: str, *values: Any) -> Any:
            self.used += self._before in query
            return await found(query.replace(self._before, self._after), *values)

        return run


def hunt(machine: type[ActionMachine], report: Report, without: str) -> BrokenPromiseError:
    """Draw until a promise is broken, and say how long it took. Fails if none is."""
    with pytest.raises(BrokenPromiseError) as found:
        rounds(machine, HUNT, first=FIRST_SEED, shrink=False)
    report(f"without {without}: {found.value.name!r} after {machine.bench.broken_at} examples")
    return found.value


MISSING = {
    "the fence's look at earlier sends": (
        "HAVING coalesce(bool_and(outcome IS NOT DISTINCT FROM 'not_sent'), true)",
        "HAVING true",
        {"a second send only if all earlier are not_sent"},
    ),
    "the look at sends before closing as unsent": (
        "SELECT count(*) FROM sends WHERE action_id = $1 AND outcome IS DISTINCT FROM 'not_sent'",
        "SELECT 0 WHERE $1 <> ''",
        {
            "no end while a send is under way",
            "no effect once the row says that there is none",
        },
    ),
}


@pytest.mark.parametrize("without", MISSING)
def test_a_missing_guard_in_sql_is_found(bench: Bench, report: Report, without: str) -> None:
    """With the guard taken out of the statement, a promise is seen broken at the far side; the
    model is not asked."""
    before, after, names = MISSING[without]
    tampered = Tampered(bench.connection, before, after)
    bench.connection, bench.compare = cast(Connection, tampered), False
    machine = type("Machine", (ActionMachine,), {"bench": bench})
    assert hunt(machine, report, without).name in names
    assert tampered.used, "the product's statement reads otherwise now"


def test_attempts_that_are_not_revoked_are_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where any attempt passes for the newest, a zombie sends; the model is not asked."""
    fence = executing.fence

    async def fence_for_all(connection: Connection, action_id: str, *, attempt: int) -> int | None:
        newest = await connection.fetchval("SELECT attempt FROM actions WHERE id = $1", action_id)
        return await fence(connection, action_id, attempt=newest or attempt)

    monkeypatch.setattr(executing, "fence", fence_for_all)
    bench.compare = False
    machine = type("Machine", (ActionMachine,), {"bench": bench})
    broken = hunt(machine, report, "the revoking of earlier attempts")
    assert broken.name == "only the newest attempt sends"


def test_a_missing_grace_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the end of the grace, a world of long ago is executed; the model is not asked."""
    monkeypatch.setattr("domain.deciding.GRACE", timedelta(days=3650))
    bench.compare = False
    machine = type("Machine", (ActionMachine,), {"bench": bench})
    broken = hunt(machine, report, "decide's grace")
    assert broken.name == "decided within the grace"


def test_decisions_read_before_the_lock_are_found(
    two: TwoConnections, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the decisions read before the action's row is locked, a click slips in between and is
    passed over. Only two connections show it."""
    early: dict[str, list[StoredDecision]] = {}
    read, lock = deciding._unanswered, actions.lock

    async def lock_late(connection: Connection, action_id: str) -> tuple[Action, datetime]:
        early[action_id] = await read(connection, action_id)
        return await lock(connection, action_id)

    async def read_early(_connection: Connection, action_id: str) -> list[StoredDecision]:
        return early[action_id]

    monkeypatch.setattr(actions, "lock", lock_late)
    monkeypatch.setattr(deciding, "_unanswered", read_early)
    machine = type("Machine", (OverlapMachine,), {"bench": two})
    broken = hunt(machine, report, "the lock before the reading")
    assert broken.name in {
        "two at once come to what one after the other would",
        "a stored Cancel wins",
    }


# -- what the machine has found


def test_half_an_outcome_after_a_day_is_rung_for(bench: Bench) -> None:
    """An action rests, unknown for a day. Then a stalled attempt writes that nothing left, and is
    killed before it looks at the action: somebody must be woken to close it."""
    machine = type("Machine", (ActionMachine,), {"bench": bench})()
    machine.propose("maria", ("a", True), "provider")
    machine.confirm(0, True, True)
    machine.time_passes(0, "far edge", 0)
    machine.decide(0)
    machine.write(0, "not_sent", True)
    machine.teardown()
