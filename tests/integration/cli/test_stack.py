"""The stack as a whole: what keeps it from starting is one line, and a part that dies ends it."""

import asyncio
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from cli.stack.ports import SETTINGS, Ports, is_taken
from tests.acceptance.commands import interrupt, open_folder, said, start, wait_for

UP = "Aval is up"


def _ports() -> dict[str, str]:
    ports = asdict(Ports.free())
    return {name: str(ports[part]) for part, (name, _) in SETTINGS.items()}


async def _refused(folder: Path, environment: dict[str, str]) -> str:
    process = start(folder, "up", environment=environment)
    assert await asyncio.to_thread(process.wait, 30) == 2, said(folder)
    return said(folder)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the child in /proc")
async def test_a_part_that_dies_ends_the_stack_with_its_name() -> None:
    """The worker is killed: exit 1, the worker named, every other part stopped."""
    with open_folder() as folder:
        process = start(folder, "up", environment=_ports())
        try:
            await asyncio.to_thread(wait_for, process, folder, UP, seconds=60)
            os.kill(_pid_of(folder, "-m worker"), signal.SIGKILL)
            assert await asyncio.to_thread(process.wait, 40) == 1
        finally:
            process.kill()
        assert "aval: Worker ended by itself (exit code -9)" in said(folder)
        for part in ("API", "Payments (simulated)", "Temporal", "PostgreSQL"):
            assert f"stopped {part}" in said(folder)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tie a child to its parent")
async def test_a_second_stack_is_refused_and_a_killed_one_leaves_the_way_free() -> None:
    """While one runs, the folder is taken; after SIGKILL of `aval up` the next start works."""
    with open_folder() as folder:
        environment = _ports()
        process = start(folder, "up", environment=environment)
        await asyncio.to_thread(wait_for, process, folder, UP, seconds=60)
        assert "another Aval (process" in await _refused(folder, environment)
        process.kill()
        process.wait()
        await _all_free(environment)
        process = start(folder, "up", environment=environment)
        try:
            await asyncio.to_thread(wait_for, process, folder, UP, seconds=60)
            assert await asyncio.to_thread(interrupt, process) == 0
        finally:
            process.kill()


async def test_what_may_not_start_is_one_line_and_starts_nothing() -> None:
    """Real money beside a simulated channel; a real channel without its secret."""
    for environment, words in (
        ({"AVAL_PAGARME_API_KEY": "sk_live_x"}, "simulated channel never starts beside"),
        ({"AVAL_WHATSAPP_TOKEN": "EAAx"}, "AVAL_WHATSAPP_APP_SECRET: is missing"),
        ({"AVAL_API_PORT": "http"}, "AVAL_API_PORT: 'http' is not a port"),
        ({"AVAL_DATABASE_URL": "mysql://x"}, "AVAL_DATABASE_URL: must begin with postgresql://"),
    ):
        with open_folder() as folder:
            text = await _refused(folder, {**_ports(), **environment})
            assert words in text
            assert text.count("\n") == 1, text
            assert "sk_live_x" not in text


async def _all_free(ports: dict[str, str]) -> None:
    """Wait until the parts, which the system has told, have stopped."""
    for _ in range(200):
        if not any(is_taken(int(port)) for port in ports.values()):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"still taken after 20 s, of {ports!r}")


def _pid_of(folder: Path, words: str) -> int:
    """The child of the stack on `folder` whose command line holds these words."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            environment = (entry.parent / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if words in command and str(folder) in environment:
            return int(entry.parent.name)
    raise AssertionError(f"no process with {words!r} of {folder}")
