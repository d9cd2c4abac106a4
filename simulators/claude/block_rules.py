"""Rules of single content blocks: known fields, no blank text, well-formed ids.

Unknown or null fields are refused because a stored `model_dump()` sends them back, which the API
rejects on replay.
"""

import re
from typing import Any

from simulators.claude.cache_rules import check_cache_control
from simulators.claude.errors import bad_request
from simulators.claude.fields import Json, as_dict, as_list, as_str, one_of, only, require

TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
TOOL_USE_ID = re.compile(r"^[a-zA-Z0-9_-]+$")

_FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("type", "text", "cache_control", "citations"),
    "tool_use": ("type", "id", "name", "input", "cache_control", "caller", "toolset_name"),
    "tool_result": (
        "type",
        "tool_use_id",
        "content",
        "is_error",
        "cache_control",
        "toolset_name",
    ),
    "image": ("type", "source", "cache_control"),
    "document": ("type", "source", "title", "context", "citations", "cache_control"),
    "search_result": ("type", "source", "title", "content", "citations", "cache_control"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
}
_BY_ROLE: dict[str, tuple[str, ...]] = {
    "user": ("text", "tool_result", "image", "document", "search_result"),
    "assistant": ("text", "tool_use", "thinking", "redacted_thinking"),
    "system": ("text",),
}
_MAY_BE_NULL = ("cache_control", "citations", "toolset_name", "title", "context")


def check_block(value: Any, *, role: str, at: str) -> Json:
    """Return one content block of a message of `role`, or raise the 400 that names its path."""
    block = as_dict(value, at)
    kind = one_of(block.get("type"), _BY_ROLE[role], f"{at}.type")
    inside = f"{at}.{kind}"
    only(block, _FIELDS[kind], inside)
    for key, field in block.items():
        if field is None and key not in _MAY_BE_NULL:
            raise bad_request(f"{inside}.{key}: Input should not be null")
    check_cache_control(block.get("cache_control"), f"{inside}.cache_control")
    if kind == "text":
        check_text(require(block, "text", inside), f"{inside}.text")
    elif kind == "tool_use":
        _check_tool_use(block, inside)
    elif kind == "tool_result":
        _check_tool_result(block, inside)
    return block


def check_text(value: Any, at: str) -> None:
    """Refuse text that is empty or only whitespace."""
    text = as_str(value, at)
    where = at.split(".", 1)[0]
    if not text:
        raise bad_request(f"{where}: text content blocks must be non-empty")
    if not text.strip():
        raise bad_request(f"{where}: text content blocks must contain non-whitespace text")


def _check_tool_use(block: Json, at: str) -> None:
    use_id = as_str(require(block, "id", at), f"{at}.id")
    if not TOOL_USE_ID.match(use_id):
        raise bad_request(f"{at}.id: String should match pattern '{TOOL_USE_ID.pattern}'")
    name = as_str(require(block, "name", at), f"{at}.name")
    if not TOOL_NAME.match(name):
        raise bad_request(f"{at}.name: String should match pattern '{TOOL_NAME.pattern}'")
    as_dict(require(block, "input", at), f"{at}.input")


def _check_tool_result(block: Json, at: str) -> None:
    as_str(require(block, "tool_use_id", at), f"{at}.tool_use_id")
    if not isinstance(block.get("is_error", False), bool):
        raise bad_request(f"{at}.is_error: Input should be a valid boolean")
    content = block.get("content", "")
    if isinstance(content, str):
        return
    for index, part in enumerate(as_list(content, f"{at}.content")):
        inner = f"{at}.content.{index}"
        kind = as_dict(part, inner).get("type")
        one_of(kind, ("text", "image", "document", "search_result"), f"{inner}.type")
        check_block(part, role="user", at=inner)
