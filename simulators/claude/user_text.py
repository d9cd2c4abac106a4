"""The last thing the person wrote, for the filters of faults and journal."""

from typing import Any


def last_user_text(body: Any) -> str:
    """Return the text of the last user message that has any, read from an unchecked body.

    Tool results are passed over, so that all calls of one tool loop have the same text.
    """
    messages = body.get("messages") if isinstance(body, dict) else None
    for message in reversed(messages if isinstance(messages, list) else []):
        if not isinstance(message, dict) or message.get("role") != "user":
            continue
        content = message.get("content")
        if isinstance(content, str):
            return content
        texts = [
            str(block.get("text", ""))
            for block in content or []
            if isinstance(block, dict) and block.get("type") == "text"
        ]
        if texts:
            return "\n".join(texts)
    return ""
