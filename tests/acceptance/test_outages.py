"""A part is away for a while: nothing is lost, nothing is done twice, and the person is told what
became of it. Processes and servers are real; what is counted is counted at the far side."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from tests.chaos.people import action_of
from tests.chaos.world import World, open_folder, open_world
from tests.harness.scenes import PIX, heard, model_calls, prompts, propose
from tests.harness.stack import Stack

MARIA = "maria"
SOON_S = 60
"""Generous: each restart of a process takes seconds on a small machine."""


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    """Everything as processes, with one worker."""
    with open_folder() as folder:
        async with open_world(folder, workers=1) as made:
            yield made


async def _status(made: World, action_id: str) -> str:
    status: str = await made.pool.fetchval("SELECT status FROM actions WHERE id = $1", action_id)
    return status


async def _first_codes(made: World) -> set[int | None]:
    journal = await made.whatsapp.journal()
    return {one.status_code for one in journal.webhooks if one.kind == "message"}


# ---------------------------------------------------------------- our own parts are away


@pytest.mark.slow
async def test_database_down_at_the_webhook() -> None:
    """PostgreSQL is down when message and click arrive → 503 for each, and nothing is lost: Meta
    delivers again, and the charge is made once."""
    async with world() as made:
        await asyncio.to_thread(made.postgres.child.stop)
        await made.whatsapp.send_text(MARIA, PIX)
        assert await _first_codes(made) == {503}
        made.postgres.child.spawn()
        prompt = await made.whatsapp.wait_prompt(MARIA, timeout_seconds=SOON_S)
        await asyncio.to_thread(made.postgres.child.stop)
        pressed = await made.whatsapp.press(MARIA, "confirm")
        assert pressed.status_codes == [503]
        made.postgres.child.spawn()
        await made.whatsapp.wait_message(MARIA, contains="br.gov.bcb.pix", timeout_seconds=SOON_S)
        assert (await made.payments.counters())["effects_by_key"] == {action_of(prompt): 1}
        assert await made.claude.calls() == 1


@pytest.mark.slow
@pytest.mark.parametrize("lose", [False, True], ids=["down", "down and its data lost"])
async def test_temporal_down(*, lose: bool) -> None:
    """Temporal is down when message and click arrive → 200, both stored; handled once it is back,
    even on an empty store, from the rows alone."""
    async with world() as made:
        await asyncio.to_thread(made.temporal.child.kill)
        sent = await made.whatsapp.send_text(MARIA, PIX)
        assert sent.status_codes == [200]
        await made.restart_temporal(lose=lose)
        prompt = await made.whatsapp.wait_prompt(MARIA, timeout_seconds=SOON_S)
        await asyncio.to_thread(made.temporal.child.kill)
        pressed = await made.whatsapp.press(MARIA, "confirm")
        assert pressed.status_codes == [200]
        await made.restart_temporal(lose=lose)
        await made.whatsapp.wait_message(MARIA, contains="br.gov.bcb.pix", timeout_seconds=SOON_S)
        assert (await made.payments.counters())["effects_by_key"] == {action_of(prompt): 1}
        assert await made.claude.calls() == 1


@pytest.mark.slow
async def test_the_api_killed_at_the_click() -> None:
    """The API is killed; the click is delivered again once it is back, and executes once."""
    async with world() as made:
        await made.whatsapp.send_text(MARIA, PIX)
        prompt = await made.whatsapp.wait_prompt(MARIA, timeout_seconds=SOON_S)
        await asyncio.to_thread(made.api.kill)
        pressed = await made.whatsapp.press(MARIA, "confirm", times=2, concurrent=True)
        assert pressed.status_codes == [None, None]
        made.api.spawn()
        await made.whatsapp.wait_message(MARIA, contains="br.gov.bcb.pix", timeout_seconds=SOON_S)
        assert (await made.payments.counters())["effects_by_key"] == {action_of(prompt): 1}


@pytest.mark.slow
async def test_the_provider_is_not_there() -> None:
    """The provider refuses connections: nothing is ever sent, and it is tried again while the
    confirmation is fresh; back in time, the charge is made once."""
    async with world() as made:
        await made.whatsapp.send_text(MARIA, PIX)
        prompt = await made.whatsapp.wait_prompt(MARIA, timeout_seconds=SOON_S)
        await made.pool.execute(
            "UPDATE accounts SET gateway_config = gateway_config || $1",
            {"base_url": "http://127.0.0.1:1"},
        )
        made.workers[0].send(signal.SIGTERM)
        await made.workers[0].died()
        await made.workers[0].start()
        await made.whatsapp.press(MARIA, "confirm")
        for _ in range(int(SOON_S / 0.1)):
            if await made.pool.fetchval("SELECT count(*) FROM sends WHERE outcome = 'not_sent'"):
                break
            await asyncio.sleep(0.1)
        await made.pool.execute(
            "UPDATE accounts SET gateway_config = gateway_config || $1",
            {"base_url": f"http://127.0.0.1:{made.ports.payments}"},
        )
        await made.whatsapp.wait_message(MARIA, contains="br.gov.bcb.pix", timeout_seconds=SOON_S)
        assert (await made.payments.counters())["effects_by_key"] == {action_of(prompt): 1}


# ---------------------------------------------------------------- far sides are away


async def _gateway_at(stack: Stack, base_url: str) -> str:
    """Move the account's gateway; where it was."""
    before: str = await stack.pool.fetchval("SELECT gateway_config->>'base_url' FROM accounts")
    await stack.pool.execute(
        "UPDATE accounts SET gateway_config = gateway_config || $1", {"base_url": base_url}
    )
    return before


@pytest.mark.slow
async def test_a_provider_that_refuses_connections_until_it_is_too_late(stack: Stack) -> None:
    """No connection within 120 s of the decision → failed, "nada foi feito", told once; the
    provider, back afterwards, is sent nothing."""
    action = await propose(stack)
    before = await _gateway_at(stack, "http://127.0.0.1:1")
    await stack.whatsapp.press(MARIA, "confirm")
    for _ in range(200):
        if await stack.pool.fetchval("SELECT count(*) FROM sends WHERE outcome = 'not_sent'"):
            break
        await asyncio.sleep(0.1)
    assert (await stack.action(action["id"]))["status"] == "executing"
    await stack.move_clock(action["id"], timedelta(seconds=121))
    await stack.wait_status(action["id"], "failed", seconds=30)
    await stack.whatsapp.wait_message(MARIA, contains="ada foi feito", timeout_seconds=20)
    await _gateway_at(stack, before)
    await stack.quiet()
    assert (await stack.action(action["id"]))["reason"] == "not_sent"
    assert await stack.charges() == 0
    assert len(await heard(stack)) == 1


@pytest.mark.slow
async def test_a_provider_that_stalls_holds_no_transaction_open(stack: Stack) -> None:
    """The provider takes ten seconds to answer → no connection of ours is idle in a transaction
    for more than a second meanwhile, other persons are served, and the charge is made once."""
    await stack.payments.add_fault("act_delay", seconds=10)
    action = await propose(stack)
    await stack.whatsapp.press(MARIA, "confirm")
    await stack.wait_status(action["id"], "executing")
    idle = busy = 0
    while (await stack.action(action["id"]))["status"] == "executing":
        idle += await stack.pool.fetchval(_IDLE)
        busy += 1
        await asyncio.sleep(0.1)
    assert busy > 50, "the provider did not stall"
    assert idle == 0
    await stack.quiet()
    assert (await stack.action(action["id"]))["status"] == "executed"
    assert await stack.charges() == 1


_IDLE = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND state = 'idle in transaction'
        AND pg_catalog.clock_timestamp() - state_change > interval '1 second'
"""


async def test_the_probe_for_idle_transactions_sees_one(stack: Stack) -> None:
    """What the test above counts is countable: a transaction left open for a second is seen."""
    async with stack.pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.fetchval("SELECT 1")
        await asyncio.sleep(1.2)
        assert await stack.pool.fetchval(_IDLE) == 1
        await transaction.rollback()


async def test_a_model_that_stays_away_is_retried_and_then_a_template_answers(
    stack: Stack,
) -> None:
    """The model answers 529 for good → asked again within limits, never without end; then one
    template, and the conversation goes on afterwards."""
    await stack.claude.fault("overloaded", contains="saldo", times=1)
    await stack.claude.fault("unauthorized", contains="saldo", times=1)
    await stack.whatsapp.send_text(MARIA, "qual é o meu saldo?")
    await stack.whatsapp.wait_message(
        MARIA, contains="Não consegui responder agora", timeout_seconds=30
    )
    await stack.quiet()
    assert await model_calls(stack) == 2
    await propose(stack)


@pytest.mark.slow
async def test_a_model_that_is_away_for_minutes(stack: Stack) -> None:
    """The real limits, nothing shortened: a model that drops every connection is asked for at most
    three minutes, with growing pauses, then a template answers once."""
    await stack.claude.fault("overloaded", contains="saldo", times=1000)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await stack.whatsapp.send_text(MARIA, "qual é o meu saldo?")
    while not await heard(stack):
        assert loop.time() - begun < 200
        await asyncio.sleep(1)
    calls = await model_calls(stack)
    assert 5 <= calls <= 20
    await stack.quiet()
    assert len(await heard(stack)) == 1
    assert await model_calls(stack) == calls


async def test_whatsapp_throttles_the_prompt_for_a_while(stack: Stack) -> None:
    """WhatsApp certainly took nothing, three times → tried again until it does; one prompt, and its
    click executes once."""
    await stack.whatsapp.plan_fault("error", code=130429, times=3)
    action = await propose(stack)
    await stack.whatsapp.press(MARIA, "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert len(await prompts(stack, MARIA)) == 1
    assert await stack.charges() == 1


@pytest.mark.slow
async def test_whatsapp_down_at_the_prompt(stack: Stack) -> None:
    """WhatsApp answers 503 to the prompt, which says nothing of whether it took it → a minute for
    a status, then it is repeated while its action is pending, and its click executes once."""
    await stack.whatsapp.plan_fault("error", code=131000, http_status=503, type="interactive")
    await stack.whatsapp.send_text(MARIA, PIX)
    for _ in range(200):
        if await stack.pool.fetchval("SELECT count(*) FROM outbox WHERE state = 'unknown'"):
            break
        await asyncio.sleep(0.1)
    assert await prompts(stack, MARIA) == []
    stack.skew += 61
    await stack.pool.execute("UPDATE fake.skew SET seconds = $1", stack.skew)
    await stack.whatsapp.wait_prompt(MARIA, timeout_seconds=SOON_S)
    await stack.whatsapp.press(MARIA, "confirm")
    await stack.wait_status((await stack.latest_action())["id"], "executed")
    await stack.quiet()
    assert len(await prompts(stack, MARIA)) == 1
    assert await stack.charges() == 1


async def test_whatsapp_down_until_the_deadline(stack: Stack) -> None:
    """The prompt never goes out: the action is closed at its deadline at the latest, and nothing
    can be done by a click on what nobody saw."""
    await stack.whatsapp.plan_fault("error", code=130429, times=1000)
    await stack.whatsapp.send_text(MARIA, PIX)
    for _ in range(200):
        if await stack.pool.fetchval("SELECT count(*) FROM actions"):
            break
        await asyncio.sleep(0.1)
    action = await stack.latest_action()
    await stack.move_clock(action["id"], timedelta(minutes=10, seconds=2))
    await stack.wait_status(action["id"], "expired", "failed", seconds=30)
    await stack.whatsapp.clear_plans()
    await stack.whatsapp.press(MARIA, button_id=f"pa:confirm:{action['id']}", with_context=False)
    await stack.quiet()
    assert await stack.charges() == 0
    assert await prompts(stack, MARIA) == []
