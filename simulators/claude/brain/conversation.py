"""The request as the brain sees it: what the person wrote, what tools answered, which facts came.

The product's envelope is plain text of its own making, so this reads it by its marks: tags,
bracketed lines, ISO moments.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from simulators.claude.brain.moments import ISO_MOMENT
from simulators.claude.brain.words import fold
from simulators.claude.fields import Json
from simulators.claude.request_rules import CheckedRequest

HOME = ZoneInfo("America/Sao_Paulo")
_FACT_REGION = re.compile(
    r"<(fatos?|facts?|ledger|contexto|context|sistema|system|estado)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_QUOTE_REGION = re.compile(
    r"<(trecho_citado|quoted?|mensagem_da_equipe)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL
)
_TAG = re.compile(r"<(fatos?|facts?|ledger|contexto|context|sistema|system|estado)\b[^>]*>")
_TAG = re.compile(r"</?[a-zA-Z_][\w-]*(?:\s[^>\n]*)?>")
_FACT_HEAD = re.compile(r"\s*[\[#*]*\s*(fatos|facts|estado das acoes|acoes|registro|ledger)\b")
_META_LINE = re.compile(
    r"\s*(\[[^\]]*\]|(agora|now|data|hora|fuso|timezone|time|moment|momento)\b[^:]{0,30}:.*)\s*$"
)
_META_PREFIX = re.compile(r"\s*[\[(][^\])\n]*\d{4}-\d\d-\d\d[^\])\n]*[\])]\s*:?")


@dataclass(frozen=True, kw_only=True)
class ToolStep:
    """One tool call of the history with its result; `data` is the result read as JSON, if it is."""

    name: str
    input: Json
    result: str
    data: Any
    is_error: bool


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One text of the person and the tool calls made after it, up to his next text."""

    text: str
    steps: list[ToolStep]


@dataclass(frozen=True, kw_only=True)
class View:
    """All that the brain decides from. `turns` is never empty; the last one is the current."""

    turns: list[Turn]
    facts: list[str]
    now: datetime
    schemas: dict[str, Json]
    may_call: bool
    forced: str | None

    @property
    def text(self) -> str:
        """What the person wrote last."""
        return self.turns[-1].text

    @property
    def steps(self) -> list[ToolStep]:
        """The tool calls answered since then."""
        return self.turns[-1].steps


def read(request: CheckedRequest) -> View:
    """Return the view of a checked request; facts are those that came with the last text."""
    facts: list[str] = []
    meta: list[str] = []
    turns: list[Turn] = []
    open_calls: dict[str, Json] = {}
    for message in request.messages:
        for block in message["content"]:
            if block["type"] == "tool_use":
                open_calls[block["id"]] = block
            elif block["type"] == "tool_result" and turns:
                turns[-1].steps.append(_step(open_calls[block["tool_use_id"]], block))
        if message["role"] == "system":
            facts += [line for text in _texts(message) for line in _lines(text)]
        elif message["role"] == "user":
            parts = [split_user_text(text) for text in _texts(message)]
            said = [part.said for part in parts if part.said]
            extra = [line for part in parts for line in part.facts]
            meta += [line for part in parts for line in part.envelope]
            facts = extra if said else facts + extra
            if said:
                turns.append(Turn(text="\n".join(said), steps=[]))
    return View(
        turns=turns or [Turn(text="", steps=[])],
        facts=facts,
        now=_now(facts, reversed(meta)),
        schemas={tool["name"]: tool["input_schema"] for tool in request.tools},
        may_call=bool(request.tools) and request.tool_choice["type"] != "none",
        forced=_forced(request),
    )


@dataclass(frozen=True, kw_only=True)
class UserText:
    """One text block of a user message, taken apart."""

    said: str
    facts: list[str]
    envelope: list[str]


def split_user_text(text: str) -> UserText:
    """Part one text block into the person's words, lines of facts and lines of the envelope."""
    facts = [line for region in _FACT_REGION.finditer(text) for line in _lines(region[0])]
    text = _QUOTE_REGION.sub("", _FACT_REGION.sub("", text))
    if _FACT_HEAD.match(fold(text)):
        return UserText(said="", facts=facts + _lines(text), envelope=[])
    envelope: list[str] = []
    kept: list[str] = []
    for line in text.splitlines():
        envelope += _TAG.findall(line)
        bare = _TAG.sub("", line)
        if prefix := _META_PREFIX.match(bare):
            envelope.append(prefix[0])
            bare = bare[prefix.end() :]
        if _META_LINE.match(fold(bare)):
            envelope.append(bare)
        elif bare.strip():
            kept.append(bare.strip())
    return UserText(said="\n".join(kept), facts=facts, envelope=envelope)


def _texts(message: Json) -> list[str]:
    return [str(block["text"]) for block in message["content"] if block["type"] == "text"]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in _TAG.sub("", text).splitlines() if line.strip()]


def _now(facts: list[str], envelope: Iterable[str]) -> datetime:
    """The line of facts that says "now", else the newest envelope, else any fact, else now."""
    said = [line for line in facts if re.match(r"(now|agora)\b", fold(line))]
    for line in [*said, *envelope, *facts]:
        if match := ISO_MOMENT.search(line):
            return datetime.fromisoformat(match[0])
    return datetime.now(HOME).replace(microsecond=0)


def _step(call: Json, block: Json) -> ToolStep:
    content = block.get("content", "")
    if not isinstance(content, str):
        content = "\n".join(str(part.get("text", "")) for part in content)
    try:
        data = json.loads(content)
    except ValueError:
        data = None
    return ToolStep(
        name=str(call.get("name", "")),
        input=dict(call.get("input", {})),
        result=content,
        data=data,
        is_error=block.get("is_error", False) is True,
    )


def _forced(request: CheckedRequest) -> str | None:
    kind = request.tool_choice["type"]
    if kind == "tool":
        return str(request.tool_choice["name"])
    return str(request.tools[0]["name"]) if kind == "any" else None
