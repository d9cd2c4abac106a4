"""The pool, its settings, and the one name for "a connection" that the other rooms use.

`synchronous_commit` must be on: a claim that the disk may forget is no claim (design §3); it is
checked at start. JSON columns travel as Python values, written without floats.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

import asyncpg

from domain.errors import DeploymentError

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

STATEMENT_TIMEOUT_S = 10  # a query of ours takes milliseconds; ten seconds is a fault, not work
LOCK_TIMEOUT_S = 5  # the longest transaction here is well under a second
IDLE_IN_TRANSACTION_S = 15  # a stalled process must not hold an action's row for ever


async def prepare_connection(connection: Connection) -> None:
    """Make JSON columns travel as Python values."""
    for kind in ("json", "jsonb"):
        await connection.set_type_codec(
            kind, encoder=json.dumps, decoder=json.loads, schema="pg_catalog"
        )


async def open_pool(
    dsn: str, *, max_size: int = 10, server_settings: dict[str, str] | None = None
) -> Pool:
    """A pool of at most `max_size` connections to `dsn`. Raises DeploymentError when
    `synchronous_commit` is off, asyncpg's or OS errors when the database is out of reach."""
    pool: Pool = await asyncpg.create_pool(
        dsn,
        min_size=1,
        max_size=max_size,
        init=prepare_connection,
        timeout=5,
        command_timeout=STATEMENT_TIMEOUT_S + 5,
        server_settings={
            "application_name": "aval",
            "statement_timeout": f"{STATEMENT_TIMEOUT_S}s",
            "lock_timeout": f"{LOCK_TIMEOUT_S}s",
            "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_S}s",
            **(server_settings or {}),
        },
    )
    level = await pool.fetchval("SELECT current_setting('synchronous_commit')")
    if level not in {"on", "remote_apply"}:
        await pool.close()
        raise DeploymentError(f"PostgreSQL: synchronous_commit is {level!r}; set it to on")
    return pool


@asynccontextmanager
async def read_only(pool: Pool) -> AsyncIterator[Connection]:
    """A connection in a read-only transaction with one snapshot: what *prepare*, *revalidate* and
    *look_up* see."""
    async with (
        pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        yield connection
