"""Makes a database ready for its deployment: created if it is missing, migrated, bound, seeded."""

import asyncpg
from temporalio.envconfig import ClientConfig

from cli.stack.temporal import NAMESPACE
from cli.stack.wiring import DISPLAY_NUMBER, PHONE_NUMBER_ID, RECIPIENT, Wiring
from settings import Settings
from store import migrate
from store.connection import open_pool
from store.demo import seed_demo

NAME = "aval"


async def prepare(wiring: Wiring, settings: Settings) -> None:
    """Make the stack's database ready. The demo account comes only with the simulated channel.

    Raises DeploymentError, or asyncpg's and OS errors when the database is out of reach.
    """
    if wiring.parties.database:
        await _create(wiring.dsn)
    pool = await open_pool(wiring.dsn, max_size=2)
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
