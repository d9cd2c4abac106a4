"""One database for the examples of a module, on one connection and on a loop that hypothesis
drives."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import asyncpg
import pytest
import pytest_asyncio

from store.connection import prepare_connection
from tests.harness.databases import SEARCH_PATH, Databases
from tests.integration.history import ground
from tests.integration.history.far_claude import FarClaude
from tests.integration.history.machine import HistoryMachine
from tests.integration.history.machine_base import HistoryBench
from tests.integration.history.one_connection import Doors, deps_on
from tests.integration.history.tools_of_tests import MakeCharge

Database = tuple[asyncio.AbstractEventLoop, Any]
Report = Callable[[str], None]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def dsn(databases: Databases) -> AsyncIterator[str]:
    """One database for all examples."""
    fresh = await databases.fresh()
    yield fresh
    await databases.drop(fresh)


@pytest.fixture(scope="module")
def database(dsn: str) -> Iterator[Database]:
    """A seeded database and a connection to it, on a loop that hypothesis drives."""
    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(_connect(dsn))
    yield loop, connection
    loop.run_until_complete(connection.close())
    loop.close()


async def _connect(dsn: str) -> "asyncpg.Connection[asyncpg.Record]":
    settings_of_it = {
        "search_path": SEARCH_PATH,
        "fake.at": ground.START.isoformat(),
        "synchronous_commit": "off",  # nobody pulls the plug here
    }
    connection = await asyncpg.connect(dsn, server_settings=settings_of_it)
    await prepare_connection(connection)
    await ground.seed(connection)
    return connection


@pytest.fixture
def bench(database: Database, monkeypatch: pytest.MonkeyPatch) -> HistoryBench:
    """Fresh counters, and a wire that is answered by script."""
    return make_bench(database, "claude-haiku-5-5", monkeypatch)


def make_bench(database: Database, model: str, monkeypatch: pytest.MonkeyPatch) -> HistoryBench:
    """The read receipt is left out: a courtesy beside the call, on a connection of its own."""
    monkeypatch.setattr("activities.think.typing", _nothing_shown)
    loop, connection = database
    doors, claude, charge = Doors(connection), FarClaude(), MakeCharge()
    return HistoryBench(
        loop=loop,
        connection=connection,
        doors=doors,
        claude=claude,
        charge=charge,
        deps=deps_on(doors, claude, charge, model),
    )


@asynccontextmanager
async def _nothing_shown(*_given: object, **_named: object) -> AsyncIterator[None]:
    yield


@pytest.fixture
def report(pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]) -> Report:
    """Says a line beside pytest's own, also where output is captured."""
    terminal = cast(Any, pytestconfig.pluginmanager.getplugin("terminalreporter"))

    def say(line: str) -> None:
        with capsys.disabled():
            terminal.ensure_newline()
            terminal.write_line(line)

    return say


@contextmanager
def by_hand(bench: HistoryBench) -> Iterator[HistoryMachine]:
    """A machine whose steps a test takes."""
    machine = type("Machine", (HistoryMachine,), {"bench": bench})()
    try:
        yield machine
    finally:
        machine.teardown()
