"""What was asked and answered, so that a test can assert on the far side's count."""

import hashlib
import json
import time
from collections import deque
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from simulators.claude.fields import Json


class Entry(BaseModel):
    """One call. `time` is seconds since 1970 (UTC); `status` 0 means no answer was given.

    `tools`: names; `tools_hash`: SHA-256 of them as they were sent, order and all.
    """

    model_config = ConfigDict(extra="forbid")

    seq: int
    time: float
    request_id: str
    path: str
    model: str | None
    messages: list[Any]
    system: Any
    tools: list[str]
    tools_hash: str = ""
    tool_choice: Any
    stream: bool
    thinking: Any
    effort: str | None
    max_tokens: Any
    user_text: str
    fault: str | None = None
    status: int = 0
    response: Any = None


class Journal:
    """The entries kept in memory (the newest `limit`) and, if asked, in a file of JSON lines."""

    def __init__(self, *, limit: int, state: Path | None) -> None:
        self._entries: deque[Entry] = deque(maxlen=limit)
        self._state = state
        self._calls = 0
        if state is not None and state.exists():
            for line in state.read_text(encoding="utf-8").splitlines():
                entry = Entry.model_validate_json(line)
                self._entries.append(entry)
                self._calls = max(self._calls, entry.seq)

    @property
    def calls(self) -> int:
        """How many calls arrived since the start or the last reset."""
        return self._calls

    def open(self, *, request_id: str, path: str, body: Any, user_text: str) -> Entry:
        """Record that a call arrived; it counts even if no answer is ever given."""
        self._calls += 1
        asked: Json = body if isinstance(body, dict) else {}
        entry = Entry(
            seq=self._calls,
            time=time.time(),
            request_id=request_id,
            path=path,
            model=str(asked["model"]) if "model" in asked else None,
            messages=_list(asked.get("messages")),
            system=asked.get("system"),
            tools=[str(t.get("name")) for t in _list(asked.get("tools")) if isinstance(t, dict)],
            tools_hash=hashlib.sha256(json.dumps(asked.get("tools")).encode()).hexdigest(),
            tool_choice=asked.get("tool_choice"),
            stream=asked.get("stream") is True,
            thinking=asked.get("thinking"),
            effort=_effort(asked),
            max_tokens=asked.get("max_tokens"),
            user_text=user_text,
        )
        self._entries.append(entry)
        return entry

    def close(self, entry: Entry) -> None:
        """Write a call with its answer to the state file, if there is one."""
        if self._state is not None:
            with self._state.open("a", encoding="utf-8") as file:
                file.write(entry.model_dump_json() + "\n")

    def since(self, seq: int, contains: str | None = None) -> list[Entry]:
        """Return the entries after `seq`, oldest first, optionally only those that contain text.

        `contains` is looked for in the messages and the answer, case ignored.
        """
        wanted = contains.casefold() if contains else ""
        return [e for e in self._entries if e.seq > seq and (not wanted or wanted in _text(e))]

    def clear(self) -> None:
        """Forget every entry, the counter and the state file."""
        self._entries.clear()
        self._calls = 0
        if self._state is not None:
            self._state.unlink(missing_ok=True)


def _text(entry: Entry) -> str:
    parts = [entry.messages, entry.response]
    return json.dumps(parts, ensure_ascii=False).casefold()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _effort(asked: Json) -> str | None:
    config = asked.get("output_config")
    effort = config.get("effort") if isinstance(config, dict) else None
    return str(effort) if effort is not None else None
