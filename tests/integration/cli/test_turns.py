"""`aval turns` and `aval costs` against a system that has worked: what they say is what the far
sides counted."""

import asyncio
import json
import re

import pytest

from cli.main import main
from tests.harness.scenes import ask, model_calls, propose
from tests.harness.stack import Stack


async def aval(
    stack: Stack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *argv: str
) -> str:
    """What a command prints; it must succeed."""
    monkeypatch.setenv("AVAL_DATABASE_URL", stack.settings.database_url.get_secret_value())
    capsys.readouterr()
    code = await asyncio.to_thread(main, argv)
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


async def test_a_turn_is_told_as_it_happened(
    stack: Stack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Message, calls with their tokens and cost, tool calls and results, the proposal, the sends;
    never the person's number."""
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()

    listed = await aval(stack, capsys, monkeypatch, "turns", "list", "--person", "0001")
    (short,) = re.findall(r"^(\S+) .* demo +…0001 +proposal +1 +1$", listed, re.MULTILINE)
    shown = await aval(stack, capsys, monkeypatch, "turns", "show", short.upper())
    assert re.search(r"text +gera um Pix de 150 reais pro João Silva", shown)
    assert re.search(r"0 +\S+ \S+ \S+ +claude-haiku-5-5 +tool_use +[0-9]+ +0 +[0-9]+ +0\.0", shown)
    assert re.search(r"0 +tool call +create_pix_charge \{.*\"João Silva\".*\} \(toolu_", shown)
    assert re.search(rf"{action['id'][:12]} +create_pix_charge +executed", shown)
    assert re.search(rf"{action['id']}:prompt +prompt +accepted +1 +(delivered|read)", shown)
    assert "5511988880001" not in shown

    text = await aval(stack, capsys, monkeypatch, "turns", "show", short, "--json")
    (call,) = json.loads(text)["model_calls"]
    assert call["request_id"].startswith("req_")
    assert "5511988880001" not in text
    action_text = await aval(stack, capsys, monkeypatch, "actions", "show", action["id"])
    assert f"Turn      {short}" in action_text


async def test_costs_are_what_the_model_counted(
    stack: Stack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many calls as the model answered: one that it refused at first adds none. The tokens are
    those of its usage, and a sum since the future is empty."""
    await stack.claude.fault("overloaded", contains="saldo")
    await ask(stack, "qual é o meu saldo?")
    await ask(stack, "bom dia")
    await stack.quiet()
    (row,) = json.loads(await aval(stack, capsys, monkeypatch, "costs", "--json"))
    assert row["calls"] == await model_calls(stack) - 1
    assert (row["account"], row["model"], row["turns"]) == ("demo", "claude-haiku-5-5", 2)
    usages = await stack.pool.fetch("SELECT usage FROM model_answers")
    assert row["tokens"]["out"] == sum(one["usage"]["output_tokens"] for one in usages)
    assert float(row["cost_usd"]) > 0
    table = await aval(stack, capsys, monkeypatch, "costs")
    assert re.search(r"^demo +claude-haiku-5-5 +2 +3 +[0-9]+ +[0-9]+% +[0-9]+ +0\.0", table, re.M)
    later = await aval(stack, capsys, monkeypatch, "costs", "--since", "2099-01-01", "--json")
    assert json.loads(later) == []
