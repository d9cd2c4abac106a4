"""The same answer as server-sent events, for callers that stream."""

import json
from collections.abc import Iterator

from simulators.claude.fields import Json


def events(message: Json) -> Iterator[str]:
    """Yield the events of one message: start, one delta a block, the stop reason, the end."""
    start = message | {"content": [], "stop_reason": None}
    yield _event("message_start", {"message": start})
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    yield _event("message_delta", {"delta": delta, "usage": usage})
    yield _event("message_stop", {})


def _block_events(index: int, block: Json) -> Iterator[str]:
    if block["type"] == "tool_use":
        empty = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        empty = block | {"text": ""}
        delta = {"type": "text_delta", "text": block.get("text", "")}
    yield _event("content_block_start", {"index": index, "content_block": empty})
    yield _event("content_block_delta", {"index": index, "delta": delta})
    yield _event("content_block_stop", {"index": index})


def _event(name: str, data: Json) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"
