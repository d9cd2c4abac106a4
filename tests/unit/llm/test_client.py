"""What goes over the wire and what comes back."""

import json
from typing import Any

import anthropic
import httpx2
import pytest

from domain.errors import SettingsError
from llm.answers import ModelAnswer, ToolCalls, Truncated, classify
from llm.client import build_anthropic
from llm.models import DEFAULT_MODEL, capability_of
from tests.unit.llm.wire import MESSAGE, MESSAGES, SYSTEM, TOOLS, replying

PORTABLE = {"model", "max_tokens", "system", "messages", "tools", "tool_choice"}


async def test_the_default_request_is_the_portable_one() -> None:
    """Thinking off, effort medium, one tool at a time, no temperature, nothing forced."""
    wire = replying(MESSAGE)
    await wire.client().ask(SYSTEM, TOOLS, MESSAGES)
    assert set(wire.body) == PORTABLE | {"thinking", "output_config"}
    assert wire.body["model"] == DEFAULT_MODEL == "claude-haiku-5-5"
    assert wire.body["thinking"] == {"type": "disabled"}
    assert wire.body["output_config"] == {"effort": "medium"}
    assert wire.body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert wire.body["max_tokens"] == 2048
    assert (wire.body["system"], wire.body["tools"]) == (SYSTEM, TOOLS)
    assert wire.body["messages"] == MESSAGES


async def test_sonnet_is_never_told_to_stop_thinking() -> None:
    """It answers 400 to `disabled`."""
    wire = replying(MESSAGE)
    await wire.client("claude-sonnet-5-5").ask(SYSTEM, TOOLS, MESSAGES)
    assert wire.body["thinking"] == {"type": "between_tools"}


async def test_an_unknown_model_gets_nothing_that_may_be_refused() -> None:
    """No thinking, no effort, and facts inside the user's message."""
    wire = replying(MESSAGE)
    await wire.client("claude-next").ask(SYSTEM, TOOLS, MESSAGES)
    assert set(wire.body) == PORTABLE
    assert not capability_of("claude-next").supports_system_role
    with pytest.raises(ValueError, match="name"):
        capability_of(" ")


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ({"allow_parallel": True}, {"type": "auto", "disable_parallel_tool_use": False}),
        ({"allow_tools": False}, {"type": "none"}),
        ({"allow_tools": False, "allow_parallel": True}, {"type": "none"}),
    ],
)
async def test_tools_stay_in_the_request_when_none_may_be_called(
    options: dict[str, Any], choice: dict[str, Any]
) -> None:
    """The tool list is part of the cached prefix; the choice alone changes."""
    wire = replying(MESSAGE)
    await wire.client().ask(SYSTEM, TOOLS, MESSAGES, **options, max_tokens=77)
    assert wire.body["tool_choice"] == choice
    assert wire.body["tools"] == TOOLS
    assert wire.body["max_tokens"] == 77


async def test_without_tools_there_is_no_choice() -> None:
    """A choice without tools is a 400."""
    wire = replying(MESSAGE)
    await wire.client().ask(SYSTEM, [], MESSAGES)
    assert not {"tools", "tool_choice"} & set(wire.body)


async def test_an_answer_is_plain_data_that_can_be_stored() -> None:
    """Blocks without the SDK's added nulls, empty text dropped, counts flat, ids kept."""
    call = {"type": "tool_use", "id": "t1", "name": "get_balance", "input": {"x": 1.5}}
    usage = {
        "input_tokens": 10,
        "output_tokens": 3,
        "cache_creation": {"ephemeral_1h_input_tokens": 7},
        "service_tier": "standard",
    }
    message = {
        **MESSAGE,
        "content": [{"type": "text", "text": ""}, call],
        "stop_reason": "tool_use",
        "usage": usage,
    }
    answer = await replying(message, request_id="req_7").client().ask(SYSTEM, TOOLS, MESSAGES)
    assert answer.blocks == (call,)
    assert answer.usage == {
        "input_tokens": 10,
        "output_tokens": 3,
        "cache_creation.ephemeral_1h_input_tokens": 7,
    }
    assert (answer.request_id, answer.model) == ("req_7", "claude-haiku-5-5")
    assert 0 <= answer.latency_ms < 45_000
    assert ModelAnswer.model_validate(json.loads(answer.model_dump_json())) == answer
    assert isinstance(classify(answer), ToolCalls)


async def test_a_cut_call_proposes_nothing_through_the_real_sdk() -> None:
    """The whole way: a call cut by max_tokens arrives, looks complete, and is no call."""
    call = {"type": "tool_use", "id": "t1", "name": "create_pix_charge"}
    message = {
        **MESSAGE,
        "content": [{**call, "input": {"amount_cents": 15}}],
        "stop_reason": "max_tokens",
    }
    answer = await replying(message).client().ask(SYSTEM, TOOLS, MESSAGES)
    assert classify(answer) == Truncated(text=None, context_full=False)


def test_the_sdk_neither_retries_nor_waits_for_ever() -> None:
    """No retry of its own, 45 s for a call, 5 s to connect; a blank key does not start."""
    sdk = build_anthropic("key", base_url="http://claude.test")
    assert isinstance(sdk, anthropic.AsyncAnthropic)
    assert sdk.max_retries == 0
    assert sdk.timeout == httpx2.Timeout(45, connect=5)
    assert sdk.base_url.host == "claude.test"
    with pytest.raises(SettingsError, match="ANTHROPIC_API_KEY"):
        build_anthropic(" ")
