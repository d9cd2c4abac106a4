"""What each model can do, as a table: the request is built from it, never from a model's name.

The trap this closes: a setting that one model needs is a 400 on the next (thinking `disabled` on
Sonnet 5.5, a system message on older models). A model that is not in the table gets the request
that every model accepts. Sources: facts/claude.md §1.2, §3.4, §4.3; nothing here was checked
against the live API.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Effort: TypeAlias = Literal["low", "medium", "high"]
Thinking: TypeAlias = Literal["disabled", "between_tools"]

DEFAULT_MODEL = "claude-haiku-5-5"


@dataclass(frozen=True, kw_only=True)
class Capability:
    """How to speak to one model.

    `thinking`, `effort`: what to send, None to send nothing. `supports_system_role`: whether a
    message of role `system` may stand in the conversation. `min_cache_tokens`: prompts below are
    silently not cached. `max_tokens`: how long an answer may get; a chat message is short, and a
    longer limit only makes a runaway answer dearer. `context_tokens`: the model's window.
    """

    model: str
    thinking: Thinking | None
    effort: Effort | None
    supports_system_role: bool
    min_cache_tokens: int
    max_tokens: int
    context_tokens: int


_TABLE: dict[str, Capability] = {
    each.model: each
    for each in (
        Capability(
            model="claude-haiku-5-5",
            thinking="disabled",
            effort="medium",
            supports_system_role=True,
            min_cache_tokens=512,
            max_tokens=2048,
            context_tokens=1_000_000,
        ),
        Capability(
            model="claude-sonnet-5-5",
            thinking="between_tools",
            effort="medium",
            supports_system_role=True,
            min_cache_tokens=1024,
            max_tokens=4096,  # thinking counts towards it
            context_tokens=1_000_000,
        ),
    )
}


def capability_of(model: str) -> Capability:
    """The row of this model, else the request that every model accepts. Empty name: ValueError."""
    if not model.strip():
        raise ValueError(f"a model needs a name, got {model!r}")
    return _TABLE.get(model) or Capability(
        model=model,
        thinking=None,
        effort=None,
        supports_system_role=False,
        min_cache_tokens=4096,
        max_tokens=4096,  # an unknown model may think by default
        context_tokens=200_000,
    )
