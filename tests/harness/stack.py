"""The whole system in one event loop: simulators, API and workers on real ports, PostgreSQL and
Temporal real. What is counted is counted at the far side, through the simulators' clients."""

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

import settings as settings_module
import worker
from api.app import create_app
from domain import ids
from settings import Settings
from simulators.claude.app import create_app as create_claude
from simulators.claude.client import ClaudeSimulatorClient
from simulators.claude.config import ClaudeSimulatorConfig
from simulators.payments.app import create_app as create_payments
from simulators.payments.client import PaymentsSimulatorClient
from simulators.payments.config import PaymentsSimulatorConfig
from simulators.whatsapp.client import WhatsAppSimulatorClient
from simulators.whatsapp.config import SimulatorConfig
from simulators.whatsapp.server import running as running_whatsapp
from store import migrate
from store.connection import Pool, open_pool
from store.demo import seed_demo
from tests.harness.databases import SEARCH_PATH, Databases
from tests.harness.serving import serving
from workflows import options
from workflows.alerts import alerting
from workflows.sweeper import sweep_for_ever
from workflows.workers import QUEUES, build_workers

SECRET = "simulator-secret-of-a-test"
APP_SECRET = "app-secret-of-a-test"
NUMBER = "100200300400500"
PAGARME_KEY = "sk_test_of_a_test"
RECIPIENT = "re_simulated"


@dataclass
class Stack:
    """A running system and the clients of its far sides."""

    settings: Settings
    pool: Pool
    temporal: Client
    env: WorkflowEnvironment
    api_url: str
    whatsapp: WhatsAppSimulatorClient
    claude: ClaudeSimulatorClient
    payments: PaymentsSimulatorClient
    skew: float = 0.0
    _working: AsyncExitStack | None = field(default=None, repr=False)

    # -- the product's processes

    async def start_worker(
        self, queues: Sequence[str] = tuple(QUEUES), *, sweep: bool = True
    ) -> None:
        """Work in this event loop, on the queues named; with the loops that sweep and alert."""
        stack = AsyncExitStack()
        deps = await stack.enter_async_context(worker.build_deps(self.settings, self.pool))
        for one in build_workers(self.temporal, deps, queues):
            await stack.enter_async_context(one)
        if sweep:
            task = asyncio.create_task(sweep_for_ever(self.pool, self.temporal))
            stack.callback(task.cancel)
            await stack.enter_async_context(
                alerting(self.pool, url=self.settings.alert_address, worker=True)
            )
        self._working = stack

    async def stop_worker(self) -> None:
        """Stop working, gracefully."""
        if self._working is not None:
            working, self._working = self._working, None
            await working.aclose()

    # -- what a test asks of the rows; the far side is asked through the simulators

    async def action(self, action_id: str) -> dict[str, Any]:
        """The action's row."""
        row = await self.pool.fetchrow("SELECT * FROM actions WHERE id = $1", action_id)
        assert row is not None, f"no action {action_id!r}"
        return dict(row)

    async def latest_action(self) -> dict[str, Any]:
        """The newest action's row."""
        row = await self.pool.fetchrow("SELECT * FROM actions ORDER BY created_at DESC LIMIT 1")
        assert row is not None, "no action yet"
        return dict(row)

    async def wait_status(self, action_id: str, *statuses: str, seconds: float = 15) -> str:
        """Wait until the action has one of the statuses."""
        for _ in range(int(seconds / 0.05)):
            status: str = (await self.action(action_id))["status"]
            if status in statuses:
                return status
            await asyncio.sleep(0.05)
        raise AssertionError(f"action {action_id!r} is {status!r}, waited for {statuses!r}")

    async def charges(self) -> int:
        """How many effects the provider made."""
        counters = await self.payments.counters()
        total: int = counters["effects_total"]
        return total

    async def move_clock(self, action_id: str, by: timedelta) -> None:
        """Move both clocks: PostgreSQL's by the shadowing schema, Temporal's by fast-forward."""
        self.skew += by.total_seconds()
        await self.pool.execute("UPDATE fake.skew SET seconds = $1", self.skew)
        handle = self.temporal.get_workflow_handle(ids.action_workflow_id(action_id))
        await self.env.fast_forward(handle, by)

    async def quiet(self, seconds: float = 20) -> None:
        """Wait until no row waits for work: all messages handled, all bells answered."""
        for _ in range(int(seconds / 0.05)):
            if await self.pool.fetchval(_NOT_DONE) == 0:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"still not done: {await self.pool.fetchval(_NOT_DONE)} rows")


_NOT_DONE = """
    SELECT (SELECT count(*) FROM inbox WHERE done_at IS NULL)
         + (SELECT count(*) FROM decisions WHERE answered_at IS NULL)
         + (SELECT count(*) FROM outbox WHERE done_at IS NULL)
         + (SELECT count(*) FROM turns WHERE closed_at IS NULL)
         + (SELECT count(*) FROM actions WHERE status = 'executing')
"""


@asynccontextmanager
async def running_stack(
    databases: Databases,
    env: WorkflowEnvironment,
    *,
    start_worker: bool = True,
    tools: str | None = None,
    path: str | None = None,
    prompts: Path | None = None,
    alert_url: str | None = None,
    transcribe_url: str | None = None,
    quiet: timedelta = timedelta(0),
) -> AsyncIterator[Stack]:
    """Start everything on a fresh database and stop it again, workflows too.

    `quiet`: how long a burst's end is waited for; nothing by default, since two seconds a message
    are most of a test's time.
    """
    async with AsyncExitStack() as stack:
        usual, options.QUIET = options.QUIET, quiet
        stack.callback(setattr, options, "QUIET", usual)
        dsn = await databases.fresh()
        stack.push_async_callback(databases.drop, dsn)
        pool = await open_pool(dsn, server_settings={"search_path": SEARCH_PATH})
        stack.push_async_callback(pool.close)
        whatsapp_url = await stack.enter_async_context(
            running_whatsapp(
                SimulatorConfig(
                    webhook_url="http://127.0.0.1:1/not-yet",
                    app_secret=APP_SECRET,
                    token="whatsapp-token-of-a-test",
                    phone_number_id=NUMBER,
                    page_secret=SECRET,
                    status_delay_seconds=0.0,
                    retry_initial_seconds=0.1,
                    retry_max_seconds=1.0,
                )
            )
        )
        claude_url = await stack.enter_async_context(
            serving(create_claude(ClaudeSimulatorConfig(key="claude-key", admin_secret=SECRET)))
        )
        payments_url = await stack.enter_async_context(
            serving(
                create_payments(PaymentsSimulatorConfig(api_key=PAGARME_KEY, admin_secret=SECRET))
            )
        )
        environment = {
            "AVAL_DATABASE_URL": dsn,
            "AVAL_DEPLOYMENT": "test",
            "AVAL_WHATSAPP_TOKEN": "whatsapp-token-of-a-test",
            "AVAL_WHATSAPP_APP_SECRET": APP_SECRET,
            "AVAL_WHATSAPP_VERIFY_TOKEN": "verify-token-of-a-test",
            "AVAL_WHATSAPP_BASE_URL": whatsapp_url,
            "ANTHROPIC_API_KEY": "claude-key",
            "ANTHROPIC_BASE_URL": claude_url,
            **({"AVAL_TOOLS": tools} if tools else {}),
            **({"AVAL_PATH": path} if path else {}),
            **({"AVAL_PROMPTS": str(prompts)} if prompts else {}),
            **({"AVAL_ALERT_URL": alert_url} if alert_url else {}),
            **({"AVAL_TRANSCRIBE_URL": transcribe_url} if transcribe_url else {}),
            "AVAL_TRANSCRIBE_KEY": "transcribe-key",
        }
        os.environ["AVAL_PAGARME_API_KEY"] = PAGARME_KEY
        stack.callback(os.environ.pop, "AVAL_PAGARME_API_KEY", None)
        settings = settings_module.load(environment)
        async with pool.acquire() as connection:
            await migrate.bind_deployment(connection, deployment="test", namespace="default")
            await seed_demo(
                connection,
                phone_number_id=NUMBER,
                base_url=payments_url,
                recipient_id=RECIPIENT,
                allow_plain_http=True,
            )
        api_url = await stack.enter_async_context(serving(create_app(settings, pool, env.client)))
        running = Stack(
            settings=settings,
            pool=pool,
            temporal=env.client,
            env=env,
            api_url=api_url,
            whatsapp=await stack.enter_async_context(WhatsAppSimulatorClient(whatsapp_url, SECRET)),
            claude=await stack.enter_async_context(
                ClaudeSimulatorClient(claude_url, admin_secret=SECRET)
            ),
            payments=await stack.enter_async_context(
                PaymentsSimulatorClient(payments_url, admin_secret=SECRET)
            ),
        )
        await running.whatsapp.set_webhook_url(f"{api_url}/webhooks/whatsapp")
        stack.push_async_callback(_end_workflows, running)
        if start_worker:
            await running.start_worker()
        stack.push_async_callback(running.stop_worker)
        yield running


async def _end_workflows(stack: Stack) -> None:
    """The next test must not be given this one's workflows."""
    rows = await stack.pool.fetch(
        "SELECT 'action:' || id AS id FROM actions UNION ALL"
        " SELECT 'turn:' || id::text FROM conversations"
    )
    for row in rows:
        handle = stack.temporal.get_workflow_handle(row["id"])
        try:
            await handle.terminate("the test is over")
        except Exception as error:
            if "NOT_FOUND" not in str(getattr(error, "status", error)):
                continue


def new_id() -> uuid.UUID:
    """A random id for rows that tests make themselves."""
    return uuid.uuid4()
