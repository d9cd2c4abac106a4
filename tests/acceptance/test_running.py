"""Processes: two workers at once, queues apart, bells that get lost, a graceful stop, a refusal to
start. The worker is the real process here, as an operator starts it."""

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from temporalio.testing import WorkflowEnvironment

import api.webhook
from cli.stack.ports import free_ports
from tests.harness.databases import Databases
from tests.harness.scenes import ask, heard, prompts, propose
from tests.harness.stack import PAGARME_KEY, Stack, running_stack

ROOT = Path(__file__).parents[2]


def environment(stack: Stack) -> dict[str, str]:
    """What a worker process of this stack is started with."""
    settings = stack.settings
    return {
        "PATH": os.environ["PATH"],
        "AVAL_DATABASE_URL": settings.database_url.get_secret_value(),
        "AVAL_DEPLOYMENT": settings.deployment,
        "AVAL_WHATSAPP_TOKEN": settings.whatsapp_token.get_secret_value(),
        "AVAL_WHATSAPP_APP_SECRET": settings.whatsapp_app_secret.get_secret_value(),
        "AVAL_WHATSAPP_VERIFY_TOKEN": settings.whatsapp_verify_token.get_secret_value(),
        "AVAL_WHATSAPP_BASE_URL": settings.whatsapp_base_url,
        "ANTHROPIC_API_KEY": settings.anthropic_api_key.get_secret_value(),
        "ANTHROPIC_BASE_URL": settings.anthropic_base_url or "",
        "AVAL_PAGARME_API_KEY": PAGARME_KEY,
        "TEMPORAL_ADDRESS": stack.temporal.service_client.config.target_host,
        "TEMPORAL_NAMESPACE": stack.temporal.namespace,
    }


@asynccontextmanager
async def worker_process(
    stack: Stack, *arguments: str, **extra: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A worker as a process of its own, ended by SIGTERM."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "worker.py",
        *arguments,
        cwd=ROOT,
        env={**environment(stack), **extra},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def _ready(process: asyncio.subprocess.Process) -> None:
    assert process.stderr is not None
    async with asyncio.timeout(90):  # several interpreters start at once
        async for line in process.stderr:
            if b"worker ready" in line:
                return
    raise AssertionError("the worker ended before it was ready")


async def test_two_workers_and_queues_apart(
    databases: Databases, temporal_env: WorkflowEnvironment
) -> None:
    """A worker for conversations and one for executions, as processes, beside a third that does
    both: everything works, one effect; each stops gracefully with exit code 0."""
    async with running_stack(databases, temporal_env, start_worker=False) as stack:
        async with (
            worker_process(stack, "--queues", "conversations") as talk,
            worker_process(stack, "--queues", "executions") as act,
            worker_process(stack) as both,
        ):
            await asyncio.gather(*(_ready(one) for one in (talk, act, both)))
            action = await propose(stack)
            await stack.whatsapp.press("maria", "confirm", times=3, concurrent=True)
            await stack.wait_status(action["id"], "executed")
            await stack.quiet()
            assert await stack.charges() == 1
        assert [talk.returncode, act.returncode, both.returncode] == [0, 0, 0]


async def test_the_api_stops_gracefully(stack: Stack) -> None:
    """SIGTERM → the API closes what it holds and leaves with exit code 0."""
    port = free_ports(1)[0]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "api",
        cwd=ROOT,
        env={**environment(stack), "AVAL_API_PORT": str(port)},
        stderr=asyncio.subprocess.PIPE,
    )
    async with httpx.AsyncClient() as client, asyncio.timeout(90):
        for _ in itertools.count():
            if await _answers(client, f"http://127.0.0.1:{port}/health/ready"):
                break
            await asyncio.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), 30) == 0


async def _answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url)).status_code == 200
    except httpx.TransportError:
        return False


async def test_without_a_worker_for_executions_nothing_is_executed_and_it_is_told(
    databases: Databases, temporal_env: WorkflowEnvironment
) -> None:
    """Executions have their own queue: with no worker on it a confirmed action waits, visible as
    executing, and runs when the worker comes."""
    async with running_stack(databases, temporal_env, start_worker=False) as stack:
        await stack.start_worker(["conversations"])
        action = await propose(stack)
        await stack.whatsapp.press("maria", "confirm")
        await stack.wait_status(action["id"], "executing")
        await asyncio.sleep(1)
        assert await stack.charges() == 0
        async with worker_process(stack, "--queues", "executions"):
            await stack.wait_status(action["id"], "executed", seconds=40)
        assert await stack.charges() == 1


async def test_a_worker_refuses_what_it_may_not_start_with(stack: Stack) -> None:
    """A foreign deployment, a missing setting, a tool module that is not there: one line, exit
    2."""
    await _refused(stack, b"belongs to deployment 'test'", AVAL_DEPLOYMENT="another")
    await _refused(stack, b"AVAL_WHATSAPP_TOKEN", AVAL_WHATSAPP_TOKEN="")
    await _refused(stack, b"AVAL_TOOLS", AVAL_TOOLS="nowhere.tools")


async def test_an_account_that_cannot_work_stops_the_start(stack: Stack) -> None:
    """A prompt file that is not there, a gateway secret that is not set: named with the account at
    start, not found by its first customer."""
    await stack.pool.execute("UPDATE accounts SET prompt_file = 'nowhere.md'")
    await _refused(stack, b"account 'demo'", b"nowhere.md")
    await stack.pool.execute("UPDATE accounts SET prompt_file = NULL")
    await _refused(stack, b"account 'demo'", b"AVAL_PAGARME_API_KEY", AVAL_PAGARME_API_KEY="")
    await stack.pool.execute("ALTER TABLE accounts DROP CONSTRAINT accounts_language_check")
    await stack.pool.execute("UPDATE accounts SET language = 'tlh'")
    await _refused(stack, b"account 'demo'", b"no texts in the language 'tlh'")


async def _refused(stack: Stack, *words: bytes, **extra: str) -> None:
    async with worker_process(stack, **extra) as process:
        assert process.stderr is not None
        said = await asyncio.wait_for(process.stderr.read(), 30)
        await process.wait()
    assert process.returncode == 2, said
    assert all(word in said for word in words), said
    assert b"Traceback" not in said


async def test_a_simulated_channel_beside_real_money_does_not_start(stack: Stack) -> None:
    """Anybody who reaches a simulated channel could confirm: not beside a real gateway."""
    await stack.pool.execute(
        "UPDATE accounts SET gateway_config = gateway_config ||"
        ' \'{"base_url": "https://api.provider.example"}\''
    )
    await _refused(stack, b"AVAL_WHATSAPP_BASE_URL")


async def test_live_mode_beside_a_simulated_channel_does_not_start(stack: Stack) -> None:
    """A gateway that says `live` is real wherever it is reached; one that says `sandbox` with the
    key of the live environment is found when it is built."""
    await stack.pool.execute(
        "UPDATE accounts SET gateway = 'stripe', gateway_config = gateway_config ||"
        ' \'{"mode": "live", "recipient_id": "ba_1"}\''
    )
    await _refused(stack, b"AVAL_WHATSAPP_BASE_URL", b"account 'demo'")
    await stack.pool.execute(
        'UPDATE accounts SET gateway_config = gateway_config || \'{"mode": "sandbox"}\''
    )
    live = {"AVAL_PAGARME_API_KEY": "sk_live_of_a_test"}
    await _refused(stack, b"account 'demo'", b"mode 'sandbox' needs a key", **live)


async def test_lost_bells_are_rung_by_the_sweeper(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing depends on a signal: with every bell of the webhook lost, message and click are
    handled all the same."""

    async def deaf(*_args: object) -> int:
        return 0

    monkeypatch.setattr(api.webhook, "ring_all", deaf)
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await stack.charges() == 1


async def test_terminated_workflows_are_started_again(stack: Stack) -> None:
    """An action's workflow terminated by hand while it waits: the click starts it again."""
    action = await propose(stack)
    await stack.temporal.get_workflow_handle(f"action:{action['id']}").terminate("by hand")
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert await stack.charges() == 1
    assert len(await heard(stack)) == 2


async def test_five_chopped_messages_are_one_turn(patient_stack: Stack) -> None:
    """A person who types in pieces is answered once, with all of it in mind."""
    stack = patient_stack
    pieces = ["oi", "tudo bem?", "gera um Pix de 150 reais pro João Silva", "é isso", "obrigada"]
    for piece in pieces:
        await stack.whatsapp.send_text("maria", piece)
    await stack.quiet()
    assert await stack.pool.fetchval("SELECT count(*) FROM turns") == 1
    said = len(await heard(stack)) + len(await prompts(stack, "maria"))
    assert said == 1
    (first, *_others) = await stack.claude.journal()
    assert all(piece in str(first) for piece in pieces)


async def test_after_the_click_the_model_knows_what_happened(stack: Stack) -> None:
    """The question "e o Pix?" is answered from the facts."""
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    answer = await ask(stack, "e o Pix?")
    assert "150,00" in answer


async def test_history_events_of_a_turn_and_a_confirmed_action(
    patient_stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    """Printed, not gated: the aim is 60 events for a turn with one confirmed action."""
    stack = patient_stack
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    turn = f"turn:{action['conversation_id']}"
    counts = {}
    for name in (turn, f"action:{action['id']}"):
        history = await stack.temporal.get_workflow_handle(name).fetch_history()
        counts[name.split(":")[0]] = len(history.events)
    with capsys.disabled():
        sys.stdout.write(f"\nhistory events: {counts}, together {sum(counts.values())} (aim 60)\n")
    assert sum(counts.values()) > 0
