"""An operator at his command line: `aval` as a process of its own, beside a running stack."""

import asyncio
import os
import sys
from pathlib import Path

from tests.acceptance.test_running import environment
from tests.chaos.processes import with_moved_clock
from tests.harness.stack import Stack

ROOT = Path(__file__).parents[2]
NO_TEMPORAL = {"TEMPORAL_ADDRESS": "127.0.0.1:1"}


async def aval(stack: Stack, *argv: str, **changed: str) -> tuple[int, str]:
    """Run a command; its exit code, and all that it said. Its input is closed, as in a script."""
    dsn = with_moved_clock(stack.settings.database_url.get_secret_value())
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "cli.main",
        *argv,
        cwd=os.sep,
        env={
            **environment(stack),
            "PYTHONPATH": str(ROOT),
            "AVAL_DATABASE_URL": dsn,
            **changed,
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


async def skip(stack: Stack, seconds: float) -> None:
    """Move PostgreSQL's clock on; Temporal's timers stay."""
    stack.skew += seconds
    await stack.pool.execute("UPDATE fake.skew SET seconds = $1", stack.skew)
