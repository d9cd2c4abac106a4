"""A real PostgreSQL for the tools: a fresh database with the demo account for each test.

The clock stands still at a known moment: a schema that comes first in the search path shadows
`clock_timestamp()`, so that no test depends on the day it runs (design §9).
"""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from store.connection import Connection, prepare_connection
from store.demo import seed_demo
from store.migrate import migrate
from tests.integration.tools.kit import BUSINESS, RECIPIENT, set_clock

START = "2026-12-01T12:00:00Z"
"""A Tuesday, 09:00 in São Paulo."""

_CLOCK = """
CREATE SCHEMA clock;
CREATE TABLE clock.moment (at timestamptz NOT NULL);
INSERT INTO clock.moment VALUES ('2026-12-01T12:00:00Z');
CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS 'SELECT at FROM clock.moment';
"""


@pytest.fixture(scope="session")
async def template(postgres_dsn: str) -> str:
    """The name of a database with migrations, demo account and clock, to be copied."""
    admin = await asyncpg.connect(postgres_dsn)
    await admin.execute("CREATE DATABASE tools_template")
    await admin.close()
    connection = await asyncpg.connect(postgres_dsn, database="tools_template")
    await prepare_connection(connection)
    await migrate(connection)
    await seed_demo(
        connection,
        phone_number_id=BUSINESS,
        base_url="http://127.0.0.1:1",
        recipient_id=RECIPIENT,
        allow_plain_http=True,
    )
    await connection.execute(_CLOCK)
    await connection.close()
    return "tools_template"


@pytest.fixture
async def db(postgres_dsn: str, template: str) -> AsyncIterator[Connection]:
    """A connection to a copy of the template; the clock stands at START."""
    admin = await asyncpg.connect(postgres_dsn)
    await admin.execute(f"CREATE DATABASE tools_test TEMPLATE {template}")
    connection = await asyncpg.connect(
        postgres_dsn,
        database="tools_test",
        server_settings={"search_path": "clock, public, pg_catalog"},
    )
    await prepare_connection(connection)
    await set_clock(connection, START)
    try:
        yield connection
    finally:
        await connection.close()
        await admin.execute("DROP DATABASE tools_test WITH (FORCE)")
        await admin.close()
