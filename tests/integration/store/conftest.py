"""A world for each test; the simulated provider is started once."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.harness.databases import Databases
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
