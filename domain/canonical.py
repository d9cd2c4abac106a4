"""One way to write a value as bytes, so that equal things have equal hashes.

The digest binds what was shown to what runs: tool, version, payload, summary, provider request,
person, account and expiry (design §4). It is computed when proposed and recomputed from the frozen
columns in *decide* and in *execute*. Floats are refused: money is integer cents.
"""

import hashlib
import json
from datetime import UTC, datetime
from typing import TypeAlias

JsonValue: TypeAlias = (
    "str | int | bool | list[JsonValue] | dict[str, JsonValue] | None"  # no floats, on purpose
)


class NotCanonicalError(TypeError):
    """A programmer's error: the value holds something that has no one way of being written."""

    def __init__(self, value: object) -> None:
        super().__init__(f"not a JSON value without floats: {value!r} ({type(value).__name__})")


def check_json(value: object) -> None:
    """Raise NotCanonicalError unless the value is JSON without floats and with text keys."""
    match value:
        case None | bool() | int() | str():
            return
        case list():
            for item in value:
                check_json(item)
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise NotCanonicalError(key)
                check_json(item)
        case _:
            raise NotCanonicalError(value)


def canonical(value: object) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces. Raises NotCanonicalError."""
    check_json(value)
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()


def sha256_hex(value: object) -> str:
    """The SHA-256 of the canonical form, as 64 hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def action_digest(
    *,
    tool: str,
    tool_version: int,
    payload: dict[str, JsonValue],
    summary: str,
    request: dict[str, JsonValue] | None,
    account_id: str,
    phone_number_id: str,
    user_id: str | None,
    wa_id: str | None,
    expires_at: datetime,
) -> str:
    """The digest of everything a decision is about, as 64 hex (design §4)."""
    return sha256_hex(
        {
            "tool": tool,
            "tool_version": tool_version,
            "payload": payload,
            "summary": summary,
            "request": request,
            "account_id": account_id,
            "phone_number_id": phone_number_id,
            "user_id": user_id,
            "wa_id": wa_id,
            "expires_at": expires_at.astimezone(UTC).isoformat(timespec="microseconds"),
        }
    )
