"""What the brain or a script wants to say, before the API's envelope is put around it."""

from dataclasses import dataclass

from simulators.claude.fields import Json


@dataclass(frozen=True, kw_only=True)
class Reply:
    """Content blocks without ids (`text` or `tool_use` with name and input) and a stop reason."""

    content: list[Json]
    stop_reason: str | None = "end_turn"


def say(text: str) -> Reply:
    """Return an answer of one text block."""
    return Reply(content=[{"type": "text", "text": text}])


def call(name: str, arguments: Json) -> Reply:
    """Return an answer of one tool call."""
    block = {"type": "tool_use", "name": name, "input": arguments}
    return Reply(content=[block], stop_reason="tool_use")
