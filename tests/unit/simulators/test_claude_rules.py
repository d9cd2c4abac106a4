"""Every documented 400 rule is enforced, and what the rules allow passes."""

from typing import Any

import pytest

from simulators.claude.errors import ApiError
from simulators.claude.request_rules import check_request
from tests.unit.simulators.claude_kit import (
    all_tools,
    assistant,
    body,
    result,
    system,
    tool,
    use,
    user,
)

HI = user("oi")
PAIR = [HI, assistant(use("toolu_a")), user(result("toolu_a"))]


def refusal(messages: list[dict[str, Any]], **changes: Any) -> str:
    """The text of the 400."""
    with pytest.raises(ApiError) as caught:
        check_request(body(messages, **changes))
    assert caught.value.status == 400
    assert caught.value.kind == "invalid_request_error"
    return caught.value.message


HISTORIES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no message": ([], "at least one message"),
    "assistant first": ([assistant("oi"), HI], 'first message must use the "user" role'),
    "system first": ([system("x"), HI], 'first message must use the "user" role'),
    "assistant last": ([HI, assistant("oi")], "must end with a user message"),
    "orphan tool_use at the end of the list": (
        [HI, assistant(use("toolu_a")), user("e aí?")],
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_a",
    ),
    "one of two results missing": (
        [HI, assistant(use("toolu_a"), use("toolu_b")), user(result("toolu_a"))],
        "immediately after: toolu_b",
    ),
    "text before the result": (
        [HI, assistant(use("toolu_a")), user("espera", result("toolu_a"))],
        "`tool_use` ids were found without `tool_result` blocks",
    ),
    "a message between call and result": (
        [HI, assistant(use("toolu_a")), assistant("um momento"), user(result("toolu_a"))],
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_a",
    ),
    "facts between call and result": (
        [HI, assistant(use("toolu_a")), system("fato"), user(result("toolu_a"))],
        "must directly follow a user message",
    ),
    "orphan result": (
        [HI, assistant("oi"), user(result("toolu_x"))],
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_x",
    ),
    "result of an older call": (
        [*PAIR, assistant("pronto"), user(result("toolu_a"))],
        "unexpected `tool_use_id`",
    ),
    "two results for one call": (
        [HI, assistant(use("toolu_a")), user(result("toolu_a"), result("toolu_a"))],
        "each tool_use must have a single result",
    ),
    "an id used twice": (
        [*PAIR, assistant(use("toolu_a")), user(result("toolu_a"))],
        "`tool_use` ids must be unique",
    ),
    "empty text": ([user("")], "text content blocks must be non-empty"),
    "empty string content": (
        [{"role": "user", "content": ""}],
        "text content blocks must be non-empty",
    ),
    "blank text": ([user(" \n")], "text content blocks must contain non-whitespace text"),
    "no content": ([{"role": "user", "content": []}], "must have non-empty content"),
    "facts after the assistant": (
        [HI, assistant("oi"), system("fato"), assistant("oi"), HI],
        "must directly follow a user message",
    ),
    "facts before a user message": ([HI, system("fato"), HI], "must be last or followed by"),
    "a tool call by the user": ([user(use("toolu_a"))], "messages.0.content.0.type"),
    "a result by the assistant": ([HI, assistant(result("toolu_a")), HI], "content.0.type"),
    "a null field of model_dump": (
        [HI, assistant(use("toolu_a") | {"caller": None}), user(result("toolu_a"))],
        "caller: Input should not be null",
    ),
    "an unknown field": (
        [user({"type": "text", "text": "oi", "note": 1})],
        "note: Extra inputs are not permitted",
    ),
    "input that is no object": (
        [HI, assistant(use("toolu_a") | {"input": "x"}), user(result("toolu_a"))],
        "input: Input should be a valid dictionary",
    ),
    "an id with a dot": ([HI, assistant(use("a.b")), user(result("a.b"))], "should match pattern"),
    "an unknown role": ([{"role": "tool", "content": "x"}], "messages.0.role"),
}


@pytest.mark.parametrize("case", HISTORIES)
def test_a_broken_history_is_a_400(case: str) -> None:
    """Each way to break a history gets the 400 whose text names it."""
    messages, text = HISTORIES[case]
    assert text in refusal(messages)


GOOD_HISTORIES: dict[str, list[dict[str, Any]]] = {
    "plain": [HI],
    "pair": PAIR,
    "text after the results": [HI, assistant(use("toolu_a")), user(result("toolu_a"), "e aí?")],
    "two user messages in a row": [HI, user("alô?")],
    "two assistant messages in a row": [HI, assistant("oi"), assistant("tudo bem?"), HI],
    "facts last, twice": [HI, system("fato"), system("outro")],
    "facts before the answer": [HI, system("fato"), assistant("oi"), HI],
    "facts after results": [*PAIR, system("fato")],
    "empty result": [HI, assistant(use("toolu_a")), user(result("toolu_a", ""))],
}


@pytest.mark.parametrize("case", GOOD_HISTORIES)
def test_a_sound_history_passes(case: str) -> None:
    """The rules refuse nothing that the documentation allows."""
    check_request(body(GOOD_HISTORIES[case]))


MANY_STRICT = [tool("get_balance", name=f"tool_{i}") for i in range(21)]
MARKED = {"cache_control": {"type": "ephemeral"}}
FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "temperature": ({"temperature": 0}, "temperature"),
    "top_p": ({"top_p": 0.9}, "top_p"),
    "top_k": ({"top_k": 5}, "top_k"),
    "unknown parameter": ({"betas": ["x"]}, "betas: Extra inputs are not permitted"),
    "no max_tokens": ({"max_tokens": None}, "max_tokens: Field required"),
    "max_tokens too high": ({"max_tokens": 200_000}, "128000"),
    "tool name with a dot": ({"tools": [tool("get_balance", name="a.b")]}, "should match pattern"),
    "tool name too long": ({"tools": [tool("get_balance", name="a" * 65)]}, "match pattern"),
    "two tools of one name": ({"tools": [tool("get_balance")] * 2}, "Tool names must be unique"),
    "open strict schema": (
        {"tools": [tool("get_balance", input_schema={"type": "object", "properties": {}})]},
        "'additionalProperties' must be explicitly set to false",
    ),
    "open object inside a strict schema": (
        {
            "tools": [
                tool(
                    "get_balance",
                    input_schema={
                        "type": "object",
                        "properties": {"inner": {"type": "object", "properties": {}}},
                        "additionalProperties": False,
                    },
                )
            ]
        },
        "'additionalProperties' must be explicitly set to false",
    ),
    "bounds in a strict schema": (
        {
            "tools": [
                tool(
                    "get_balance",
                    input_schema={
                        "type": "object",
                        "properties": {"n": {"type": "integer", "minimum": 1}},
                        "additionalProperties": False,
                    },
                )
            ]
        },
        "property 'minimum' is not supported",
    ),
    "recursion in a strict schema": (
        {
            "tools": [
                tool(
                    "get_balance",
                    input_schema={
                        "type": "object",
                        "properties": {"next": {"$ref": "#/$defs/Node"}},
                        "additionalProperties": False,
                        "$defs": {
                            "Node": {
                                "type": "object",
                                "properties": {"next": {"$ref": "#/$defs/Node"}},
                                "additionalProperties": False,
                            }
                        },
                    },
                )
            ]
        },
        "Recursive schemas",
    ),
    "21 strict tools": ({"tools": MANY_STRICT}, "at most 20 strict tools"),
    "an example that does not fit": (
        {"tools": [tool("create_pix_charge", input_examples=[{"customer": "x"}])]},
        "'amount_cents' is a required property",
    ),
    "five breakpoints": (
        {"system": [{"type": "text", "text": f"{i}", **MARKED} for i in range(5)]},
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "the automatic breakpoint counts": (
        {
            "system": [{"type": "text", "text": f"{i}", **MARKED} for i in range(4)],
            "cache_control": {"type": "ephemeral"},
        },
        "Found 5.",
    ),
    "1h after 5m": (
        {
            "tools": [tool("get_balance", **MARKED)],
            "system": [
                {"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
            ],
        },
        "ttl='1h' cache_control block must not come after",
    ),
    "unknown ttl": ({"cache_control": {"type": "ephemeral", "ttl": "2h"}}, "cache_control.ttl"),
    "haiku 5.5: thinking off at max effort": (
        {"output_config": {"effort": "max"}},
        "'disabled' is not supported on this model at effort 'max'",
    ),
    "sonnet 5.5: thinking off": (
        {"model": "claude-sonnet-5-5"},
        "'disabled' is not supported on this model",
    ),
    "opus 5.5: thinking off": (
        {"model": "claude-opus-5-5"},
        "'disabled' is not supported on this model",
    ),
    "haiku 5.5 has no between_tools": (
        {"thinking": {"type": "between_tools"}},
        "'between_tools' is not supported",
    ),
    "sonnet 5.5: between_tools at max effort": (
        {
            "model": "claude-sonnet-5-5",
            "thinking": {"type": "between_tools"},
            "output_config": {"effort": "max"},
        },
        "'between_tools' is not supported on this model at effort 'max'",
    ),
    "sonnet 5.5: forced tool": (
        {"model": "claude-sonnet-5-5", "thinking": None, "tool_choice": {"type": "any"}},
        "tool_choice: type 'any' is not supported on this model",
    ),
    "forced tool while thinking": (
        {"thinking": None, "tool_choice": {"type": "tool", "name": "get_balance"}},
        "Thinking may not be enabled when tool_choice forces tool use",
    ),
    "forced tool that is not offered": (
        {"tool_choice": {"type": "tool", "name": "nope"}},
        "'nope' not found in provided tools",
    ),
    "tool_choice without tools": (
        {"tools": None, "tool_choice": {"type": "none"}},
        "only be specified while providing tools",
    ),
    "blank system": ({"system": [{"type": "text", "text": " "}]}, "non-whitespace"),
}


@pytest.mark.parametrize("case", FIELDS)
def test_a_broken_field_is_a_400(case: str) -> None:
    """Each refused parameter gets the 400 whose text names it."""
    changes, text = FIELDS[case]
    assert text in refusal([HI], **changes)


GOOD_FIELDS: dict[str, dict[str, Any]] = {
    "tool_choice none with tools": {"tool_choice": {"type": "none"}},
    "auto, one at a time": {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
    "forced with thinking off": {"tool_choice": {"type": "any"}},
    "20 strict tools": {"tools": MANY_STRICT[:20]},
    "open schema, not strict": {
        "tools": [tool("get_balance", strict=False, input_schema={"type": "object"})]
    },
    "sonnet 5.5, between_tools": {
        "model": "claude-sonnet-5-5",
        "thinking": {"type": "between_tools"},
    },
    "1h, then automatic 5m": {
        "system": [
            {"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
        ],
        "cache_control": {"type": "ephemeral"},
    },
    "an example that fits": {
        "tools": [
            tool("create_pix_charge", input_examples=[{"customer": "Ana", "amount_cents": 15000}])
        ]
    },
}


@pytest.mark.parametrize("case", GOOD_FIELDS)
def test_a_sound_field_passes(case: str) -> None:
    """The rules refuse nothing that the documentation allows."""
    check_request(body([HI], **GOOD_FIELDS[case]))


def test_facts_need_a_model_that_takes_them() -> None:
    """An old model answers role:system with the documented text."""
    text = refusal([HI, system("fato")], model="claude-haiku-4-5")
    assert "role 'system' is not supported on this model" in text


def test_prefill_only_on_the_old_generation() -> None:
    """A trailing assistant message passes on Haiku 4.5, but without trailing blanks."""
    check_request(body([HI, assistant("Olá")], model="claude-haiku-4-5"))
    text = refusal([HI, assistant("Olá ")], model="claude-haiku-4-5")
    assert "trailing whitespace" in text


def test_an_unknown_model_is_a_404() -> None:
    """A misspelt model is `not_found_error`, which nobody should retry."""
    with pytest.raises(ApiError) as caught:
        check_request(body([HI], model="claude-nope"))
    assert (caught.value.status, caught.value.kind) == (404, "not_found_error")


def test_optional_parameters_of_strict_tools_have_a_budget() -> None:
    """More than 24 optional parameters over all strict tools is a 400."""
    properties = {f"p{i}": {"type": "string"} for i in range(25)}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    text = refusal([HI], tools=[tool("get_balance", input_schema=schema)])
    assert "at most 24 optional parameters" in text


def test_all_bundled_tools_fit_together() -> None:
    """The tools of this kit break no rule."""
    check_request(body([HI], tools=all_tools()))
