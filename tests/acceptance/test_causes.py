"""The second article's table of causes and defences: each row is a test, run again with its main
defence switched off, so that the complementary one is seen to hold. The switches are here, in the
tests; the product has none."""

import asyncio
import uuid
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.decide import Decide
from domain import ids
from store import deciding, executing, turns
from store.next_step import Next
from tests.harness.scenes import ask, heard, prompts, propose
from tests.harness.stack import Stack
from tools.scheduling.create_booking import CreateBooking

SLOT = "2099-03-11T14:00:00-03:00"
BOOKING = (
    '/tool create_booking {"customer":"João Silva","professional":"Bruno Reis",'
    f'"starts_at":"{SLOT}"}}'
)
EMAIL = '/tool update_email {"customer":"João Silva","email":"novo@exemplo.com.br"}'


async def _bookings(stack: Stack) -> int:
    count: int = await stack.pool.fetchval("SELECT count(*) FROM bookings")
    return count


async def _confirm(stack: Stack, action_id: str) -> None:
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{action_id}")
    await stack.wait_status(action_id, "executed")
    await stack.quiet()


async def _posts(stack: Stack) -> int:
    return sum(one["method"] == "POST" for one in await stack.payments.journal())


def _lose_the_first_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker dies between the model's answer and its storing: the model is asked again, and
    answers under other ids."""
    original = turns.store_answer
    lost: list[object] = []

    async def store_answer(*args: Any, **named: Any) -> Any:
        if not lost:
            lost.append(named["turn"])
            raise ApplicationError("died before it was stored")
        return await original(*args, **named)

    monkeypatch.setattr(turns, "store_answer", store_answer)


# ------------------------------------------------------------------ row 1


async def test_retry_of_the_agent(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry do job do agente | Tabela de execuções com chave estável | Idempotency-Key no provedor.

    Two answers of the model for one turn, under different ids: one proposal, one booking; and a
    later turn that asks for the same is told of the booking that exists."""
    _lose_the_first_answer(monkeypatch)
    action = await propose(stack, BOOKING)
    assert await stack.claude.calls() == 2
    await _confirm(stack, action["id"])
    answer = await ask(stack, BOOKING)
    assert await _bookings(stack) == 1
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 1
    assert "2099-03-11T14:00" in answer


async def test_retry_of_the_agent_without_a_stable_key(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 1 with the stable key off (every try makes a new id): the business key holds, one
    booking."""
    monkeypatch.setattr(ids, "action_id", lambda _turn: uuid.uuid4().hex)
    first = await propose(stack, BOOKING)
    await _confirm(stack, first["id"])
    await ask(stack, BOOKING)
    assert await _bookings(stack) == 1


async def test_retry_of_the_execution_without_the_fence(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 1 at the provider, with our own record of sends off: the same action is sent twice, and
    the Idempotency-Key makes it one charge."""
    original = executing.record_outcome
    forgotten: list[str] = []

    async def forget(connection: Any, action_id: str, **named: Any) -> Any:
        if not forgotten:
            forgotten.append(action_id)
            await connection.execute("DELETE FROM sends WHERE action_id = $1", action_id)
            raise ApplicationError("died before it was recorded")
        return await original(connection, action_id, **named)

    monkeypatch.setattr(executing, "record_outcome", forget)
    action = await propose(stack)
    await _confirm(stack, action["id"])
    assert await _posts(stack) == 2
    assert await stack.charges() == 1


# ------------------------------------------------------------------ row 2


async def test_a_tool_twice_in_one_answer(stack: Stack) -> None:
    """Tool repetida na mesma resposta | `disable_parallel_tool_use` em agentes que escrevem | Chave
    de negócio.

    The request forbids it; a model that does it all the same (main defence off) gets one proposal
    and an error for the second call."""
    call = {
        "type": "tool_use",
        "name": "create_booking",
        "input": {"customer": "João Silva", "professional": "Bruno Reis", "starts_at": SLOT},
    }
    await stack.claude.script([call, call], stop_reason="tool_use", contains="marca duas")
    action = await propose(stack, "marca duas vezes")
    (request, *_others) = await stack.claude.journal()
    assert request["tool_choice"]["disable_parallel_tool_use"] is True
    await _confirm(stack, action["id"])
    await ask(stack, BOOKING)
    assert await _bookings(stack) == 1
    assert len(await prompts(stack, "maria")) == 1


# ------------------------------------------------------------------ row 3


async def test_double_yes_and_double_webhook(stack: Stack) -> None:
    """ "Sim" duplicado / webhook duplicado | Ação pendente com transição atômica | Dedupe do
    webhook
    pelo ID da mensagem.

    Two presses and each webhook three times: one effect, one feedback."""
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm", times=2, concurrent=True)
    await stack.whatsapp.redeliver(times=3, concurrent=True)
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert await stack.charges() == 1
    assert await _posts(stack) == 1
    assert sum("br.gov.bcb.pix" in text for text in await heard(stack)) == 1


def _without_atomic_transition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any stored Confirm executes again, as if no state were kept: the row goes back to pending."""
    original = deciding.decide

    async def decide(connection: Any, action_id: str) -> Next:
        await connection.execute("SET session_replication_role = replica")
        await connection.execute(
            "UPDATE actions SET status = 'pending' WHERE id = $1 AND status = 'executed' AND EXISTS"
            " (SELECT 1 FROM decisions WHERE action_id = $1 AND answered_at IS NULL)",
            action_id,
        )
        await connection.execute(
            "DELETE FROM sends WHERE action_id = $1 AND EXISTS"
            " (SELECT 1 FROM actions WHERE id = $1 AND status = 'pending')",
            action_id,
        )
        await connection.execute("SET session_replication_role = origin")
        return await original(connection, action_id)

    monkeypatch.setattr(deciding, "decide", decide)
    assert Decide.run is not None


async def test_double_webhook_without_the_atomic_transition(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 3 with the transition off: the same webhook again is no new decision; one send."""
    _without_atomic_transition(monkeypatch)
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    await stack.whatsapp.redeliver(times=3)
    await asyncio.sleep(1)
    await stack.quiet()
    assert await _posts(stack) == 1

    await stack.whatsapp.press("maria", "confirm")  # the switch is really off: a new press acts
    for _ in range(100):
        if await _posts(stack) == 2:
            break
        await asyncio.sleep(0.1)
    assert await _posts(stack) == 2
    assert await stack.charges() == 1  # and still the provider's key makes it one


# ------------------------------------------------------------------ row 4


async def test_the_model_forgot(stack: Stack) -> None:
    """Modelo esquece que executou | Chave de negócio + retorno `already_done` | Registrar ações
    executadas na memória do agente.

    The model calls the tool again for what exists: `already_done` with its data, one booking."""
    action = await propose(stack, BOOKING)
    await _confirm(stack, action["id"])
    await ask(stack, BOOKING)
    assert await _bookings(stack) == 1
    assert len(await prompts(stack, "maria")) == 1


async def test_the_model_forgot_without_a_business_key(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 4 with the business key off: the call carries the executed action as a fact, and the
    domain's own constraint refuses the slot; one booking."""
    original = CreateBooking.prepare

    async def without_key(self: CreateBooking, *args: Any) -> Any:
        prepared = await original(self, *args)
        return type(prepared)(**{**prepared.__dict__, "business_key": None})

    monkeypatch.setattr(CreateBooking, "prepare", without_key)
    action = await propose(stack, BOOKING)
    await _confirm(stack, action["id"])
    again = await propose(stack, BOOKING)
    request = (await stack.claude.journal())[-1]
    assert action["id"] in str(request["messages"])
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{again['id']}")
    await stack.wait_status(again["id"], "failed")
    assert await _bookings(stack) == 1


# ------------------------------------------------------------------ row 5


async def _leave_in_the_middle(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, over: asyncio.Event
) -> str:
    """A direct action whose attempt hangs after it was claimed, until `over`; its id."""
    original = executing.lock_for_effect
    died = asyncio.Event()

    async def die(*_args: Any, **_named: Any) -> Any:
        died.set()
        await over.wait()
        raise ApplicationError("its worker died")

    await stack.pool.execute(
        """UPDATE accounts SET settings = '{"direct_tools": ["update_email"]}'"""
    )
    monkeypatch.setattr(executing, "lock_for_effect", die)
    await stack.whatsapp.send_text("maria", EMAIL)
    await asyncio.wait_for(died.wait(), 20)
    monkeypatch.setattr(executing, "lock_for_effect", original)
    action: str = (await stack.latest_action())["id"]
    handle = stack.temporal.get_workflow_handle(f"action:{action}")
    await handle.terminate("its worker died")
    return action


async def test_the_worker_died_in_the_middle(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker morre no meio | `locked_until` + `takeOver` condicional | Constraint única no domínio.

    Nobody takes over while the lock runs; when it has expired, one does, and the effect is there
    once."""
    over = asyncio.Event()
    action = await _leave_in_the_middle(stack, monkeypatch, over)
    assert (await stack.action(action))["locked_until"] is not None
    await stack.pool.execute("UPDATE actions SET ring_at = now() WHERE id = $1", action)
    await asyncio.sleep(2)
    assert (await stack.action(action))["status"] == "executing"
    await stack.pool.execute("UPDATE fake.skew SET seconds = 125")  # past the lock, by the clock
    await stack.pool.execute("UPDATE actions SET ring_at = fake.now() WHERE id = $1", action)
    handle = stack.temporal.get_workflow_handle(f"action:{action}")
    await handle.terminate("look at the rows again")
    await stack.wait_status(action, "executed", seconds=20)
    events = await stack.pool.fetch(
        "SELECT event FROM audit_events WHERE action_id = $1 ORDER BY n", action
    )
    assert [row["event"] for row in events].count("executed") == 1
    assert [row["event"] for row in events].count("claimed") == 2
    over.set()
