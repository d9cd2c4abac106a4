"""What each model accepts, as data: the rules differ by model and a table cannot be half applied.

Sources: the SDK's list of model names; the per-model pages for thinking, forced tool choice and
prefill; the prompt-caching page for the smallest cacheable prompt. Values that no page states
(the cache minimum of Sonnet 5.5 and Opus 5.5) are those of the generation before.
"""

from dataclasses import dataclass, replace
from typing import Literal

Effort = Literal["low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")
UP_TO_HIGH = frozenset[str]({"low", "medium", "high"})
DEFAULT_EFFORT: Effort = "high"


@dataclass(frozen=True, kw_only=True)
class ModelRules:
    """The abilities of one model; token counts are in tokens.

    `disabled_at` and `between_tools_at` are the efforts at which that thinking setting is
    accepted (empty: never). `default_thinking` applies when the caller sends none.
    """

    min_cache: int
    max_output: int = 128_000
    system_role: bool = True
    prefill: bool = False
    forced_tool_choice: bool = True
    default_thinking: Literal["adaptive", "disabled", "always"] = "adaptive"
    disabled_at: frozenset[str] = frozenset(EFFORTS)
    between_tools_at: frozenset[str] = frozenset()
    manual_budget: bool = False


_ALWAYS = ModelRules(
    min_cache=512,
    forced_tool_choice=False,
    default_thinking="always",
    disabled_at=frozenset(),
)
_OPUS_4 = ModelRules(
    min_cache=1024, system_role=False, default_thinking="disabled", manual_budget=True
)
_OLD = ModelRules(
    min_cache=4096,
    max_output=64_000,
    system_role=False,
    prefill=True,
    default_thinking="disabled",
    manual_budget=True,
)
_SONNET_4_5 = replace(_OLD, min_cache=1024)

MODELS: dict[str, ModelRules] = {
    "claude-haiku-5-5": ModelRules(min_cache=512, disabled_at=UP_TO_HIGH),
    "claude-sonnet-5-5": ModelRules(
        min_cache=1024,
        forced_tool_choice=False,
        disabled_at=frozenset(),
        between_tools_at=UP_TO_HIGH,
    ),
    "claude-opus-5-5": _ALWAYS,
    "claude-fable-5": _ALWAYS,
    "claude-fable-5-1": _ALWAYS,
    "claude-fable-5-2": _ALWAYS,
    "claude-mythos-5": _ALWAYS,
    "claude-mythos-5-1": _ALWAYS,
    "claude-mythos-5-2": _ALWAYS,
    "claude-mythos-preview": _ALWAYS,
    "claude-sonnet-5": ModelRules(min_cache=1024),
    "claude-opus-5": ModelRules(min_cache=512),
    "claude-opus-4-8": replace(_OPUS_4, system_role=True),
    "claude-opus-4-7": _OPUS_4,
    "claude-opus-4-6": _OPUS_4,
    "claude-sonnet-4-6": _OPUS_4,
    "claude-haiku-4-5": _OLD,
    "claude-haiku-4-5-20251001": _OLD,
    "claude-opus-4-5": _OLD,
    "claude-opus-4-5-20251101": _OLD,
    "claude-sonnet-4-5": _SONNET_4_5,
    "claude-sonnet-4-5-20250929": _SONNET_4_5,
}
