"""Repair instead of wedge: a history that breaks a rule is put right, and it is said what was done.

The trap this closes: an orphan tool call fails every later call (facts/claude.md §13). Repair is
deterministic, so that the same history is repaired alike at every call. What an unanswered call
came to is asked of the caller, who reads the ledger: "not executed" is never claimed unseen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from llm.invariants import Violation, blocks_of, is_blank, results_of, uses_of, violations
from llm.render import Message

Truth: TypeAlias = Callable[[str, str], str]
"""`truth(tool_use_id, tool_name)`: what the ledger knows of a call without a result."""


@dataclass(frozen=True, kw_only=True)
class Repaired:
    """`messages` to send; `found`: what was broken before (for a metric and a log; ids only);
    `left`: what repair cannot help, so that the call would be refused."""

    messages: list[Message]
    found: tuple[Violation, ...]
    left: tuple[Violation, ...]


def repair(messages: Sequence[Message], *, truth: Truth) -> Repaired:
    """Put right what can be put right; the same messages if nothing is broken.

    A trailing assistant message, an unknown role, no message at all and an excess of size are left:
    they are the caller's fault or need trimming.
    """
    found = tuple(violations(messages))
    if not found:
        return Repaired(messages=list(messages), found=(), left=())
    work = _Repair(truth=truth)
    for message in _joined(_cleaned(messages)):
        work.add(message)
    work.answer_open_calls()
    return Repaired(messages=work.out, found=found, left=tuple(violations(work.out)))


def _cleaned(messages: Sequence[Message]) -> list[Message]:
    """Without blank text, misplaced blocks, empty messages and misplaced system messages."""
    kept = []
    for message in messages:
        blocks = [block for block in blocks_of(message) if _belongs(message, block)]
        if blocks:
            kept.append({**message, "content": blocks})
    return [message for at, message in enumerate(kept) if _may_stand(kept, at)]


def _belongs(message: Message, block: dict[str, Any]) -> bool:
    home = {"tool_use": "assistant", "tool_result": "user"}.get(block["type"], message["role"])
    only_text = message["role"] == "system" and block["type"] != "text"
    return message["role"] == home and not is_blank(block) and not only_text


def _may_stand(messages: Sequence[Message], at: int) -> bool:
    before = messages[at - 1]["role"] if at else None
    after = messages[at + 1]["role"] if at + 1 < len(messages) else None
    allowed = before == "user" and after in {None, "assistant"}
    return allowed or messages[at]["role"] != "system"


def _joined(messages: Sequence[Message]) -> list[Message]:
    """Same-role neighbours as one message, results first in it."""
    out: list[Message] = []
    for message in messages:
        if not out or out[-1]["role"] != message["role"]:
            out.append({**message, "content": []})
        blocks = out[-1]["content"]
        blocks.extend(blocks_of(message))
        if message["role"] == "user":
            blocks.sort(key=lambda block: block["type"] != "tool_result")
    return out


@dataclass
class _Repair:
    truth: Truth
    out: list[Message] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        """Append one message so that what stands so far stays legal."""
        match message["role"]:
            case "assistant":
                self._add_assistant(message)
            case "user":
                self._add_user(message)
            case "system":
                if self.out and self.out[-1]["role"] == "user":
                    self.out.append(message)
            case _:
                self.out.append(message)

    def answer_open_calls(self) -> None:
        """Answer what the last message asked, if nobody did."""
        if self.out and uses_of(self.out[-1]):
            self._add_user({"role": "user", "content": []})

    def _add_assistant(self, message: Message) -> None:
        if not self.out:
            return
        blocks = self._with_own_ids(message["content"])
        if self.out[-1]["role"] == "assistant":
            self.answer_open_calls()
        if self.out[-1]["role"] == "assistant":
            self.out[-1]["content"].extend(blocks)
        elif blocks:
            self.out.append({**message, "content": blocks})

    def _with_own_ids(self, blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Each call with an id of its own: a repeat in one message goes, a later one is renamed."""
        self.renamed = {}
        here: set[str] = set()
        own = []
        for block in blocks:
            if block["type"] != "tool_use":
                own.append(block)
                continue
            id_ = block["id"]
            if id_ in here:
                continue
            here.add(id_)
            own.append({**block, "id": self._fresh(id_)})
        return own

    def _fresh(self, id_: str) -> str:
        fresh, number = id_, 2
        while fresh in self.seen:
            fresh, number = f"{id_}_{number}", number + 1
        self.seen.add(fresh)
        self.renamed[id_] = fresh
        return fresh

    def _add_user(self, message: Message) -> None:
        calls = uses_of(self.out[-1] if self.out else None)
        open_calls = {call["id"]: call["name"] for call in calls}
        results = []
        for result in results_of(message):
            id_ = self.renamed.get(result["tool_use_id"], result["tool_use_id"])
            if open_calls.pop(id_, None) is None:
                continue
            results.append({**result, "tool_use_id": id_})
        results += [self._truth_about(id_, name) for id_, name in open_calls.items()]
        others = [block for block in blocks_of(message) if block["type"] != "tool_result"]
        if self.out and self.out[-1]["role"] == "user":
            self.out[-1]["content"].extend(others)
        elif results or others:
            self.out.append({**message, "content": [*results, *others]})

    def _truth_about(self, id_: str, name: str) -> dict[str, Any]:
        content = self.truth(id_, name)
        return {"type": "tool_result", "tool_use_id": id_, "content": content, "is_error": True}
