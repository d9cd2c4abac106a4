"""Shared fixtures: PostgreSQL and Temporal are real and started once; a stack is fresh each
test."""

import logging
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import TimeSkippingConfig, WorkflowEnvironment

from cli.stack.postgres import EmbeddedPostgres
from tests.harness.databases import Databases
from tests.harness.stack import Stack, running_stack
from workflows import options

FAST_QUEUES = [
    argument
    for name in ("transfer", "timer", "visibility")
    for argument in ("--dynamic-config-value", f"history.{name}ProcessorMaxPollRPS=5000")
]


@pytest.fixture(scope="session", autouse=True)
def _no_credentials() -> None:
    """No test may reach a real party, whatever the environment holds."""
    for name in list(os.environ):
        if name.startswith(("AVAL_", "ANTHROPIC_", "TEMPORAL_")):
            del os.environ[name]


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    """An embedded PostgreSQL of this run, with its administration database."""
    # as root the server runs as another user, who has to reach the folder
    folder = Path(tempfile.mkdtemp(prefix="aval-tests-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        with EmbeddedPostgres(folder / "pg", fsync=False) as server:
            yield server.dsn()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def databases(postgres_dsn: str) -> Databases:
    """Fresh databases, cloned from one template."""
    return Databases(admin_dsn=postgres_dsn)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def temporal_env() -> AsyncIterator[WorkflowEnvironment]:
    """A real Temporal server in memory; time skipping is off until a test fast-forwards."""
    env = await WorkflowEnvironment.start_time_skipping_v2(
        ts_config=TimeSkippingConfig(enabled=False),
        data_converter=pydantic_data_converter,
        dev_server_existing_path=str(Path(sys.executable).parent / "temporal"),
        dev_server_extra_args=[
            "--dynamic-config-value",
            "frontend.WorkflowTimeSkippingEnabled=true",
            *FAST_QUEUES,
        ],
        dev_server_log_level="error",
    )
    async with env:
        yield env


@pytest_asyncio.fixture(loop_scope="session")
async def stack(databases: Databases, temporal_env: WorkflowEnvironment) -> AsyncIterator[Stack]:
    """The whole system, working, on a database of its own."""
    async with running_stack(databases, temporal_env) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def patient_stack(
    databases: Databases, temporal_env: WorkflowEnvironment
) -> AsyncIterator[Stack]:
    """The same, waiting for a burst's end as in production."""
    async with running_stack(databases, temporal_env, quiet=options.QUIET) as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def _quiet_libraries() -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)
