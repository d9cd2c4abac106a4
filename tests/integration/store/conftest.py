"""A world for each test; the simulated provider is started once."""

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
import pytest_asyncio

from tests.harness.databases import Databases
from tests.integration.store.bench import Report
from tests.integration.store.kit import World, running_payments, running_world


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def payments_url() -> AsyncIterator[str]:
    """Where the simulated provider listens."""
    async with running_payments() as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def world(databases: Databases, payments_url: str) -> AsyncIterator[World]:
    """A fresh database and everything that works on it."""
    async with running_world(databases, payments_url) as running:
        yield running


@pytest.fixture
def report(pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]) -> Report:
    """Says a line beside pytest's own, also where output is captured."""
    terminal = cast(Any, pytestconfig.pluginmanager.getplugin("terminalreporter"))

    def say(line: str) -> None:
        with capsys.disabled():
            terminal.ensure_newline()
            terminal.write_line(line)

    return say
