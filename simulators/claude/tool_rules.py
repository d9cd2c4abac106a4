"""Rules of `tools` and `tool_choice`."""

from typing import Any

from simulators.claude.block_rules import TOOL_NAME
from simulators.claude.cache_rules import check_cache_control
from simulators.claude.errors import bad_request
from simulators.claude.fields import Json, as_dict, as_list, as_str, one_of, only, require
from simulators.claude.models import ModelRules
from simulators.claude.schema_rules import check_strict_schema, example_problem

MAX_STRICT_TOOLS = 20
MAX_OPTIONAL = 24
MAX_UNIONS = 16
_TOOL_FIELDS = (
    "type",
    "name",
    "description",
    "input_schema",
    "strict",
    "input_examples",
    "cache_control",
    "defer_loading",
    "eager_input_streaming",
    "allowed_callers",
)


def check_tools(value: Any) -> list[Json]:
    """Return the tools offered, or raise the documented 400."""
    tools = [_check_tool(tool, f"tools.{i}") for i, tool in enumerate(as_list(value, "tools"))]
    names = [tool["name"] for tool in tools]
    if len(set(names)) != len(names):
        raise bad_request("tools: Tool names must be unique.")
    _check_strict_budget(tools)
    return tools


def check_tool_choice(value: Any, *, tools: list[Json], rules: ModelRules, thinking: str) -> None:
    """Check `tool_choice` against the tools and against what the model and thinking allow."""
    choice = as_dict(value, "tool_choice")
    kind = one_of(choice.get("type"), ("auto", "any", "tool", "none"), "tool_choice.type")
    allowed = {"type"} if kind == "none" else {"type", "disable_parallel_tool_use"}
    only(choice, allowed | ({"name"} if kind == "tool" else set()), "tool_choice")
    if not tools:
        raise bad_request("tool_choice: tool_choice may only be specified while providing tools")
    if not isinstance(choice.get("disable_parallel_tool_use", False), bool):
        raise bad_request("tool_choice.disable_parallel_tool_use: Input should be a valid boolean")
    if kind == "tool":
        name = as_str(require(choice, "name", "tool_choice"), "tool_choice.name")
        if name not in [tool["name"] for tool in tools]:
            raise bad_request(f"tool_choice: Tool {name!r} not found in provided tools")
    if kind in ("any", "tool"):
        if not rules.forced_tool_choice:
            raise bad_request(f"tool_choice: type {kind!r} is not supported on this model")
        if thinking != "disabled":
            raise bad_request("Thinking may not be enabled when tool_choice forces tool use.")


def _check_tool(value: Any, at: str) -> Json:
    tool = as_dict(value, at)
    one_of(tool.get("type") or "custom", ("custom",), f"{at}.type")
    inside = f"{at}.custom"
    only(tool, _TOOL_FIELDS, inside)
    name = as_str(require(tool, "name", inside), f"{inside}.name")
    if not TOOL_NAME.match(name):
        raise bad_request(f"{inside}.name: String should match pattern '{TOOL_NAME.pattern}'")
    schema = as_dict(require(tool, "input_schema", inside), f"{inside}.input_schema")
    if schema.get("type") != "object":
        raise bad_request(f"{inside}.input_schema.type: Input should be 'object'")
    if not isinstance(tool.get("strict", False), bool):
        raise bad_request(f"{inside}.strict: Input should be a valid boolean")
    check_cache_control(tool.get("cache_control"), f"{inside}.cache_control")
    for index, example in enumerate(as_list(tool.get("input_examples", []), inside)):
        problem = example_problem(example, schema, schema)
        if problem:
            raise bad_request(f"{inside}.input_examples.{index}: {problem}")
    return tool


def _check_strict_budget(tools: list[Json]) -> None:
    strict = [(i, tool) for i, tool in enumerate(tools) if tool.get("strict")]
    if len(strict) > MAX_STRICT_TOOLS:
        raise bad_request(
            f"tools: at most {MAX_STRICT_TOOLS} strict tools are allowed; found {len(strict)}"
        )
    costs = [
        check_strict_schema(tool["input_schema"], f"tools.{i}.custom.input_schema")
        for i, tool in strict
    ]
    optional = sum(cost.optional for cost in costs)
    unions = sum(cost.unions for cost in costs)
    if optional > MAX_OPTIONAL:
        raise bad_request(
            f"tools: at most {MAX_OPTIONAL} optional parameters in strict tools; found {optional}"
        )
    if unions > MAX_UNIONS:
        raise bad_request(
            f"tools: at most {MAX_UNIONS} union-typed parameters in strict tools; found {unions}"
        )
