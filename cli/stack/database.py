"""Makes a database ready for its deployment: created if it is missing, migrated, bound, seeded."""

import asyncio

import asyncpg
from temporalio.envconfig import ClientConfig

from cli.stack.parties import DATABASE
from cli.stack.temporal import NAMESPACE
from cli.stack.wiring import DISPLAY_NUMBER, PHONE_NUMBER_ID, RECIPIENT, Wiring
from domain.errors import OperatorError
from settings import Settings
from store import migrate
from store.connection import Pool, open_pool
from store.demo import seed_demo

NAME = "aval"
CONNECT_WITHIN_S = 10.0


async def prepare(wiring: Wiring, settings: Settings) -> None:
    """Make the stack's database ready. The demo account comes only with the simulated channel.

    Raises OperatorError if it is out of reach, or another deployment's.
    """
    if wiring.parties.database:
        await _create(wiring.dsn)
    pool = await open_or_explain(wiring.dsn)
    try:
        async with pool.acquire() as connection:
            await migrate.migrate(connection)
            await migrate.bind_deployment(
                connection,
                deployment=settings.deployment,
                namespace=NAMESPACE if wiring.parties.temporal else real_namespace(),
            )
            if wiring.parties.whatsapp:
                await seed_demo(
                    connection,
                    phone_number_id=PHONE_NUMBER_ID,
                    display=DISPLAY_NUMBER,
                    base_url=wiring.url("payments"),
                    recipient_id=RECIPIENT,
                    allow_plain_http=True,
                )
    finally:
        await pool.close()


async def open_or_explain(dsn: str) -> Pool:
    """A small pool. Raises OperatorError if the database is out of reach; no word of the DSN, which
    may hold a password, is repeated."""
    try:
        async with asyncio.timeout(CONNECT_WITHIN_S):
            return await open_pool(dsn, max_size=2)
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError) as error:
        raise OperatorError(
            f"PostgreSQL cannot be reached ({type(error).__name__}); is {DATABASE} right, and does "
            "the server run?"
        ) from None


async def _create(dsn: str) -> None:
    connection = await asyncpg.connect(dsn.replace(f"/{NAME}?", "/postgres?", 1))
    try:
        if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", NAME):
            await connection.execute(f'CREATE DATABASE "{NAME}"')
    finally:
        await connection.close()


def real_namespace() -> str:
    """The namespace that `TEMPORAL_*` or temporal.toml name, or Temporal's default."""
    return ClientConfig.load_client_connect_config().get("namespace") or NAMESPACE
