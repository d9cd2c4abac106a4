"""Rules of tool schemas: what `strict` forbids, its budgets, and examples that must fit.

Source: the structured-outputs and define-tools pages (20 strict tools, 24 optional and 16
union-typed parameters a request; no numeric or length bounds; no recursion).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simulators.claude.errors import bad_request
from simulators.claude.fields import Json

_FORBIDDEN = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
)
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


@dataclass(frozen=True, kw_only=True)
class StrictCost:
    """What one strict schema takes from the request's budget, in parameters."""

    optional: int
    unions: int


def check_strict_schema(schema: Json, at: str) -> StrictCost:
    """Check one strict schema and return its cost; raise the 400 that names the offence."""
    optional = unions = 0
    for node in _nodes(schema, schema, at, ()):
        if node.get("type") == "object" or "properties" in node:
            if node.get("additionalProperties") is not False:
                raise bad_request(
                    f"{at}: For 'object' type, 'additionalProperties' must be explicitly "
                    "set to false"
                )
            properties = node.get("properties") or {}
            optional += len([key for key in properties if key not in node.get("required", [])])
        for word in _FORBIDDEN:
            if word in node:
                raise bad_request(
                    f"{at}: For '{node.get('type')}' type, property '{word}' is not supported"
                )
        unions += int("anyOf" in node or isinstance(node.get("type"), list))
    return StrictCost(optional=optional, unions=unions)


def example_problem(value: Any, schema: Json, root: Json) -> str | None:
    """Return why `value` does not fit `schema`, None if it does (types, required, enum, extras)."""
    schema = _resolve(schema, root)
    if "anyOf" in schema:
        tries = [example_problem(value, part, root) for part in schema["anyOf"]]
        return None if None in tries else "matches no variant of anyOf"
    if "enum" in schema and value not in schema["enum"]:
        return f"{value!r} is not one of {schema['enum']!r}"
    wanted = schema.get("type")
    names = wanted if isinstance(wanted, list) else [wanted] if wanted else []
    if names and not any(_fits(value, str(name)) for name in names):
        return f"{value!r} is not of type {wanted!r}"
    if isinstance(value, dict):
        return _object_problem(value, schema, root)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        problems = [example_problem(item, schema["items"], root) for item in value]
        return next((p for p in problems if p), None)
    return None


def _object_problem(value: Json, schema: Json, root: Json) -> str | None:
    properties: Json = schema.get("properties") or {}
    for key in schema.get("required", []):
        if key not in value:
            return f"{key!r} is a required property"
    for key, item in value.items():
        if key in properties:
            problem = example_problem(item, properties[key], root)
            if problem:
                return f"{key}: {problem}"
        elif schema.get("additionalProperties") is False:
            return f"additional property {key!r}"
    return None


def _fits(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES.get(name, (object,)))


def _resolve(node: Json, root: Json) -> Json:
    reference = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return node
    target: Any = root
    for part in reference[2:].split("/"):
        target = target.get(part, {}) if isinstance(target, dict) else {}
    return target if isinstance(target, dict) else {}


def _nodes(node: Any, root: Json, at: str, trail: tuple[str, ...]) -> Iterator[Json]:
    """Yield every sub-schema; a `$ref` back into its own trail is recursion and refused."""
    if not isinstance(node, dict):
        return
    reference = node.get("$ref")
    if isinstance(reference, str):
        if reference in trail:
            raise bad_request(f"{at}: Recursive schemas are not supported ({reference!r})")
        yield from _nodes(_resolve(node, root), root, at, (*trail, reference))
        return
    yield node
    for child in (node.get("properties") or {}).values():
        yield from _nodes(child, root, at, trail)
    yield from _nodes(node.get("items"), root, at, trail)
    for word in ("anyOf", "allOf"):
        for child in node.get(word) or []:
            yield from _nodes(child, root, at, trail)
