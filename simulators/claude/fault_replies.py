"""Faults that are a 200 with something wrong in it, the dangerous kind: they look like answers."""

import re
from datetime import UTC, datetime
from typing import Any

from simulators.claude.faults import Fault
from simulators.claude.fields import Json
from simulators.claude.reply import Reply


def scripted(fault: Fault) -> Reply | None:
    """Return the answer written into the fault, or None if it has none."""
    if fault.content is None:
        return None
    has_tool = any(block.get("type") == "tool_use" for block in fault.content)
    stop = fault.stop_reason or ("tool_use" if has_tool else "end_turn")
    return Reply(content=fault.content, stop_reason=stop)


def spoil(fault: Fault, reply: Reply, *, repeated: bool, schemas: dict[str, Json]) -> Reply:
    """Return `reply` with the fault worked into it.

    `repeated`: this very prompt was seen before. `schemas`: input schema by tool name.
    """
    if fault.kind == "no_stop_reason":
        return Reply(content=reply.content, stop_reason=None)
    if fault.kind == "cut_input":
        return Reply(content=[_cut(block) for block in reply.content], stop_reason="max_tokens")
    if fault.kind == "refusal":
        return Reply(content=[], stop_reason="refusal")
    if fault.kind == "two_tools" and fault.content is None:
        calls = [block for block in reply.content if block["type"] == "tool_use"]
        return Reply(content=reply.content + calls[:1], stop_reason=reply.stop_reason)
    if fault.kind == "text_beside_tool":
        text = {"type": "text", "text": fault.text}
        return Reply(content=[text, *reply.content], stop_reason=reply.stop_reason)
    if fault.kind == "empty_end_turn":
        return Reply(content=[], stop_reason="end_turn")
    if fault.kind == "vary" and (repeated or not fault.only_repeats):
        return vary(reply, schemas)
    return reply


def vary(reply: Reply, schemas: dict[str, Json]) -> Reply:
    """Return the same calls with other key order and formatting but the same meaning.

    Names get other case and outer spaces, moments go to UTC, cents become `"150.00"` where the
    schema takes a string too.
    """
    content: list[Json] = []
    for block in reply.content:
        if block["type"] == "tool_use":
            properties = schemas.get(block["name"], {}).get("properties") or {}
            pairs = reversed(block["input"].items())
            block = block | {"input": {k: _other_form(v, properties.get(k, {})) for k, v in pairs}}
        content.append(block)
    return Reply(content=content, stop_reason=reply.stop_reason)


def _other_form(value: Any, schema: Json) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        kinds = [part.get("type") for part in schema.get("anyOf", [])]
        return f"{value // 100}.{value % 100:02d}" if "string" in kinds else value
    if not isinstance(value, str) or "enum" in schema:
        return value
    if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return f" {value.upper()} " if re.fullmatch(r"[^\W\d_][^\d@]*", value) else value
    if moment.tzinfo is None:
        return value
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _cut(block: Json) -> Json:
    """Truncate the last value of a call as a salvaged partial JSON would: 15000 becomes 15."""
    if block["type"] != "tool_use" or not block["input"]:
        return block
    keys = list(block["input"])
    key = next((k for k in keys if isinstance(block["input"][k], int)), keys[-1])
    value = block["input"][key]
    if isinstance(value, int):
        short: Any = int(str(value)[: max(1, len(str(value)) * 2 // 5)])
    else:
        short = str(value)[: max(1, len(str(value)) // 2)]
    kept = {k: v for k, v in block["input"].items() if k != key}
    return block | {"input": kept | {key: short}}
