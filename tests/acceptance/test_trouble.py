"""When a far side misbehaves: nothing is lost, nothing is done twice, the person gets one
answer."""

import asyncio

import pytest

from tests.harness.scenes import ask, heard, model_calls, prompts, propose
from tests.harness.stack import Stack


async def test_the_model_asks_to_wait_and_is_asked_again(stack: Stack) -> None:
    """429 with retry-after → one more call after it, one proposal."""
    await stack.claude.fault("rate_limit", retry_after=1, contains="Pix")
    await propose(stack)
    assert await model_calls(stack) == 2
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 1


@pytest.mark.parametrize("kind", ["overloaded", "drop", "html", "empty_json", "no_stop_reason"])
async def test_a_model_that_stumbles_once_is_asked_again(stack: Stack, kind: str) -> None:
    """529, a dropped connection, a proxy's page, an empty answer → asked again, one proposal."""
    await stack.claude.fault(kind, contains="Pix")
    await propose(stack)
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 1


@pytest.mark.parametrize("kind", ["unauthorized", "spend_limit", "too_large"])
async def test_what_no_retry_mends_is_tried_once_and_told(stack: Stack, kind: str) -> None:
    """A wrong key, a spent budget, a refused request → one call, one template to the person; the
    conversation goes on afterwards."""
    await stack.claude.fault(kind, contains="saldo")
    answer = await ask(stack, "qual é o meu saldo?")
    assert "Não consegui responder agora" in answer
    await stack.quiet()
    assert await model_calls(stack) == 1
    assert "1.000,00" in await ask(stack, "e agora, quanto tenho de saldo?")


async def test_a_refusal_is_answered_by_a_template(stack: Stack) -> None:
    """The model refuses → no retry of the same prompt, a template answers."""
    await stack.claude.fault("refusal", contains="saldo")
    assert "Não consegui responder agora" in await ask(stack, "qual é o meu saldo?")
    assert await model_calls(stack) == 1


async def test_text_beside_a_tool_call_is_never_shown(stack: Stack) -> None:
    """A false "Pronto, gerei!" beside a proposal: the person gets the prompt alone."""
    await stack.claude.fault("text_beside_tool", contains="Pix")
    await propose(stack)
    assert await heard(stack) == []


async def test_a_provider_that_refuses_is_told_and_nothing_is_done(stack: Stack) -> None:
    """The provider's own refusal → failed, own text; no second call."""
    await stack.payments.add_fault("refuse", status=422)
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "failed")
    await stack.quiet()
    assert (await stack.action(action["id"]))["reason"] == "rejected"
    assert await stack.charges() == 0
    assert len(await heard(stack)) == 1


@pytest.mark.parametrize("kind", ["act_drop", "act_500", "cut_json", "broken_json"])
async def test_an_answer_that_is_lost_after_the_act_is_looked_up(stack: Stack, kind: str) -> None:
    """The provider acted, its answer was lost → looked up by key, executed, one charge, one
    feedback; never sent again."""
    await stack.payments.add_fault(kind)
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert await stack.charges() == 1
    writes = [one for one in await stack.payments.journal() if one["method"] == "POST"]
    assert len(writes) == 1
    texts = await heard(stack)
    assert len(texts) == 2
    assert texts[-1].startswith("000201")


async def test_a_send_whose_fate_is_unknown_stays_visible(stack: Stack) -> None:
    """The connection broke before the provider acted → nobody knows; the action stays `executing`,
    the person is told once that it is being verified, nothing is sent again."""
    await stack.payments.add_fault("drop")
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.whatsapp.wait_message("maria", contains="verificando", timeout_seconds=20)
    assert (await stack.action(action["id"]))["status"] == "executing"
    assert await stack.charges() == 0
    writes = [one for one in await stack.payments.journal() if one["method"] == "POST"]
    assert len(writes) == 1


async def test_an_equal_proposal_is_refused_while_one_is_being_verified(stack: Stack) -> None:
    """While an effect is unknown, the same one is not proposed again, and the person hears that it
    is being verified."""
    await stack.payments.add_fault("drop")
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.whatsapp.wait_message("maria", contains="verificando", timeout_seconds=20)
    answer = await ask(stack, "gera um Pix de 150 reais pro João Silva")
    assert "está sendo verificado" in answer
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 1
    assert len(await prompts(stack, "maria")) == 1
    assert (await stack.action(action["id"]))["status"] == "executing"


async def test_a_prompt_that_whatsapp_refuses_closes_the_action(stack: Stack) -> None:
    """Nobody may confirm what he never saw: a refused prompt closes its action."""
    await stack.whatsapp.plan_fault("error", code=131026, type="interactive")
    await stack.whatsapp.send_text("maria", "gera um Pix de 150 reais pro João Silva")
    for _ in range(200):
        if await stack.pool.fetchval("SELECT count(*) FROM actions WHERE status = 'failed'"):
            break
        await asyncio.sleep(0.1)
    action = await stack.latest_action()
    assert action["reason"] == "prompt_failed"
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{action['id']}", with_context=False)
    await stack.quiet()
    assert await stack.charges() == 0


async def test_a_prompt_that_did_not_go_out_is_sent_again(stack: Stack) -> None:
    """WhatsApp throttles → the prompt goes out later, once; then it works as usual."""
    await stack.whatsapp.plan_fault("error", code=130429, type="interactive")
    action = await propose(stack)
    assert len(await prompts(stack, "maria")) == 1
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await stack.charges() == 1


async def test_a_prompt_in_doubt_whose_status_comes_is_not_repeated(stack: Stack) -> None:
    """WhatsApp took the prompt and dropped the connection → its status webhook settles it: the
    person has one prompt, and his click executes."""
    await stack.whatsapp.plan_fault("accept_drop", type="interactive")
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert len(await prompts(stack, "maria")) == 1
    assert await stack.charges() == 1


async def test_a_model_that_says_nothing_is_not_asked_for_ever(stack: Stack) -> None:
    """Empty answers → asked once more, then a template: two calls, not six."""
    await stack.claude.fault("empty_end_turn", contains="saldo", times=6)
    assert "Não consegui responder agora" in await ask(stack, "qual é o meu saldo?")
    assert await model_calls(stack) == 2
