"""Checks of single values with the API's `path: reason` wording."""

from collections.abc import Iterable
from typing import Any

from simulators.claude.errors import bad_request

Json = dict[str, Any]


def require(body: Json, key: str, at: str = "") -> Any:
    """Return `body[key]`, or raise the 400 for a missing field."""
    if key not in body:
        raise bad_request(f"{_path(at, key)}: Field required")
    return body[key]


def only(body: Json, allowed: Iterable[str], at: str = "") -> None:
    """Raise the 400 for a field that the API does not know."""
    for key in body:
        if key not in set(allowed):
            raise bad_request(f"{_path(at, key)}: Extra inputs are not permitted")


def as_dict(value: Any, at: str) -> Json:
    """Return `value` as an object, or raise the 400."""
    if not isinstance(value, dict):
        raise bad_request(f"{at}: Input should be a valid dictionary")
    return value


def as_list(value: Any, at: str) -> list[Any]:
    """Return `value` as a list, or raise the 400."""
    if not isinstance(value, list):
        raise bad_request(f"{at}: Input should be a valid list")
    return value


def as_str(value: Any, at: str) -> str:
    """Return `value` as a string, or raise the 400."""
    if not isinstance(value, str):
        raise bad_request(f"{at}: Input should be a valid string")
    return value


def as_int(value: Any, at: str) -> int:
    """Return `value` as an integer (a boolean is none), or raise the 400."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise bad_request(f"{at}: Input should be a valid integer")
    return value


def one_of(value: Any, allowed: Iterable[str], at: str) -> str:
    """Return `value` if it is one of `allowed`, or raise the 400 that lists them."""
    names = list(allowed)
    if value not in names:
        shown = ", ".join(f"'{name}'" for name in names)
        raise bad_request(f"{at}: Input should be one of {shown}; got {value!r}")
    return str(value)


def _path(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key
