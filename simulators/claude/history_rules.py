"""Rules of the message list: who speaks when, and every tool call answered in the next message.

These are the 400s that wedge a conversation for ever when a history is stored wrongly.
"""

from typing import Any

from simulators.claude.block_rules import check_block, check_text
from simulators.claude.errors import bad_request
from simulators.claude.fields import Json, as_dict, as_list, one_of, only, require
from simulators.claude.models import ModelRules

MAX_MESSAGES = 100_000


def check_messages(value: Any, rules: ModelRules) -> list[Json]:
    """Return the messages with every content as a list of blocks, or raise the documented 400."""
    raw = as_list(value, "messages")
    if not raw:
        raise bad_request("messages: at least one message is required")
    if len(raw) > MAX_MESSAGES:
        raise bad_request(f"messages: at most {MAX_MESSAGES} messages; found {len(raw)}")
    messages = [_check_message(message, f"messages.{i}") for i, message in enumerate(raw)]
    _check_speakers(messages, rules)
    _check_system_places(messages, rules)
    _check_unique_ids(messages)
    _check_pairs(messages)
    return messages


def _check_message(value: Any, at: str) -> Json:
    message = as_dict(value, at)
    only(message, ("role", "content"), at)
    role = one_of(require(message, "role", at), ("user", "assistant", "system"), f"{at}.role")
    content = require(message, "content", at)
    if isinstance(content, str):
        check_text(content, at)
        return {"role": role, "content": [{"type": "text", "text": content}]}
    blocks = as_list(content, f"{at}.content")
    if not blocks:
        raise bad_request(f"{at}: all messages must have non-empty content")
    checked = [check_block(b, role=role, at=f"{at}.content.{i}") for i, b in enumerate(blocks)]
    return {"role": role, "content": checked}


def _check_speakers(messages: list[Json], rules: ModelRules) -> None:
    if messages[0]["role"] != "user":
        raise bad_request('messages: first message must use the "user" role')
    last = messages[-1]
    if last["role"] != "assistant":
        return
    if not rules.prefill:
        raise bad_request(
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )
    if (
        str(last["content"][-1].get("text", ""))
        != str(last["content"][-1].get("text", "")).rstrip()
    ):
        raise bad_request("messages: final assistant content cannot end with trailing whitespace")


def _check_system_places(messages: list[Json], rules: ModelRules) -> None:
    for index, message in enumerate(messages):
        if message["role"] != "system":
            continue
        if not rules.system_role:
            raise bad_request(f"messages.{index}: role 'system' is not supported on this model")
        if messages[index - 1]["role"] not in ("user", "system"):
            raise bad_request(
                f"messages.{index}: role 'system' must directly follow a user message"
            )
        if index + 1 < len(messages) and messages[index + 1]["role"] == "user":
            raise bad_request(
                f"messages.{index}: role 'system' must be last or followed by an assistant message"
            )


def _check_unique_ids(messages: list[Json]) -> None:
    seen: set[str] = set()
    for index, message in enumerate(messages):
        for place, block in enumerate(message["content"]):
            if block["type"] != "tool_use":
                continue
            if block["id"] in seen:
                raise bad_request(
                    f"messages.{index}.content.{place}: `tool_use` ids must be unique"
                )
            seen.add(block["id"])


def _check_pairs(messages: list[Json]) -> None:
    for index, message in enumerate(messages):
        asked = _ids(messages[index - 1], "tool_use", "id") if index else []
        _check_results(message, asked, f"messages.{index}")
        mine = _ids(message, "tool_use", "id")
        following = messages[index + 1] if index + 1 < len(messages) else None
        missing = [i for i in mine if i not in _leading_results(following)]
        if missing:
            raise bad_request(
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
                "corresponding `tool_result` block in the next message."
            )


def _check_results(message: Json, asked: list[str], at: str) -> None:
    seen: set[str] = set()
    for place, block in enumerate(message["content"]):
        if block["type"] != "tool_result":
            continue
        use_id = block["tool_use_id"]
        if use_id not in asked:
            raise bad_request(
                f"{at}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{use_id}. Each `tool_result` block must have a corresponding `tool_use` block "
                "in the previous message."
            )
        if use_id in seen:
            raise bad_request(
                f"{at}.content.{place}: each tool_use must have a single result. "
                f"Found multiple `tool_result` blocks with id: {use_id}"
            )
        seen.add(use_id)


def _leading_results(message: Json | None) -> list[str]:
    """Only results that come before any other block count; text before them is an orphan."""
    found: list[str] = []
    for block in message["content"] if message and message["role"] == "user" else []:
        if block["type"] != "tool_result":
            break
        found.append(block["tool_use_id"])
    return found


def _ids(message: Json, kind: str, key: str) -> list[str]:
    return [str(block[key]) for block in message["content"] if block["type"] == kind]
