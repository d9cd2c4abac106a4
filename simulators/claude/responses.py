"""The API's answer envelope, with ids that are new on every call.

A repeated prompt never gets the same message or tool_use id: whoever builds a key on them is
found out here.
"""

import secrets
import string
from typing import Any

from simulators.claude.caching import CacheCounts, text_tokens
from simulators.claude.fields import Json
from simulators.claude.reply import Reply

_ALPHABET = string.ascii_letters + string.digits


def new_id(prefix: str) -> str:
    """Return a fresh id such as `msg_01` + 22 random letters and digits."""
    return f"{prefix}_01" + "".join(secrets.choice(_ALPHABET) for _ in range(22))


def message_body(reply: Reply, *, model: str, max_tokens: int, counts: CacheCounts) -> Json:
    """Return the JSON of a 200 answer; `max_tokens` 0 only warms the cache and says nothing."""
    content = [_with_id(block) for block in reply.content] if max_tokens else []
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": reply.stop_reason if max_tokens else "max_tokens",
        "stop_sequence": None,
        "usage": _usage(content, counts),
    }


def _with_id(block: Json) -> Json:
    if block.get("type") != "tool_use":
        return dict(block)
    return {
        "type": "tool_use",
        "id": block.get("id") or new_id("toolu"),
        "name": block["name"],
        "input": block.get("input", {}),
    }


def _usage(content: list[Json], counts: CacheCounts) -> dict[str, Any]:
    return {
        "input_tokens": counts.uncached,
        "cache_creation_input_tokens": counts.written_5m + counts.written_1h,
        "cache_read_input_tokens": counts.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": counts.written_5m,
            "ephemeral_1h_input_tokens": counts.written_1h,
        },
        "output_tokens": text_tokens(content) if content else 0,
        "service_tier": "standard",
    }
