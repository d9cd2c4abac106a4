"""Small builders of entries, so that a test shows only what it is about."""

from datetime import datetime, timedelta, timezone
from typing import Any

from pydantic import JsonValue

from domain.history import (
    ActionEvent,
    AssistantBlocks,
    Entry,
    EntryContent,
    SentText,
    ToolResult,
    ToolResults,
    UserLine,
    UserText,
)
from llm.answers import ModelAnswer
from llm.render import Message

BRASILIA = timezone(timedelta(hours=-3))
AT = datetime(2026, 11, 30, 14, 2, tzinfo=BRASILIA).isoformat()


def said(text: str, *, quoted: str | None = None, forwarded: bool = False) -> UserText:
    """One message of a person."""
    return UserText(lines=(UserLine(text=text, at=AT, quoted=quoted, forwarded=forwarded),))


def called(
    id_: str, name: str = "get_balance", *, text: str = "", **input_: Any
) -> AssistantBlocks:
    """The model asks for a tool."""
    blocks: list[dict[str, JsonValue]] = [{"type": "text", "text": text}] if text else []
    blocks.append({"type": "tool_use", "id": id_, "name": name, "input": input_})
    return AssistantBlocks(blocks=tuple(blocks), unsent_text=text or None)


def replied(text: str) -> AssistantBlocks:
    """The model answers in words."""
    return AssistantBlocks(blocks=({"type": "text", "text": text},))


def result(id_: str, content: JsonValue = None, *, is_error: bool = False) -> ToolResults:
    """One tool call's result."""
    return ToolResults(results=(ToolResult(tool_use_id=id_, content=content, is_error=is_error),))


def sent(text: str) -> SentText:
    """A text that the system sent."""
    return SentText(text=text)


def clicked(text: str) -> ActionEvent:
    """A click, in the system's words."""
    return ActionEvent(text=text)


def history(*contents: EntryContent) -> list[Entry]:
    """Entries at positions 0, 1, …"""
    return [Entry.of(at, content) for at, content in enumerate(contents)]


def answer(stop_reason: str | None, *blocks: dict[str, JsonValue]) -> ModelAnswer:
    """A model's answer."""
    return ModelAnswer(
        stop_reason=stop_reason,
        blocks=blocks,
        usage={},
        request_id=None,
        model="claude-haiku-5-5",
        latency_ms=1,
    )


def flat(messages: list[Message]) -> list[tuple[str, dict[str, Any]]]:
    """The history part as role and block in order, without cache marks and facts."""
    return [
        (message["role"], {k: v for k, v in block.items() if k != "cache_control"})
        for message in messages
        if message["role"] != "system"
        for block in message["content"]
        if not str(block.get("text", "")).startswith("<facts>")
    ]
