""" "e o Pix?" after whatever became of it: no model is called from the click to the question, and
then the answer is right, because the call carries the ledger's facts."""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.acceptance.operator import aval
from tests.acceptance.test_reconcile import ANA, SAW, two_absents
from tests.harness.scenes import ask, model_calls, propose
from tests.harness.stack import Stack

BOOKING = "/tool create_booking " + json.dumps(
    {
        "customer": "João Silva",
        "professional": "Bruno Reis",
        "starts_at": "2099-03-11T14:00:00-03:00",
    },
    ensure_ascii=False,
)
Becomes = Callable[[Stack, str], Awaitable[None]]


async def _confirm(stack: Stack, action: str, *statuses: str) -> None:
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action, *statuses)


async def _executed(stack: Stack, action: str) -> None:
    await _confirm(stack, action, "executed")
    await stack.quiet()


async def _cancelled(stack: Stack, action: str) -> None:
    await stack.whatsapp.press("maria", "cancel")
    await stack.wait_status(action, "cancelled")
    await stack.quiet()


async def _expired(stack: Stack, action: str) -> None:
    await stack.move_clock(action, timedelta(minutes=10, seconds=2))
    await stack.wait_status(action, "expired")


async def _superseded(stack: Stack, action: str) -> None:
    await propose(stack, BOOKING)
    await stack.wait_status(action, "superseded")


async def _failed(stack: Stack, action: str) -> None:
    await stack.payments.add_fault("refuse")
    await _confirm(stack, action, "failed")
    await stack.quiet()


async def _verified(stack: Stack, action: str) -> None:
    await stack.payments.add_fault("lookup_503", times=500)
    await stack.payments.add_fault("act_drop")
    await _confirm(stack, action, "executing")
    await stack.whatsapp.wait_message("maria", contains="verificando", timeout_seconds=30)


async def _settled_as_executed(stack: Stack, action: str) -> None:
    await _verified(stack, action)
    done = await aval(stack, "reconcile", action, "--executed", *SAW, *ANA)
    assert done[0] == 0, done
    await stack.quiet()


async def _settled_as_failed(stack: Stack, action: str) -> None:
    await stack.payments.add_fault("drop")
    await _confirm(stack, action, "executing")
    await stack.whatsapp.wait_message("maria", contains="verificando", timeout_seconds=30)
    await two_absents(stack, action)
    done = await aval(stack, "reconcile", action, "--failed", *SAW, *ANA)
    assert done[0] == 0, done
    await stack.quiet()


STATES: list[tuple[Becomes, dict[str, str], str]] = [
    (_executed, {"status": "executed"}, "registrado como executado"),
    (_cancelled, {"status": "cancelled"}, "cancelado; nada foi feito"),
    (_expired, {"status": "expired"}, "O prazo para confirmar passou e nada foi feito"),
    (_superseded, {"status": "superseded"}, "substituído por outro mais novo; nada foi feito"),
    (_failed, {"status": "failed", "motivo": "rejected"}, "Não deu certo"),
    (_verified, {"status": "executing"}, "Ainda estamos verificando"),
    (_settled_as_executed, {"status": "executed"}, "registrado como executado"),
    (
        _settled_as_failed,
        {"status": "failed", "motivo": "settled_by_operator"},
        "a operação falhou e nada foi feito",
    ),
]


@pytest.mark.parametrize(
    ("becomes", "fact", "answer"), STATES, ids=[one[0].__name__[1:] for one in STATES]
)
async def test_the_question_what_became_of_it_is_answered_rightly(
    stack: Stack, becomes: Becomes, fact: dict[str, str], answer: str
) -> None:
    """From the click to the question the model is not called, but for what the person asks in
    between; the call then carries the action's fact, and the answer says it."""
    action = (await propose(stack))["id"]
    calls = await model_calls(stack)
    await becomes(stack, action)
    assert await model_calls(stack) == calls + (becomes is _superseded)
    said = await ask(stack, "e o Pix?")
    (request,) = await stack.claude.journal(since=calls + (becomes is _superseded))
    known = _fact(request, action)
    assert {key: known.get(key) for key in fact} == fact
    assert answer in said
    assert "R$ 150,00" in said


def _fact(request: dict[str, Any], action: str) -> dict[str, Any]:
    text = request["messages"][-1]["content"][-1]["text"]
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    (found,) = [line for line in lines if line["acao"] == action]
    return dict(found)
