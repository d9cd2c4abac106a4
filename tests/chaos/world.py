"""The whole of Aval as processes that may die: two workers, the API, PostgreSQL, Temporal on a
file; and the three far sides, which never lie about what they saw."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from cli.stack.ports import HOST, Ports
from cli.stack.postgres import EmbeddedPostgres
from cli.stack.processes import Child, answers
from cli.stack.temporal import TemporalDevServer
from simulators.claude.client import ClaudeSimulatorClient
from simulators.payments.client import PaymentsSimulatorClient
from simulators.whatsapp.client import WhatsAppSimulatorClient
from simulators.whatsapp.config import Person
from store import migrate
from store.connection import Pool, open_pool
from store.demo import ACCOUNT, API_KEY_VARIABLE, seed_demo
from tests.chaos.bounds import within
from tests.chaos.guards import Guard, break_for_operators, break_in_database
from tests.chaos.points import Orders
from tests.chaos.processes import ROOT, Worker, with_moved_clock
from tests.harness.databases import SEARCH_PATH, Databases

SECRET = "simulator-secret-of-a-run"
APP_SECRET = "app-secret-of-a-run"
TOKEN = "whatsapp-token-of-a-run"
PAYMENTS_KEY = "sk_test_of_a_run"
NUMBER = "100200300400500"
RECIPIENT = "re_simulated"
SECRETS = {API_KEY_VARIABLE: PAYMENTS_KEY}
GATEWAYS = ("pagarme",)
"""Gateways whose provider the payments simulator can play, and which `seed_demo` can configure."""
ROWS_WITHIN_S = 25.0
"""A statement of ours, with the wait for one of the pool's connections: a pool that waits for a
server that is gone would wait for ever."""
START_WITHIN_S = 90.0
WEALTH_CENTS = 100_000_000_000
"""So much that no run is refused for want of balance."""


@dataclass
class World:
    """The processes, the clients of the far sides, and the run's own view of the rows."""

    folder: Path
    ports: Ports
    postgres: EmbeddedPostgres
    temporal: TemporalDevServer
    dsn: str
    orders: Orders
    workers: list[Worker]
    api: Child
    whatsapp: WhatsAppSimulatorClient
    claude: ClaudeSimulatorClient
    payments: PaymentsSimulatorClient
    pool: Pool
    persons: dict[str, str] = field(default_factory=dict)
    """User ids by person."""

    async def add_person(self, name: str, *, number: int) -> None:
        """A new owner of the account, with a phone."""
        user_id, wa_id = f"BR.9{number:015d}", f"55119{number:08d}"
        person = Person(id=name, name=f"Pessoa {number}", user_id=user_id, wa_id=wa_id)
        await self.whatsapp.put_person(person)
        async with within(ROWS_WITHIN_S, "adding a member"):
            await self.pool.execute(
                "INSERT INTO members (account_id, user_id, wa_id, name, role)"
                " VALUES ($1, $2, $3, $4, 'owner')",
                ACCOUNT,
                user_id,
                wa_id,
                person.name,
            )
        self.persons[name] = user_id

    async def leap(self, seconds: float) -> None:
        """Move PostgreSQL's clock on; relative, so that of two leaps at once none takes the other
        back."""
        async with within(ROWS_WITHIN_S, "a leap of PostgreSQL's clock"):
            await self.pool.execute("UPDATE fake.skew SET seconds = seconds + $1", seconds)

    async def temporal_client(self) -> Client:
        """A fresh client: the server may be another than a moment ago."""
        return await Client.connect(
            self.temporal.address, data_converter=pydantic_data_converter, lazy=True
        )

    async def restart_postgres(self) -> None:
        """Stop it as an operator does, and start it again."""
        await asyncio.to_thread(self.postgres.child.stop)
        self.postgres.child.spawn()
        await asyncio.to_thread(self.postgres.child.wait_ready)

    async def restart_temporal(self, *, lose: bool) -> None:
        """Kill it and start it again; with `lose` on an empty file."""
        await asyncio.to_thread(self.temporal.child.kill)
        if lose:
            for file in self.folder.glob("temporal.sqlite*"):
                file.unlink()
        self.temporal.child.spawn()
        await asyncio.to_thread(self.temporal.child.wait_ready)


def product_environment(dsn: str, ports: Ports, temporal: str) -> dict[str, str]:
    """What workers and API are started with."""
    return {
        "PATH": os.environ["PATH"],
        "PYTHONUNBUFFERED": "1",
        "AVAL_DATABASE_URL": with_moved_clock(dsn),
        "AVAL_DEPLOYMENT": "chaos",
        "AVAL_WHATSAPP_TOKEN": TOKEN,
        "AVAL_WHATSAPP_APP_SECRET": APP_SECRET,
        "AVAL_WHATSAPP_VERIFY_TOKEN": "verify-token-of-a-run",
        "AVAL_WHATSAPP_BASE_URL": f"http://{HOST}:{ports.whatsapp}",
        "ANTHROPIC_API_KEY": "claude-key-of-a-run",
        "ANTHROPIC_BASE_URL": f"http://{HOST}:{ports.claude}",
        **SECRETS,
        "AVAL_API_HOST": HOST,
        "AVAL_API_PORT": str(ports.api),
        "TEMPORAL_ADDRESS": temporal,
        "TEMPORAL_NAMESPACE": "default",
        "TEMPORAL_CONFIG_FILE": os.devnull,
    }


def _simulators(folder: Path, ports: Ports) -> list[Child]:
    given: dict[str, dict[str, str]] = {
        "whatsapp": {
            "WEBHOOK_URL": f"http://{HOST}:{ports.api}/webhooks/whatsapp",
            "APP_SECRET": APP_SECRET,
            "TOKEN": TOKEN,
            "PHONE_NUMBER_ID": NUMBER,
            "PAGE_SECRET": SECRET,
            "RETRY_INITIAL": "0.2",
            "RETRY_MAX": "1.0",
        },
        "claude": {"KEY": "claude-key-of-a-run", "ADMIN_SECRET": SECRET},
        "payments": {
            "API_KEY": PAYMENTS_KEY,
            "ADMIN_SECRET": SECRET,
            "RECIPIENT_ID": RECIPIENT,
            "OPENING_BALANCE_CENTS": str(WEALTH_CENTS),
        },
    }
    return [
        _python(
            f"simulators.{part}",
            folder / f"{part}.log",
            {
                "PATH": os.environ["PATH"],
                f"SIM_{part.upper()}_HOST": HOST,
                f"SIM_{part.upper()}_PORT": str(getattr(ports, part)),
                **{f"SIM_{part.upper()}_{name}": value for name, value in options.items()},
            },
            url=f"http://{HOST}:{getattr(ports, part)}"
            f"{'/healthz' if part == 'payments' else '/health'}",
        )
        for part, options in given.items()
    ]


def _python(module: str, log: Path, environment: Mapping[str, str], *, url: str) -> Child:
    return Child(
        module,
        [sys.executable, "-m", module],
        log=log,
        environment=environment,
        ready=answers(url),
        folder=ROOT,
    )


@contextmanager
def open_folder() -> Iterator[Path]:
    """An empty folder that PostgreSQL's user can reach where we are root; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="aval-chaos-", dir="/var/tmp")).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def open_world(
    folder: Path, *, guard: Guard | None = None, workers: int = 2, gateway: str = GATEWAYS[0]
) -> AsyncIterator[World]:
    """Start everything below `folder`, with `guard` switched off, and end it again."""
    async with AsyncExitStack() as stack:
        async with within(START_WITHIN_S, "the start of all processes"):
            world = await _start(
                stack, folder, guard=guard, workers=workers, gateway=gateway, ports=Ports.free()
            )
        yield world


async def _start(
    stack: AsyncExitStack,
    folder: Path,
    *,
    guard: Guard | None,
    workers: int,
    gateway: str,
    ports: Ports,
) -> World:
    (folder / "orders").mkdir()
    postgres = EmbeddedPostgres(folder / "pg", log=folder / "postgresql.log", fsync=False)
    stack.callback(postgres.stop)
    postgres.start()
    temporal = TemporalDevServer(
        log=folder / "temporal.log",
        database=folder / "temporal.sqlite",
        port=ports.temporal,
        ui_port=ports.temporal_ui,
    )
    near = [temporal.child, *_simulators(folder, ports)]
    for child in near:
        stack.callback(child.kill)  # nothing in it is worth a polite end
        child.spawn()
    dsn, pool = await _database(stack, postgres, ports, guard, gateway)
    for child in near:
        await asyncio.to_thread(child.wait_ready)
    environment = product_environment(dsn, ports, temporal.address)
    api = _python(
        "api", folder / "api.log", environment, url=f"http://{HOST}:{ports.api}/health/live"
    )
    stack.callback(api.kill)
    world = World(
        folder=folder,
        ports=ports,
        postgres=postgres,
        temporal=temporal,
        dsn=dsn,
        orders=Orders(folder / "orders"),
        workers=_workers(folder, environment, guard, workers),
        api=api,
        pool=pool,
        whatsapp=await stack.enter_async_context(
            WhatsAppSimulatorClient(f"http://{HOST}:{ports.whatsapp}", SECRET)
        ),
        claude=await stack.enter_async_context(
            ClaudeSimulatorClient(f"http://{HOST}:{ports.claude}", admin_secret=SECRET)
        ),
        payments=await stack.enter_async_context(
            PaymentsSimulatorClient(f"http://{HOST}:{ports.payments}", admin_secret=SECRET)
        ),
    )
    api.spawn()
    stack.push_async_callback(_end_workers, world)
    await asyncio.gather(*(worker.start() for worker in world.workers))
    await asyncio.to_thread(api.wait_ready)
    return world


def _workers(
    folder: Path, environment: Mapping[str, str], guard: Guard | None, count: int
) -> list[Worker]:
    broken = {"CHAOS_BREAK": str(guard)} if guard is not None and guard.in_worker else {}
    return [
        Worker(
            {**environment, **broken},
            orders=Orders(folder / "orders"),
            log=folder / f"worker{n}.log",
        )
        for n in range(count)
    ]


async def _end_workers(world: World) -> None:
    await asyncio.gather(*(worker.end() for worker in world.workers))


async def _database(
    stack: AsyncExitStack,
    postgres: EmbeddedPostgres,
    ports: Ports,
    guard: Guard | None,
    gateway: str,
) -> tuple[str, Pool]:
    dsn = await Databases(admin_dsn=postgres.dsn()).fresh()
    pool = await open_pool(dsn, max_size=4, server_settings={"search_path": SEARCH_PATH})
    stack.push_async_callback(_terminate, pool)
    async with pool.acquire() as connection:
        await migrate.bind_deployment(connection, deployment="chaos", namespace="default")
        await seed_demo(
            connection,
            phone_number_id=NUMBER,
            gateway=gateway,
            base_url=f"http://{HOST}:{ports.payments}",
            recipient_id=RECIPIENT,
            allow_plain_http=True,
        )
        await connection.execute("UPDATE wallets SET available_cents = $1", WEALTH_CENTS)
    if guard is Guard.INDEX:
        await break_in_database(dsn)
    if guard is Guard.RULES:
        break_for_operators()
    return dsn, pool


async def _terminate(pool: Pool) -> None:
    pool.terminate()
