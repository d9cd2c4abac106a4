"""The Central Bank's own description of the API Pix as a judge of what both sides say.

A small reader of OpenAPI schemas (no package for it is installed). Its faults are put right in
memory: patterns between slashes, and patterns without anchors, which would let a 40-character txid
pass. A keyword that the reader does not know raises, so that nothing is silently left unchecked.
"""

import functools
import re
from collections.abc import Iterator
from typing import Any

import yaml

from tests.corpus import corpus_folder

Schema = dict[str, Any]

_SAYS_NOTHING = frozenset({"title", "description", "example", "examples", "readOnly", "default"})
_CHECKED = frozenset(
    {
        "$ref",
        "type",
        "required",
        "properties",
        "items",
        "enum",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "format",
        "allOf",
        "anyOf",
        "oneOf",
    }
)
_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


@functools.cache
def spec() -> dict[str, Any]:
    """The description; skips the test, or fails it in CI, without the corpus."""
    path = corpus_folder("pix") / "openapi.yaml"
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def faults(schema_name: str, value: Any) -> list[str]:
    """What is wrong with `value` as the named schema has it; empty if nothing."""
    return list(_faults({"$ref": f"#/components/schemas/{schema_name}"}, value, "$"))


def operation(method: str, path: str) -> dict[str, Any]:
    """An operation of the description. Raises KeyError if there is none."""
    found: dict[str, Any] = spec()["paths"][path][method.lower()]
    return found


def _resolved(ref: str) -> Schema:
    found: Any = spec()
    for part in ref.removeprefix("#/").split("/"):
        found = found[part]
    assert isinstance(found, dict)
    return found


def _faults(schema: Schema, value: Any, at: str) -> Iterator[str]:
    unknown = set(schema) - _CHECKED - _SAYS_NOTHING
    assert not unknown, f"{at}: the reader does not know {unknown!r}"
    if "$ref" in schema:
        yield from _faults(_resolved(schema["$ref"]), value, at)
        return
    kind = schema.get("type")
    if kind is not None and not _is_of(kind, value):
        yield f"{at}: {value!r} is no {kind}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is not among {schema['enum']!r}"
    yield from _faults_of_value(schema, value, at)
    for part in schema.get("allOf", []):
        yield from _faults(part, value, at)
    for word, least, most in (("anyOf", 1, None), ("oneOf", 1, 1)):
        if word in schema:
            fitting = sum(not list(_faults(part, value, at)) for part in schema[word])
            if fitting < least or (most is not None and fitting > most):
                yield f"{at}: {fitting} of {word} fit"


def _faults_of_value(schema: Schema, value: Any, at: str) -> Iterator[str]:
    if isinstance(value, str):
        yield from _faults_of_text(schema, value, at)
    elif isinstance(value, dict):
        yield from (
            f"{at}: no {name!r}" for name in schema.get("required", []) if name not in value
        )
        for name, part in schema.get("properties", {}).items():
            if name in value:
                yield from _faults(part, value[name], f"{at}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(schema.get("items", {}), item, f"{at}[{index}]")
    elif isinstance(value, int | float):
        least, most = schema.get("minimum", value), schema.get("maximum", value)
        yield from [] if least <= value <= most else [f"{at}: {value!r} is out of range"]


def _faults_of_text(schema: Schema, value: str, at: str) -> Iterator[str]:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        yield f"{at}: {value!r} has {len(value)} characters"
    if "pattern" in schema and not re.fullmatch(patched(schema["pattern"]), value):
        yield f"{at}: {value!r} is not {schema['pattern']!r}"
    if schema.get("format") == "date-time" and not _DATE_TIME.fullmatch(value):
        yield f"{at}: {value!r} is no date-time"


def patched(pattern: str) -> str:
    """A pattern of the description as it is meant: without the slashes around it."""
    return pattern[1:-1] if pattern.startswith("/") and pattern.endswith("/") else pattern


def _is_of(kind: str, value: Any) -> bool:
    if isinstance(value, bool) and kind != "boolean":
        return False
    return isinstance(value, _TYPES[kind])
