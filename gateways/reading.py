"""Reads a provider's JSON without trusting its shape: the helpers that all adapters share.

The trap: `true` is an integer in Python and `150.0` compares equal to `150`, so a field of the
wrong type would pass for an amount. Each helper gives the value only if it is of its kind.
"""

import json
import re

from pydantic import JsonValue

Json = dict[str, JsonValue]

_LONG_NUMBER = re.compile(r"\d{9,}")


def parse_object(body: bytes) -> Json | None:
    """Return the JSON object in `body`, or None if it is anything else."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def text_of(value: JsonValue) -> str | None:
    """Return `value` if it is a non-empty text."""
    return value if isinstance(value, str) and value else None


def cents_of(value: JsonValue) -> int | None:
    """Return `value` if it is an integer amount; a bool or a float is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def ref_of(value: JsonValue) -> str | None:
    """Return `value` as an id: a text, or a number as one."""
    number = cents_of(value)
    return text_of(value) if number is None else str(number)


def object_of(value: JsonValue) -> Json:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects_of(value: JsonValue) -> list[Json] | None:
    """Return `value` if it is a list of nothing but objects, else None."""
    if not isinstance(value, list):
        return None
    objects = [item for item in value if isinstance(item, dict)]
    return objects if len(objects) == len(value) else None


def clean(text: str) -> str:
    """Return `text` on one line, at most 300 characters, long numbers (documents) masked."""
    return _LONG_NUMBER.sub("***", " ".join(text.split()))[:300]
