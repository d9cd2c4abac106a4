"""The database of a command: that of AVAL_DATABASE_URL, or of a running `aval up`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import asyncpg

from cli import environment as environment_module
from cli.stack import reach
from cli.stack.database import NAME, open_or_explain
from cli.stack.parties import DATABASE
from cli.stack.postgres import EmbeddedPostgres
from domain.errors import OperatorError
from store import migrate
from store.connection import Connection

Result = TypeVar("Result")
_REFUSED = (
    asyncpg.CheckViolationError,
    asyncpg.DataError,
    asyncpg.InsufficientPrivilegeError,
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
    asyncpg.ReadOnlySQLTransactionError,
)


def url(environment: dict[str, str]) -> str:
    """The connection string. Raises OperatorError if neither is there."""
    if named := environment.get(DATABASE, "").strip():
        if not named.startswith(("postgres://", "postgresql://")):
            raise OperatorError(f"{DATABASE}: must begin with postgresql://")
        return named
    data = environment_module.data_folder(environment)
    embedded = EmbeddedPostgres(reach.data_folder(data))
    if not any(embedded.socket_folder.glob(".s.PGSQL.*")):
        raise OperatorError(
            f"{DATABASE} is not set, and no `aval up` runs on {data}; start it, or set {DATABASE}"
        )
    return embedded.dsn(NAME)


@asynccontextmanager
async def connected(dsn: str, *, migrated: bool = True) -> AsyncIterator[Connection]:
    """A connection, closed at the end. Raises OperatorError if the database is out of reach, and
    DeploymentError if its tables are not this version's (unless `migrated` is False)."""
    pool = await open_or_explain(dsn)
    try:
        async with pool.acquire() as connection:
            if migrated:
                await migrate.check_migrated(connection)
            yield connection
    finally:
        await pool.close()


def ask(
    environment: dict[str, str],
    question: Callable[[Connection], Awaitable[Result]],
    *,
    migrated: bool = True,
) -> Result:
    """Run one question or change against the database. Raises OperatorError."""
    dsn = url(environment)

    async def run() -> Result:
        async with connected(dsn, migrated=migrated) as connection:
            return await question(connection)

    try:
        return asyncio.run(run())
    except _REFUSED as error:
        raise OperatorError(f"PostgreSQL refuses: {type(error).__name__}") from None
    except (
        asyncpg.PostgresConnectionError,
        asyncpg.InterfaceError,
        OSError,
        TimeoutError,
    ) as error:
        raise OperatorError(f"the connection to PostgreSQL broke: {type(error).__name__}") from None
