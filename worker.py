"""The worker process: the only place that builds real clients and hands them to activities.

`python worker.py [--queues conversations,executions]`. Several may run at once. SIGTERM and SIGINT
shut down gracefully: calls under way finish, their outcomes are written.
"""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from temporalio.client import Client

import settings as settings_module
from activities.deps import Deps, Gateways, Hearing
from channels.transcription import Transcriber
from channels.whatsapp.media import WhatsAppMedia
from channels.whatsapp.sender import WhatsAppSender
from domain.errors import OperatorError, SettingsError
from domain.logs import configure_logging
from domain.process import leave
from domain.texts import texts_for
from gateways.registry import GatewayConfigError, GatewayRegistry
from llm.client import ClaudeClient, build_anthropic
from settings import Settings
from store import accounts, migrate
from store.connection import Pool, open_pool
from tools.registry import load_tools
from workflows.alerts import alerting
from workflows.metrics import serving_metrics
from workflows.sweeper import sweep_for_ever
from workflows.temporal import connect
from workflows.workers import QUEUES, build_workers

log = logging.getLogger("aval.worker")


@asynccontextmanager
async def build_deps(settings: Settings, pool: Pool) -> AsyncIterator[Deps]:
    """The real clients, closed at the end. Raises OperatorError where one cannot be built."""
    registry = load_tools(settings.tools, settings.path)
    anthropic = build_anthropic(
        settings.anthropic_api_key.get_secret_value(), base_url=settings.anthropic_base_url
    )
    gateways = Gateways(GatewayRegistry(), settings_module.read_secret)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(anthropic.close)
        stack.push_async_callback(gateways.aclose)
        whatsapp = await stack.enter_async_context(
            WhatsAppSender(
                base_url=settings.whatsapp_base_url,
                version=settings.whatsapp_version,
                token=settings.whatsapp_token.get_secret_value(),
            )
        )
        yield Deps(
            pool=pool,
            registry=registry,
            claude=ClaudeClient(anthropic, settings.model),
            whatsapp=whatsapp,
            gateways=gateways,
            hearing=await _build_hearing(settings, stack),
            prompt_folder=settings.prompts,
            pause=timedelta(hours=settings.pause_hours),
            replace_claims=settings.replace_claims,
        )


async def _build_hearing(settings: Settings, stack: AsyncExitStack) -> Hearing | None:
    if settings.transcribe_url is None:
        return None
    key = settings.transcribe_key
    media = WhatsAppMedia(
        base_url=settings.whatsapp_base_url,
        version=settings.whatsapp_version,
        token=settings.whatsapp_token.get_secret_value(),
    )
    transcriber = Transcriber(
        url=settings.transcribe_url,
        key=key.get_secret_value() if key else None,
        model=settings.transcribe_model,
    )
    return Hearing(
        media=await stack.enter_async_context(media),
        transcriber=await stack.enter_async_context(transcriber),
    )


async def check_start(settings: Settings, pool: Pool, client: Client) -> None:
    """Refuse to start on a database that is not ours, and on a simulated channel beside real money.

    Raises DeploymentError or SettingsError.
    """
    async with pool.acquire() as connection:
        await migrate.check_migrated(connection)
        await migrate.check_deployment(
            connection, deployment=settings.deployment, namespace=client.namespace
        )
        if settings.channel_is_simulated and (real := await accounts.real_gateways(connection)):
            raise SettingsError(
                f"AVAL_WHATSAPP_BASE_URL is not Meta's, but the gateway of account {real[0]!r} is "
                "real: anybody who reaches the simulated channel could confirm. Use a simulated "
                "gateway, or the real channel"
            )


async def check_accounts(deps: Deps) -> None:
    """Refuse to start while an account's prompt or gateway cannot be used: found now, not at its
    first message. Raises OperatorError that names the account."""
    async with deps.pool.acquire() as connection:
        for account in await accounts.configured(connection):
            try:
                texts_for(account.language)
                deps.prompt(account.prompt_file, language=account.language)
                if account.gateway is not None:
                    await deps.gateways.of(connection, account.id)
            except (OperatorError, GatewayConfigError) as error:
                raise SettingsError(f"account {account.id!r}: {error}") from error


async def run(settings: Settings, queues: Sequence[str], stop: asyncio.Event) -> None:
    """Work until `stop` is set."""
    client = await connect()
    pool = await open_pool(settings.database_url.get_secret_value(), max_size=settings.pool_size)
    try:
        await check_start(settings, pool, client)
        async with build_deps(settings, pool) as deps, AsyncExitStack() as stack:
            await check_accounts(deps)
            stack.enter_context(
                serving_metrics(host=settings.metrics_host, port=settings.metrics_port)
            )
            await stack.enter_async_context(alerting(pool, url=settings.alert_address, worker=True))
            for worker in build_workers(client, deps, queues):
                await stack.enter_async_context(worker)
            sweeper = asyncio.create_task(sweep_for_ever(pool, client))
            stack.callback(sweeper.cancel)
            log.info("worker ready", extra={"queues": list(queues)})
            await stop.wait()
            log.info("worker stops: calls under way finish first")
    finally:
        await pool.close()


def _queues(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or any(name not in QUEUES for name in names):
        raise argparse.ArgumentTypeError(f"{text!r}; known queues: {', '.join(QUEUES)}")
    return names


def main(argv: Sequence[str] | None = None) -> int:
    """The process's exit code: 0 after a graceful stop, 2 if it may not start."""
    parser = argparse.ArgumentParser(prog="worker.py", description="Aval's worker")
    parser.add_argument("--queues", type=_queues, default=list(QUEUES))
    arguments = parser.parse_args(argv)
    try:
        loaded = settings_module.load()
        configure_logging(loaded.log_level)
        asyncio.run(_until_signalled(loaded, arguments.queues))
    except OperatorError as error:
        sys.stderr.write(f"worker: {error}\n")
        return 2
    except (OSError, RuntimeError) as error:
        sys.stderr.write(f"worker: cannot reach PostgreSQL or Temporal ({type(error).__name__})\n")
        return 2
    return 0


async def _until_signalled(loaded: Settings, queues: Sequence[str]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await run(loaded, queues, stop)


if __name__ == "__main__":
    leave(main())
