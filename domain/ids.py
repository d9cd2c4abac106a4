"""Keys that survive a retry: derived from what does not change, never from what the model made.

One key through all layers: action id = workflow id = provider key, 32 lower-case hex, the one
format that fits every provider (design §5; facts/payments.md §6).
"""

import re
import uuid

NAMESPACE = uuid.UUID("6f0d9c0e-5f6b-4a57-9d0b-1d6a5a5e0a11")
KEY_PATTERN = re.compile(r"[0-9a-f]{32}")


def turn_id(first_inbox_id: uuid.UUID) -> uuid.UUID:
    """The turn that begins with this inbox item: a reset or a retry finds the same turn."""
    return uuid.uuid5(NAMESPACE, f"turn|{first_inbox_id}")


def action_id(turn: uuid.UUID) -> str:
    """The one action that a turn may propose, as 32 hex: a retried turn finds its own row."""
    return uuid.uuid5(NAMESPACE, f"action|{turn}").hex


def direct_action_id(turn: uuid.UUID, *, tool: str, payload_hash: str) -> str:
    """A direct tool's action: a turn may run several, each once per tool and payload."""
    return uuid.uuid5(NAMESPACE, f"direct|{turn}|{tool}|{payload_hash}").hex


def turn_workflow_id(conversation_id: uuid.UUID) -> str:
    """`turn:<conversation>`: turns of one conversation never overlap."""
    return f"turn:{conversation_id}"


def action_workflow_id(action: str) -> str:
    """`action:<action id>`: at most one live run works on an action."""
    return f"action:{action}"


def is_key(text: str) -> bool:
    """Whether the text is a well-formed action id."""
    return KEY_PATTERN.fullmatch(text) is not None
