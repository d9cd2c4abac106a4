"""What a model's answer means for the turn: pure, decided by its stop reason alone.

The trap this closes: a truncated tool call looks complete. Cut after two digits, 15000 becomes 15
(facts/claude.md §7), so a tool call counts only if the model itself stopped to make it.
"""

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, JsonValue

from domain.history import Block
from llm.markers import imitates_marker


class ModelAnswer(BaseModel):
    """One answer, as it is stored before it is used.

    `usage`: counts by name, nested ones as `cache_creation.ephemeral_1h_input_tokens`.
    `request_id`: the provider's, for its support. `latency_ms`: milliseconds until the answer.
    """

    model_config = ConfigDict(frozen=True)

    stop_reason: str | None
    blocks: tuple[Block, ...]
    usage: dict[str, int]
    request_id: str | None
    model: str
    latency_ms: int


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """What the model asks for: untrusted, its input is not validated yet."""

    id: str
    name: str
    input: dict[str, JsonValue]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A text for the person."""

    text: str


@dataclass(frozen=True, kw_only=True)
class ToolCalls:
    """At least one call. `unsent_text` stood beside them and is never shown (design §3)."""

    calls: tuple[ToolCall, ...]
    unsent_text: str | None


@dataclass(frozen=True, kw_only=True)
class Garbled:
    """An answer that contradicts itself or that we never asked for; may be asked again."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Truncated:
    """Cut off. `text`: whole sentences that came before, None if there are none or if a tool call
    was cut. `context_full`: the history must be trimmed harder; else the answer was too long."""

    text: str | None
    context_full: bool


@dataclass(frozen=True, kw_only=True)
class Refused:
    """The model declined; the same prompt is not sent again and the content is not stored."""


@dataclass(frozen=True, kw_only=True)
class Empty:
    """The model ended without a word; asked once more, then a template speaks."""


Step: TypeAlias = Reply | ToolCalls | Garbled | Truncated | Refused | Empty

_SENTENCE_END = re.compile(r"[.!?…](?=\s|$)|\n")


def classify(answer: ModelAnswer, *, tools_allowed: bool = True) -> Step:
    """Say what to do with the answer. `tools_allowed`: False if it was asked without tools."""
    match answer.stop_reason:
        case "tool_use":
            return _tool_calls(answer, tools_allowed=tools_allowed)
        case "end_turn":
            return _reply(answer)
        case "max_tokens" | "model_context_window_exceeded":
            return _truncated(answer)
        case "refusal":
            return Refused()
        case None:
            return Garbled(reason="the answer has no stop reason")
        case other:
            return Garbled(reason=f"unexpected stop reason {other[:60]!r}")


def _tool_calls(answer: ModelAnswer, *, tools_allowed: bool) -> Step:
    if not tools_allowed:
        return Garbled(reason="a tool call though none was allowed")
    calls = []
    for block in _blocks(answer, "tool_use"):
        call = _tool_call(block)
        if call is None:
            return Garbled(reason="a tool call without id, name or input")
        calls.append(call)
    if not calls:
        return Garbled(reason="stop reason 'tool_use' without a tool call")
    if len({call.id for call in calls}) < len(calls):
        return Garbled(reason="two tool calls share one id")
    return ToolCalls(calls=tuple(calls), unsent_text=_text(answer) or None)


def _tool_call(block: dict[str, Any]) -> ToolCall | None:
    match block:
        case {"id": str(id_), "name": str(name), "input": dict(arguments)} if id_ and name:
            return ToolCall(id=id_, name=name, input=arguments)
        case _:
            return None


def _reply(answer: ModelAnswer) -> Step:
    if _blocks(answer, "tool_use"):
        return Garbled(reason="a tool call beside stop reason 'end_turn'")
    text = _text(answer)
    if not text:
        return Empty()
    if imitates_marker(text):
        return Garbled(reason="the text imitates a marker of the system")
    return Reply(text=text)


def _truncated(answer: ModelAnswer) -> Step:
    context_full = answer.stop_reason == "model_context_window_exceeded"
    text = None if _blocks(answer, "tool_use") else _whole_sentences(_text(answer))
    if text is not None and imitates_marker(text):
        return Garbled(reason="the text imitates a marker of the system")
    return Truncated(text=text, context_full=context_full)


def _whole_sentences(text: str) -> str | None:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]].strip() or None if ends else None


def _blocks(answer: ModelAnswer, type_: str) -> list[dict[str, Any]]:
    return [block for block in answer.blocks if block.get("type") == type_]


def _text(answer: ModelAnswer) -> str:
    """All text blocks. An unknown block type reads as text without a text (facts §3.3)."""
    texts = (block.get("text") for block in _blocks(answer, "text"))
    return "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())
