"""The public HTTP application: the webhook, the providers' questions and health, nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from temporalio.client import Client

from api.webhook import Webhook
from api.withdrawals import Withdrawals
from domain.errors import DeploymentError
from settings import Settings
from store import migrate
from store.connection import Pool, open_pool
from workflows.alerts import alerting
from workflows.metrics import serving_metrics
from workflows.temporal import connect

READY_WITHIN_S = 2.0


def create_app(settings: Settings, pool: Pool, client: Client) -> FastAPI:
    """The application over open clients, which it does not close."""
    app = FastAPI(title="Aval", docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(Webhook(settings, pool, client).router())
    app.include_router(Withdrawals(pool).router())

    @app.get("/health/live")
    async def live() -> Response:
        """The process answers."""
        return PlainTextResponse("ok")

    @app.get("/health/ready")
    async def ready() -> Response:
        """Database, migrations, deployment and Temporal; 503 with the part that is missing."""
        problems = await _problems(settings, pool, client)
        return JSONResponse(
            {"ready": not problems, "problems": problems}, status_code=503 if problems else 200
        )

    return app


async def _problems(settings: Settings, pool: Pool, client: Client) -> list[str]:
    problems = []
    try:
        async with asyncio.timeout(READY_WITHIN_S), pool.acquire() as connection:
            await migrate.check_migrated(connection)
            await migrate.check_deployment(
                connection, deployment=settings.deployment, namespace=client.namespace
            )
    except DeploymentError as error:
        problems.append(str(error))
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        problems.append(f"database: {type(error).__name__}")
    try:
        async with asyncio.timeout(READY_WITHIN_S):
            if not await client.service_client.check_health():
                problems.append("temporal: not serving")
    except Exception as error:
        problems.append(f"temporal: {type(error).__name__}")
    return problems


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[FastAPI]:
    """The application with its own clients, closed at the end; meanwhile it alerts if no worker
    lives."""
    pool = await open_pool(settings.database_url.get_secret_value(), max_size=settings.pool_size)
    try:
        client = await connect(lazy=True)
        async with pool.acquire() as connection:
            await migrate.check_migrated(connection)
            await migrate.check_deployment(
                connection, deployment=settings.deployment, namespace=client.namespace
            )
        with serving_metrics(host=settings.metrics_host, port=settings.metrics_port):
            async with alerting(pool, url=settings.alert_address, worker=False):
                yield create_app(settings, pool, client)
    finally:
        await pool.close()
