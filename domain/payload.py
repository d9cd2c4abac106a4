"""Reading a frozen payload or result: the stored JSON has no types, so each reading states one.

A value of another type is a bug of the tool that froze it, not of a person: it raises, with the
key and the type found but never the value, which may be personal.
"""

from collections.abc import Mapping

from domain.canonical import JsonValue

Frozen = Mapping[str, JsonValue]


def text_at(values: Frozen, key: str) -> str:
    """Return the text under `key`. Raises TypeError if there is none."""
    value = values.get(key)
    if not isinstance(value, str):
        raise TypeError(f"{key!r} should be a text, found {type(value).__name__}")
    return value


def text_or_none_at(values: Frozen, key: str) -> str | None:
    """Return the text under `key`, or None if it is missing or null. Raises TypeError."""
    return None if values.get(key) is None else text_at(values, key)


def int_at(values: Frozen, key: str) -> int:
    """Return the integer (cents, ids, minutes) under `key`. Raises TypeError if there is none."""
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{key!r} should be an integer, found {type(value).__name__}")
    return value
