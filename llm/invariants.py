"""The rules that the Messages API answers with 400, checked before each call (facts §4.8).

The trap this closes: one bad pair in a stored history fails every later call of that conversation,
for days. Pure, and says what is wrong where, so that it can be repaired and counted.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from llm.render import Message

MAX_MESSAGES = 100_000
MAX_BYTES = 32 * 1024 * 1024
"""The API's limit of a body; 413 above (facts §2)."""


class Rule(StrEnum):
    """Which rule is broken."""

    EMPTY = "empty"
    ROLE = "role"
    FIRST_NOT_USER = "first_not_user"
    LAST_IS_ASSISTANT = "last_is_assistant"
    NOT_MERGED = "not_merged"
    NO_CONTENT = "no_content"
    BLANK_TEXT = "blank_text"
    ORPHAN_TOOL_USE = "orphan_tool_use"
    ORPHAN_RESULT = "orphan_result"
    DUPLICATE_RESULT = "duplicate_result"
    DUPLICATE_TOOL_USE = "duplicate_tool_use"
    MISPLACED_BLOCK = "misplaced_block"
    RESULT_NOT_FIRST = "result_not_first"
    SYSTEM_PLACEMENT = "system_placement"
    TOO_LARGE = "too_large"


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A broken rule at message `at` (from 0); `detail` holds ids only, never what was written."""

    rule: Rule
    at: int
    detail: str = ""


def violations(messages: Sequence[Message]) -> list[Violation]:
    """All broken rules in order of place; empty if the API has nothing to complain of."""
    if not messages:
        return [Violation(rule=Rule.EMPTY, at=0)]
    found = [*_ends(messages), *_size(messages)]
    for at, message in enumerate(messages):
        found += _blocks(at, message)
        found += _neighbours(messages, at)
        found += _pairs(messages, at)
    found += _repeated_ids(messages)
    return sorted(found, key=lambda violation: violation.at)


def blocks_of(message: Message) -> list[dict[str, Any]]:
    """The message's content as blocks; a plain string is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def uses_of(message: Message | None) -> list[dict[str, Any]]:
    """The tool calls of an assistant message, else none."""
    if message is None or message["role"] != "assistant":
        return []
    return [block for block in blocks_of(message) if block["type"] == "tool_use"]


def results_of(message: Message | None) -> list[dict[str, Any]]:
    """The tool results of a user message, else none."""
    if message is None or message["role"] != "user":
        return []
    return [block for block in blocks_of(message) if block["type"] == "tool_result"]


def is_blank(block: dict[str, Any]) -> bool:
    """Whether it is a text block of nothing but space."""
    return block["type"] == "text" and not str(block.get("text") or "").strip()


def _ends(messages: Sequence[Message]) -> list[Violation]:
    found = []
    if messages[0]["role"] == "assistant":
        found.append(Violation(rule=Rule.FIRST_NOT_USER, at=0))
    if messages[-1]["role"] == "assistant":
        found.append(Violation(rule=Rule.LAST_IS_ASSISTANT, at=len(messages) - 1))
    return found


def _size(messages: Sequence[Message]) -> list[Violation]:
    size = len(json.dumps(messages, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if len(messages) <= MAX_MESSAGES and size <= MAX_BYTES:
        return []
    return [Violation(rule=Rule.TOO_LARGE, at=len(messages) - 1, detail=f"{size} bytes")]


def _blocks(at: int, message: Message) -> list[Violation]:
    """What one message may hold, whatever stands around it."""
    role, blocks = message["role"], blocks_of(message)
    if role not in {"user", "assistant", "system"}:
        return [Violation(rule=Rule.ROLE, at=at, detail=repr(role))]
    if not blocks:
        return [Violation(rule=Rule.NO_CONTENT, at=at)]
    found = [Violation(rule=Rule.BLANK_TEXT, at=at) for block in blocks if is_blank(block)]
    allowed = {"user": "tool_result", "assistant": "tool_use"}.get(role)
    found += [
        Violation(rule=Rule.MISPLACED_BLOCK, at=at, detail=block["type"])
        for block in blocks
        if block["type"] in {"tool_use", "tool_result"} and block["type"] != allowed
    ]
    is_other = [block["type"] != "tool_result" for block in blocks]
    if role == "user" and is_other != sorted(is_other):
        found.append(Violation(rule=Rule.RESULT_NOT_FIRST, at=at))
    if role == "system" and any(block["type"] != "text" for block in blocks):
        found.append(Violation(rule=Rule.SYSTEM_PLACEMENT, at=at, detail="text only"))
    return found


def _neighbours(messages: Sequence[Message], at: int) -> list[Violation]:
    role = messages[at]["role"]
    before = messages[at - 1]["role"] if at else None
    after = messages[at + 1]["role"] if at + 1 < len(messages) else None
    if role == "system" and (before != "user" or after not in {None, "assistant"}):
        return [Violation(rule=Rule.SYSTEM_PLACEMENT, at=at)]
    if role == before:
        return [Violation(rule=Rule.NOT_MERGED, at=at)]
    return []


def _pairs(messages: Sequence[Message], at: int) -> list[Violation]:
    """Every call is answered once in the very next message, and nothing else is (facts §4.1)."""
    before = messages[at - 1] if at else None
    after = messages[at + 1] if at + 1 < len(messages) else None
    asked = {use["id"] for use in uses_of(before)}
    given = [result["tool_use_id"] for result in results_of(messages[at])]
    answered = {result["tool_use_id"] for result in results_of(after)}
    found = [
        Violation(rule=Rule.ORPHAN_TOOL_USE, at=at, detail=repr(use["id"]))
        for use in uses_of(messages[at])
        if use["id"] not in answered
    ]
    for place, id_ in enumerate(given):
        if id_ not in asked:
            found.append(Violation(rule=Rule.ORPHAN_RESULT, at=at, detail=repr(id_)))
        elif id_ in given[:place]:
            found.append(Violation(rule=Rule.DUPLICATE_RESULT, at=at, detail=repr(id_)))
    return found


def _repeated_ids(messages: Sequence[Message]) -> list[Violation]:
    found, seen = [], set()
    for at, message in enumerate(messages):
        for use in uses_of(message):
            if use["id"] in seen:
                rule = Rule.DUPLICATE_TOOL_USE
                found.append(Violation(rule=rule, at=at, detail=repr(use["id"])))
            seen.add(use["id"])
    return found
