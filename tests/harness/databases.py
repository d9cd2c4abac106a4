"""A fresh database for each test: cloned from a template that the migrations made once.

The schema `fake` shadows the clock: it stands first in the product's search path and moves
`clock_timestamp()` and `now()` by a skew of seconds. No hook in the product.
"""

import asyncio
import uuid
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import asyncpg

from store import migrate
from store.connection import prepare_connection

SEARCH_PATH = "fake, pg_catalog, public"

_CLOCK = """
CREATE SCHEMA fake;
CREATE TABLE fake.skew (seconds float8 NOT NULL);
INSERT INTO fake.skew VALUES (0);
CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT pg_catalog.clock_timestamp() + seconds * interval '1 second' FROM fake.skew $$;
CREATE FUNCTION fake.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.now() + seconds * interval '1 second' FROM fake.skew $$;
"""


def _with_database(dsn: str, name: str) -> str:
    """By text: `urlunsplit` would lose the empty host of a socket's DSN."""
    head, mark, query = dsn.partition("?")
    return f"{head.rpartition('/')[0]}/{name}{mark}{query}"


@dataclass
class Databases:
    """The server's databases. `dsn(name)` reaches one."""

    admin_dsn: str
    template: str = ""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def dsn(self, name: str) -> str:
        """The same server, another database."""
        return _with_database(self.admin_dsn, name)

    async def _template(self) -> str:
        if not self.template:
            name = f"template_{uuid.uuid4().hex[:8]}"
            await self._admin(f'CREATE DATABASE "{name}"')
            connection = await asyncpg.connect(self.dsn(name))
            try:
                await prepare_connection(connection)
                await migrate.migrate(connection)
                await connection.execute(_CLOCK)
            finally:
                await connection.close()
            self.template = name
        return self.template

    async def fresh(self) -> str:
        """The DSN of a new database with all migrations applied."""
        async with self._lock:
            template = await self._template()
            name = f"test_{uuid.uuid4().hex[:12]}"
            await self._admin(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.dsn(name)

    async def drop(self, dsn: str) -> None:
        """Remove a test's database, whoever is still connected."""
        name = urlsplit(dsn).path.lstrip("/")
        await self._admin(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    async def _admin(self, statement: str) -> None:
        connection = await asyncpg.connect(self.admin_dsn)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()
