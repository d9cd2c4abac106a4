"""Reading an answer's tool calls: which tool, whether it was offered, whether its input holds.

One home for the rule that a call counts only if its input validates, and for what the model is told
when it does not (`is_error`, so that it can ask the person).
"""

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from domain.canonical import JsonValue
from domain.errors import ToolInputError
from domain.history import AssistantBlocks, ToolResult, ToolResults
from domain.texts import texts_for
from llm.answers import ModelAnswer, ToolCall, ToolCalls, classify
from store import history
from store.connection import Connection
from store.turns import StoredAnswer, Turn
from tools.contract import EffectTool, ReadTool
from tools.registry import Registry, UnknownToolError

Slot = tuple[str, str, dict[str, JsonValue]]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The tool calls of a stored answer."""

    calls: tuple[ToolCall, ...]
    unsent_text: str | None
    blocks: tuple[dict[str, Any], ...]


def read_answer(stored: StoredAnswer) -> Answer:
    """The calls of the answer. Raises ValueError if it is no answer with tool calls."""
    answer = as_model_answer(stored)
    step = classify(answer)
    if not isinstance(step, ToolCalls):
        raise ValueError(f"no tool calls in an answer that stopped by {stored.stop_reason!r}")
    return Answer(calls=step.calls, unsent_text=step.unsent_text, blocks=answer.blocks)


def as_model_answer(stored: StoredAnswer) -> ModelAnswer:
    """The stored answer as the model room reads it; what it cost stays in its row."""
    return ModelAnswer(
        stop_reason=stored.stop_reason,
        blocks=tuple(stored.content),
        usage={},
        request_id=None,
        model="",
        latency_ms=0,
    )


def is_effect(registry: Registry, call: ToolCall) -> bool:
    """Whether the call names a tool with an effect; an unknown name is none."""
    try:
        return isinstance(registry.get(call.name), EffectTool)
    except UnknownToolError:
        return False


def offered_tool(registry: Registry, turn: Turn, call: ToolCall) -> ReadTool[Any] | EffectTool[Any]:
    """The tool, if it was offered to this person. Raises ToolInputError otherwise: a tool that was
    not offered is answered like one that does not exist."""
    for tool in registry.offered_to(turn.who.role, bool(turn.settings.get("read_only"))):
        if tool.name == call.name:
            return tool
    raise ToolInputError(texts_for(turn.who.language).no_such_tool(call.name))


def validated(turn: Turn, tool: ReadTool[Any] | EffectTool[Any], call: ToolCall) -> BaseModel:
    """The call's input as the tool's model. Raises ToolInputError that names each wrong field."""
    try:
        model: BaseModel = tool.input_model.model_validate(call.input)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, part['loc'])) or 'input'}: {part['msg']}"
            for part in error.errors(include_url=False, include_input=False, include_context=False)
        )
        raise ToolInputError(texts_for(turn.who.language).bad_input(problems)) from None
    return model


def error_result(call: ToolCall, message: str) -> ToolResult:
    """What the model is told of a call that did not run."""
    return ToolResult(tool_use_id=call.id, content={"error": message}, is_error=True)


def second_effects(turn: Turn, effects: list[ToolCall]) -> list[ToolResult]:
    """What the model is told of every call with an effect but the first: one at a time."""
    message = texts_for(turn.who.language).one_at_a_time()
    return [error_result(one, message) for one in effects[1:]]


def data_result(call: ToolCall, data: dict[str, JsonValue]) -> ToolResult:
    """What the model is told of a call that ran: data only, no instruction."""
    return ToolResult(tool_use_id=call.id, content=json.loads(json.dumps(data)))


def calls_slot(turn: Turn, step: int) -> str:
    """Where the calls of a step stand in the history, once they are answered."""
    return f"turn:{turn.id}:{step}:calls"


def pair(turn: Turn, step: int, answer: Answer, results: list[ToolResult]) -> list[Slot]:
    """The two history entries of a step: the calls, and all their results in one message."""
    by_id = {result.tool_use_id: result for result in results}
    in_order = tuple(by_id[call.id] for call in answer.calls)
    blocks = AssistantBlocks(blocks=_without_text(answer), unsent_text=answer.unsent_text)
    return [
        (
            calls_slot(turn, step),
            "assistant_blocks",
            blocks.model_dump(mode="json"),
        ),
        (
            f"turn:{turn.id}:{step}:results",
            "tool_results",
            ToolResults(results=in_order).model_dump(mode="json"),
        ),
    ]


def _without_text(answer: Answer) -> tuple[dict[str, Any], ...]:
    """Text beside a call was never shown ("Pronto, gerei!" would be false): kept apart as
    unsent."""
    return tuple(block for block in answer.blocks if block.get("type") == "tool_use")


async def write(connection: Connection, turn: Turn, slots: list[Slot]) -> None:
    """Append a step's entries to the history; the caller's transaction holds the conversation."""
    for slot, kind, content in slots:
        await history.append_turn_entry(
            connection,
            conversation=turn.conversation_id,
            turn=turn.id,
            slot=slot,
            kind=kind,
            content=content,
        )
