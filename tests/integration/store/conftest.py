"""A connection to a database of this module, in a transaction that is undone after each test."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from store.connection import Connection, prepare_connection
from tests.harness.databases import Databases
from tests.integration.store.rows import new_account


@pytest.fixture(scope="module")
async def database(databases: Databases) -> AsyncIterator[str]:
    """The DSN of a migrated database, dropped after the module's last test."""
    dsn = await databases.fresh()
    yield dsn
    await databases.drop(dsn)


@pytest.fixture
async def db(database: str) -> AsyncIterator[Connection]:
    """A connection with an account; whatever the test writes is rolled back."""
    connection = await asyncpg.connect(database)
    await prepare_connection(connection)
    transaction = connection.transaction()
    await transaction.start()
    await new_account(connection)
    try:
        yield connection
    finally:
        await transaction.rollback()
        await connection.close()
