"""What an account may choose: reads only, direct reversible tools, its own prompt; and who is
who."""

import json
from pathlib import Path

from temporalio.testing import WorkflowEnvironment

from tests.harness.databases import Databases
from tests.harness.scenes import ask, heard, prompts, propose
from tests.harness.stack import Stack, running_stack

EMAIL = '/tool update_email {"customer":"João Silva","email":"novo@exemplo.com.br"}'


async def _choose(stack: Stack, **chosen: object) -> None:
    await stack.pool.execute(
        "UPDATE accounts SET settings = $1::text::jsonb WHERE id = 'demo'", json.dumps(chosen)
    )


async def test_a_writing_agent_may_call_one_tool_at_a_time(stack: Stack) -> None:
    """An agent with a writing tool is asked with parallel tool use off."""
    await ask(stack, "qual é o meu saldo?")
    (first, *_others) = await stack.claude.journal()
    assert first["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


async def test_a_read_only_account_is_offered_reads_and_may_call_several(stack: Stack) -> None:
    """`read_only` → read tools alone, parallel use allowed; a writing tool that the model invents
    is refused and nothing is proposed."""
    await _choose(stack, read_only=True)
    await stack.claude.script(
        [{"type": "tool_use", "name": "update_email", "input": {}}],
        stop_reason="tool_use",
        contains="e-mail",
    )
    await ask(stack, "muda o e-mail do João Silva para x@exemplo.com.br")
    (first, *_others) = await stack.claude.journal()
    assert "get_balance" in first["tools"]
    assert "create_pix_charge" not in first["tools"]
    assert not first["tool_choice"].get("disable_parallel_tool_use")
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 0


async def test_a_direct_tool_runs_at_once_and_once(stack: Stack) -> None:
    """A reversible tool that the account runs directly: no prompt, one effect, the model tells it;
    asked again for the same, it gets the stored result and nothing happens."""
    await _choose(stack, direct_tools=["update_email"])
    await ask(stack, EMAIL)
    await stack.quiet()
    assert await prompts(stack, "maria") == []
    action = await stack.latest_action()
    assert (action["status"], action["confirm"]) == ("executed", "direct")
    assert await _email(stack) == "novo@exemplo.com.br"


async def test_money_is_never_direct(stack: Stack) -> None:
    """A critical tool always asks, whatever an account chooses."""
    await _choose(stack, direct_tools=["create_pix_charge"])
    action = await propose(stack)
    assert action["confirm"] == "button"
    assert await stack.charges() == 0


async def test_the_public_is_not_offered_what_moves_money(stack: Stack) -> None:
    """A person without a role is offered no payment tool; one that he asks for by name is refused
    like one that does not exist."""
    await ask(
        stack,
        '/tool create_pix_charge {"customer":"João Silva","amount_cents":100}',
        person="carlos",
    )
    (first, *_others) = await stack.claude.journal()
    assert "create_pix_charge" not in first["tools"]
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 0


async def test_a_person_without_phone_goes_through_the_whole_flow(stack: Stack) -> None:
    """A username user without phone asks, gets the prompt, clicks, and is told."""
    action = await propose(
        stack,
        '/tool create_booking {"customer":"Ana Prado","professional":"Bruno Reis",'
        '"starts_at":"2099-03-11T14:00:00-03:00"}',
        person="ana",
    )
    assert (action["wa_id"], action["user_id"]) == (None, "BR.1000000000000003")
    await stack.whatsapp.press("ana", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert len(await heard(stack, "ana")) == 1
    assert await stack.pool.fetchval("SELECT count(*) FROM bookings") == 1


async def test_an_account_brings_its_own_prompt(
    databases: Databases, temporal_env: WorkflowEnvironment, tmp_path: Path
) -> None:
    """A prompt file of the account replaces the shipped one, with its name filled in."""
    (tmp_path / "own.md").write_text("Só fale de tulipas, em nome de {business_name}.", "utf-8")
    async with running_stack(databases, temporal_env, prompts=tmp_path) as stack:
        await stack.pool.execute("UPDATE accounts SET prompt_file = 'own.md'")
        await ask(stack, "oi")
        (first, *_others) = await stack.claude.journal()
        assert first["system"][0]["text"] == "Só fale de tulipas, em nome de Estúdio Ipanema."


async def test_a_prompt_file_that_is_not_there_is_told_once(stack: Stack) -> None:
    """An account's prompt that cannot be read: no call with another prompt, a template answers."""
    await stack.pool.execute("UPDATE accounts SET prompt_file = 'nowhere.md'")
    assert "Não consegui responder agora" in await ask(stack, "oi")
    assert await stack.claude.calls() == 0


async def _email(stack: Stack) -> str:
    email: str = await stack.pool.fetchval("SELECT email FROM customers WHERE name = 'João Silva'")
    return email
