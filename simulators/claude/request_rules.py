"""The whole request against the documented rules; the one door before any answer is made."""

from dataclasses import dataclass
from typing import Any

from simulators.claude.block_rules import check_text
from simulators.claude.cache_rules import check_breakpoints, check_cache_control
from simulators.claude.errors import ApiError, bad_request
from simulators.claude.fields import (
    Json,
    as_dict,
    as_int,
    as_list,
    as_str,
    one_of,
    only,
    require,
)
from simulators.claude.history_rules import check_messages
from simulators.claude.models import DEFAULT_EFFORT, EFFORTS, MODELS, ModelRules
from simulators.claude.tool_rules import check_tool_choice, check_tools

_GONE = ("temperature", "top_p", "top_k")
_COUNTED = (
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "cache_control",
    "output_config",
    "speed",
)
_CREATED = (
    *_COUNTED,
    "max_tokens",
    "container",
    "diagnostics",
    "inference_geo",
    "metadata",
    "service_tier",
    "stop_sequences",
    "stream",
)
MIN_THINKING_BUDGET = 1024


@dataclass(frozen=True, kw_only=True)
class CheckedRequest:
    """A request that broke no rule, normalised: every content is a list of blocks."""

    model: str
    rules: ModelRules
    max_tokens: int
    system: list[Json]
    tools: list[Json]
    messages: list[Json]
    tool_choice: Json
    thinking: str
    effort: str
    auto_cache: str | None
    stream: bool


def check_request(body: Any, *, counting: bool = False) -> CheckedRequest:
    """Return the checked request; raise `ApiError` 400 (404 for an unknown model).

    `counting` is true for `/v1/messages/count_tokens`, which takes no `max_tokens`.
    """
    body = as_dict(body, "body")
    for name in _GONE:
        if name in body:
            raise bad_request(f"{name}: sampling parameters are not supported on this API version")
    only(body, _COUNTED if counting else _CREATED)
    model = as_str(require(body, "model"), "model")
    if model not in MODELS:
        raise ApiError(404, "not_found_error", f"model: {model}")
    rules = MODELS[model]
    max_tokens = 1 if counting else _max_tokens(body, rules)
    effort = _effort(body)
    thinking = _thinking(body, rules, effort, max_tokens=None if counting else max_tokens)
    tools = check_tools(body.get("tools") or [])
    if body.get("tool_choice") is not None:
        check_tool_choice(body["tool_choice"], tools=tools, rules=rules, thinking=thinking)
    _check_small_fields(body)
    request = CheckedRequest(
        model=model,
        rules=rules,
        max_tokens=max_tokens,
        system=_system(body.get("system")),
        tools=tools,
        messages=check_messages(require(body, "messages"), rules),
        tool_choice=body.get("tool_choice") or {"type": "auto"},
        thinking=thinking,
        effort=effort,
        auto_cache=check_cache_control(body.get("cache_control"), "cache_control"),
        stream=body.get("stream") is True,
    )
    check_breakpoints(_lives(request))
    return request


def _max_tokens(body: Json, rules: ModelRules) -> int:
    value = as_int(require(body, "max_tokens"), "max_tokens")
    if value < 0:
        raise bad_request("max_tokens: Input should be greater than or equal to 0")
    if value > rules.max_output:
        raise bad_request(
            f"max_tokens: {value} > {rules.max_output}, which is the maximum allowed number of "
            f"output tokens for {body['model']}"
        )
    return value


def _effort(body: Json) -> str:
    config = as_dict(body.get("output_config") or {}, "output_config")
    only(config, ("effort", "format"), "output_config")
    return one_of(config.get("effort") or DEFAULT_EFFORT, EFFORTS, "output_config.effort")


def _thinking(body: Json, rules: ModelRules, effort: str, *, max_tokens: int | None) -> str:
    if body.get("thinking") is None:
        return rules.default_thinking
    config = as_dict(body["thinking"], "thinking")
    kinds = ("enabled", "disabled", "between_tools", "adaptive")
    kind = one_of(config.get("type"), kinds, "thinking.type")
    only(config, ("type", "display", "budget_tokens"), "thinking")
    accepted = {"disabled": rules.disabled_at, "between_tools": rules.between_tools_at}
    if kind in accepted and effort not in accepted[kind]:
        at = f" at effort {effort!r}" if accepted[kind] else ""
        raise bad_request(f"thinking.type: {kind!r} is not supported on this model{at}")
    if kind == "enabled":
        _check_budget(config, rules, max_tokens)
    return kind


def _check_budget(config: Json, rules: ModelRules, max_tokens: int | None) -> None:
    if not rules.manual_budget:
        raise bad_request("thinking.type: 'enabled' is not supported on this model")
    at = "thinking.enabled.budget_tokens"
    budget = as_int(require(config, "budget_tokens", "thinking.enabled"), at)
    if budget < MIN_THINKING_BUDGET:
        raise bad_request(f"{at}: Input should be greater than or equal to {MIN_THINKING_BUDGET}")
    if max_tokens is not None and budget >= max_tokens:
        raise bad_request("`max_tokens` must be greater than `thinking.budget_tokens`")


def _system(value: Any) -> list[Json]:
    if value is None:
        return []
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value else []
    blocks: list[Json] = []
    for index, item in enumerate(as_list(value, "system")):
        at = f"system.{index}"
        block = as_dict(item, at)
        one_of(block.get("type"), ("text",), f"{at}.type")
        only(block, ("type", "text", "cache_control", "citations"), at)
        check_text(require(block, "text", at), at)
        check_cache_control(block.get("cache_control"), f"{at}.cache_control")
        blocks.append(block)
    return blocks


def _check_small_fields(body: Json) -> None:
    metadata = as_dict(body.get("metadata") or {}, "metadata")
    only(metadata, ("user_id",), "metadata")
    if body.get("service_tier") is not None:
        one_of(body["service_tier"], ("auto", "standard_only"), "service_tier")
    for index, stop in enumerate(as_list(body.get("stop_sequences") or [], "stop_sequences")):
        if not as_str(stop, f"stop_sequences.{index}").strip():
            raise bad_request("stop_sequences: each stop sequence must contain non-whitespace")
    if not isinstance(body.get("stream") or False, bool):
        raise bad_request("stream: Input should be a valid boolean")


def _lives(request: CheckedRequest) -> list[str]:
    """Return the time to live of every breakpoint in prompt order, the automatic one last."""
    blocks = [*request.tools, *request.system]
    for message in request.messages:
        blocks += message["content"]
    controls = [block["cache_control"] for block in blocks if block.get("cache_control")]
    lives = [str(control.get("ttl", "5m")) for control in controls]
    return lives + ([request.auto_cache] if request.auto_cache else [])
