"""Prompt cache counters, kept honest by hashing: a read is counted only for a prefix that an
earlier request wrote and that has not run out.

Source: the prompt-caching page. Order is tools, system, messages; only breakpoints write; a
breakpoint looks back over 20 blocks; below the model's minimum nothing is cached and nothing is
said about it; a hit renews the entry's life; a changed `tool_choice` or thinking voids messages.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from simulators.claude.fields import Json
from simulators.claude.request_rules import CheckedRequest

LOOK_BACK_BLOCKS = 20
LIFE_SECONDS = {"5m": 300.0, "1h": 3600.0}
CHARS_PER_TOKEN = 3


@dataclass(frozen=True, kw_only=True)
class CacheCounts:
    """Tokens of one prompt by where they came from; the sum is the whole prompt."""

    uncached: int
    read: int
    written_5m: int
    written_1h: int


@dataclass(frozen=True, kw_only=True)
class _Step:
    """One block of the prompt: the hash of everything up to it, and the tokens up to it."""

    key: str
    tokens: int
    life: str | None


@dataclass
class _Entry:
    life: str
    ends_at: float


class PromptCache:
    """The far side's cache; one for the whole process, as on one API account."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Take `clock`, a function that returns seconds."""
        self._clock = clock
        self._entries: dict[str, _Entry] = {}

    def clear(self) -> None:
        """Forget every prefix."""
        self._entries.clear()

    def count(self, request: CheckedRequest) -> CacheCounts:
        """Count one request and write its breakpoints."""
        now = self._clock()
        steps = _steps(request)
        total = steps[-1].tokens
        marks = [i for i, step in enumerate(steps) if step.life is not None]
        hit = self._longest_hit(steps, marks, now)
        read = steps[hit].tokens if hit is not None else 0
        written = {"5m": 0, "1h": 0}
        before = read
        for mark in marks:
            step = steps[mark]
            if step.tokens < request.rules.min_cache or step.life is None:
                continue
            self._entries[step.key] = _Entry(step.life, now + LIFE_SECONDS[step.life])
            if step.tokens > before:
                written[step.life] += step.tokens - before
                before = step.tokens
        return CacheCounts(
            uncached=total - before,
            read=read,
            written_5m=written["5m"],
            written_1h=written["1h"],
        )

    def _longest_hit(self, steps: list[_Step], marks: list[int], now: float) -> int | None:
        for mark in reversed(marks):
            for index in range(mark, max(mark - LOOK_BACK_BLOCKS, -1), -1):
                entry = self._entries.get(steps[index].key)
                if entry is not None and entry.ends_at > now:
                    entry.ends_at = now + LIFE_SECONDS[entry.life]
                    return index
        return None


def count_tokens(request: CheckedRequest) -> int:
    """Return the estimated tokens of the whole prompt (characters / 3)."""
    return _steps(request)[-1].tokens


def text_tokens(value: object) -> int:
    """Return the estimated tokens of a text or of a JSON value."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return max(1, len(text) // CHARS_PER_TOKEN)


def _steps(request: CheckedRequest) -> list[_Step]:
    named: list[tuple[str, Json]] = [("tool", tool) for tool in request.tools]
    named += [("system", block) for block in request.system]
    start = f"messages:{json.dumps(request.tool_choice, sort_keys=True)}:{request.thinking}"
    for index, message in enumerate(request.messages):
        label = f"{start if index == 0 else ''}{message['role']}"
        named += [(label, block) for block in message["content"]]
    steps: list[_Step] = []
    key, chars = request.model, 0
    for place, (label, block) in enumerate(named):
        bare = {k: v for k, v in block.items() if k != "cache_control"}
        text = json.dumps(bare, ensure_ascii=False, sort_keys=True)
        key = hashlib.sha256(f"{key}\n{label}\n{text}".encode()).hexdigest()
        chars += len(text)
        control = block.get("cache_control")
        life = str(control.get("ttl", "5m")) if control else None
        if life is None and place == len(named) - 1:
            life = request.auto_cache
        steps.append(_Step(key=key, tokens=max(1, chars // CHARS_PER_TOKEN), life=life))
    return steps
