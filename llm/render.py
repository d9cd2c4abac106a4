"""The history as the model reads it: one pure function from stored entries to messages.

The trap this closes: a prompt that is put together in several places drifts, and a changed early
message voids the cache and wedges the conversation. Rendering only ever appends: what was rendered
for `n` entries begins what is rendered for more, but for the cache mark and the facts, which come
last and are not part of the history (design §7).

Thinking blocks are never sent back. They are bound to the exact prefix they were made on
(facts/claude.md §4.4), the facts change that prefix at every call, and to leave out all of them is
allowed.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias, assert_never

from domain.history import (
    ActionEvent,
    AssistantBlocks,
    Entry,
    SentText,
    ToolResult,
    ToolResults,
    UserLine,
    UserText,
)
from llm.markers import neutral, neutral_json, neutral_tags
from llm.models import Capability

Message: TypeAlias = dict[str, Any]
"""A message of the Messages API: `role` and `content`."""
_Block: TypeAlias = dict[str, Any]
_Role: TypeAlias = Literal["user", "assistant"]

CACHE_TAIL = {"type": "ephemeral"}
"""The five minutes' mark: it lives as long as a person takes to answer."""

_THINKING = frozenset({"thinking", "redacted_thinking"})


class NothingToAnswerError(ValueError):
    """A programmer's error: the model was to be called without a message to answer."""


def render(
    entries: Iterable[Entry], *, facts: str, now_local: str, capability: Capability
) -> list[Message]:
    """The messages of one call.

    `entries`: the conversation in order of position. `facts`: the ledger's state of the open and
    last decided actions, ours alone, may be empty. `now_local`: ISO 8601 in the account's zone.
    Raises NothingToAnswerError if there is no entry or the last message is the assistant's, and
    ValueError if the positions do not rise.
    """
    messages = _merged(entries)
    if not messages or messages[-1]["role"] != "user":
        last = messages[-1]["role"] if messages else None
        raise NothingToAnswerError(f"a call needs a last message of a user, got {last!r}")
    tail = messages[-1]["content"]
    tail[-1] = {**tail[-1], "cache_control": CACHE_TAIL}
    told = f"now: {now_local}\n{neutral_tags(facts.strip())}".strip()
    if capability.supports_system_role:
        return [*messages, {"role": "system", "content": [_text(told)]}]
    tail.append(_text(f"<facts>\n{told}\n</facts>"))
    return messages


def _merged(entries: Iterable[Entry]) -> list[Message]:
    """Same-role neighbours as one message; tool results first in theirs (facts §4.1, §4.2)."""
    messages: list[Message] = []
    position = -1
    for entry in entries:
        if entry.position <= position:
            raise ValueError(f"position {entry.position} after {position}")
        position = entry.position
        role, blocks = _rendered(entry)
        if not blocks:
            continue
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        content = messages[-1]["content"]
        content.extend(blocks)
        content.sort(key=lambda block: role == "user" and block["type"] != "tool_result")
    return messages


def _rendered(entry: Entry) -> tuple[_Role, list[_Block]]:
    match entry.content:
        case UserText(lines=lines):
            return "user", [_text("\n".join(map(_enveloped, lines)))]
        case ActionEvent(text=text):
            return "user", _texts([neutral_tags(text)])
        case ToolResults(results=results):
            return "user", [_tool_result(result) for result in results]
        case SentText(text=text):
            return "assistant", _texts([text])
        case AssistantBlocks(blocks=blocks):
            return "assistant", _answered(blocks)
        case other:
            assert_never(other)


def _enveloped(line: UserLine) -> str:
    """One message of a person inside a frame that says so; its own signs cannot close it. The frame
    of what a human of the business wrote is another one."""
    if line.by_team:
        return f'<mensagem_da_equipe hora="{line.at}">\n{neutral(line.text)}\n</mensagem_da_equipe>'
    forwarded = ' encaminhada="sim"' if line.forwarded else ""
    quoted = f"<trecho_citado>{neutral(line.quoted)}</trecho_citado>\n" if line.quoted else ""
    return (
        f'<mensagem_da_pessoa hora="{line.at}"{forwarded}>\n'
        f"{quoted}{neutral(line.text)}\n</mensagem_da_pessoa>"
    )


def _answered(blocks: Sequence[_Block]) -> list[_Block]:
    """The model's blocks as they were; its text beside a tool call was shown to nobody and would
    read like a claim ("Pronto, gerei!"), so it stays out (design §3)."""
    calls = any(block.get("type") == "tool_use" for block in blocks)
    return [
        dict(block)
        for block in blocks
        if block.get("type") not in _THINKING
        and not (block.get("type") == "text" and (calls or not _has_text(block)))
    ]


def _has_text(block: _Block) -> bool:
    text = block.get("text")
    return isinstance(text, str) and bool(text.strip())


def _tool_result(result: ToolResult) -> _Block:
    """A result is data: JSON on one line, with what people wrote in it neutral (facts §8)."""
    content = json.dumps(neutral_json(result.content), ensure_ascii=False, sort_keys=True)
    block: _Block = {
        "type": "tool_result",
        "tool_use_id": result.tool_use_id,
        "content": content,
    }
    return {**block, "is_error": True} if result.is_error else block


def _texts(texts: Iterable[str]) -> list[_Block]:
    """Blank text is a 400 (facts §4.2)."""
    return [_text(text) for text in texts if text.strip()]


def _text(text: str) -> _Block:
    return {"type": "text", "text": text}
