"""What the model says to be done and the ledger does not know: counted, kept as evidence, and
replaced by the true state only where that was chosen."""

import json
import logging
import uuid

import pytest
from prometheus_client import REGISTRY
from temporalio.exceptions import ApplicationError

from activities import closing
from activities.deps import Deps
from tests.acceptance.operator import aval
from tests.harness.scenes import ask, heard, propose
from tests.harness.stack import Stack

LIE = "Pronto, gerei o Pix de R$ 150,00 para o João Silva."
EVIDENCE = [{"kind": "deed", "about": ["charge"]}]


def _counted(kind: str = "deed") -> float:
    return REGISTRY.get_sample_value("aval_unsupported_claims_total", {"kind": kind}) or 0


def _checked() -> float:
    return REGISTRY.get_sample_value("aval_replies_checked_total") or 0


async def _lies(stack: Stack, text: str = LIE) -> None:
    """The next answer of the model claims that it was done."""
    await stack.claude.script([{"type": "text", "text": text}], stop_reason="end_turn")


async def _replace(stack: Stack) -> None:
    """The deployment chose it, and its worker starts anew."""
    await stack.stop_worker()
    stack.settings = stack.settings.model_copy(update={"replace_claims": True})
    await stack.start_worker()


async def _evidence(stack: Stack) -> tuple[object, bool]:
    row = await stack.pool.fetchrow(
        "SELECT claims, claims_replaced FROM turns ORDER BY opened_at DESC LIMIT 1"
    )
    assert row is not None
    return row["claims"], row["claims_replaced"]


async def test_a_claim_is_counted_and_sent_as_it_is(
    stack: Stack, caplog: pytest.LogCaptureFixture
) -> None:
    """By default the person hears what the model said. The metric moves by one, the turn keeps kind
    and subject, the log and `aval turns show` tell it, and none of its words stands there."""
    before = _counted()
    await _lies(stack)
    with caplog.at_level(logging.WARNING, "activities.watching"):
        assert await ask(stack, "e aí?") == LIE
        await stack.quiet()
    assert _counted() == before + 1
    assert await _evidence(stack) == (EVIDENCE, False)
    (record,) = [one for one in caplog.records if one.name == "activities.watching"]
    turn = await stack.pool.fetchval("SELECT id FROM turns")
    assert (record.getMessage(), record.__dict__["turn_id"]) == ("unsupported claim", str(turn))
    told = json.dumps(record.__dict__, default=str)
    assert not [word for word in ("João", "150", "Pronto") if word in told]
    _, shown = await aval(stack, "turns", "show", str(turn))
    assert "Claims that nothing supported" in shown
    assert "sent as it was" in shown


async def test_what_the_ledger_knows_is_no_claim(stack: Stack) -> None:
    """A whole conversation with a proposal, its click, and what became of it: replies are checked
    and none is counted; the very same words are a claim before the click and none after it."""
    counted, checked = _counted() + _counted("state"), _checked()
    await ask(stack, "oi")
    action = await propose(stack)
    await _lies(stack)
    await ask(stack, "gerou?")
    assert _counted() + _counted("state") == counted + 1
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    await _lies(stack)
    assert await ask(stack, "gerou?") == LIE
    await ask(stack, "e o Pix?")
    await ask(stack, "quais são os meus próximos horários?")
    await ask(stack, "obrigada!")
    await stack.quiet()
    assert _counted() + _counted("state") == counted + 1
    assert _checked() == checked + 6
    rows = await stack.pool.fetch("SELECT claims, outcome FROM turns ORDER BY opened_at")
    assert [row["claims"] for row in rows] == [[], None, EVIDENCE, [], [], [], []]


async def test_a_claim_may_be_replaced_by_the_true_state(stack: Stack) -> None:
    """Where it was chosen, the person is told what the ledger knows: that his action still waits.
    The model's history holds what he was told, and not the claim."""
    await _replace(stack)
    await propose(stack)
    await _lies(stack)
    told = await ask(stack, "gerou?")
    assert told.startswith("Esse pedido ainda espera a sua decisão: Gerar cobrança Pix (ref. ")
    assert await _evidence(stack) == (EVIDENCE, True)
    calls = await stack.claude.calls()
    await ask(stack, "ah, obrigada")
    (request,) = await stack.claude.journal(since=calls)
    assert told in json.dumps(request["messages"], ensure_ascii=False)
    assert LIE not in json.dumps(request["messages"], ensure_ascii=False)


async def test_without_any_action_the_truth_is_that_nothing_was_done(stack: Stack) -> None:
    """The claim comes from nowhere: the person is told that no request is recorded."""
    await _replace(stack)
    await _lies(stack)
    assert (await ask(stack, "e aí?")).startswith("Ainda não fiz nada")


def _fail_once(monkeypatch: pytest.MonkeyPatch) -> list[uuid.UUID]:
    """*answer* fails after it has committed; the list tells that it did."""
    send = closing._send
    failed: list[uuid.UUID] = []

    async def fail_once(deps: Deps, conversation: uuid.UUID) -> None:
        if not failed:
            failed.append(conversation)
            raise ApplicationError("died before it was sent")
        await send(deps, conversation)

    monkeypatch.setattr(closing, "_send", fail_once)
    return failed


async def test_a_retry_counts_once(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reply is stored, sending it fails, and *answer* runs again: one claim, one message."""
    failed = _fail_once(monkeypatch)
    before, checked = _counted(), _checked()
    await _lies(stack)
    assert await ask(stack, "e aí?") == LIE
    await stack.quiet()
    assert failed
    assert (_counted(), _checked()) == (before + 1, checked + 1)


async def test_a_retry_sends_nothing_of_what_was_replaced(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim was so long that it would be several messages; the true state is one, also where
    *answer* runs again."""
    await _replace(stack)
    failed = _fail_once(monkeypatch)
    await _lies(stack, f"{LIE}\n\n" + "Segue o código abaixo. " * 400)
    await ask(stack, "e aí?")
    await stack.quiet()
    assert failed
    (told,) = await heard(stack)
    assert told.startswith("Ainda não fiz nada")
