"""A pydantic input model as the strict JSON schema that the model's decoder is bound by.

The trap (facts/claude.md §2.1, §2.3): a strict schema knows no limits such as `minimum`, every
object must be closed, and a union spends a small budget of the request. So limits move into the
description (pydantic still enforces them), references are written out, and an optional field is
left out of `required` instead of being a union with null.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

MAX_STRICT_TOOLS = 20
MAX_OPTIONAL = 24
"""Per request, over all strict tools (facts/claude.md §2.1)."""

MAX_UNIONS = 16

Schema = dict[str, Any]

_KEPT = frozenset({"type", "enum", "const", "description", "pattern", "format"})
_DROPPED = frozenset({"title", "default", "examples", "additionalProperties", "required"})
_FORMATS = frozenset({"date", "date-time", "time", "email", "uuid"})
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


class SchemaError(ValueError):
    """The input model holds something that a strict schema cannot say; the message says what."""


class ToolSchema(BaseModel):
    """What the model is told of one tool."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str
    input_schema: Schema
    optional: int
    unions: int


def fits_strict(schemas: Sequence[ToolSchema]) -> bool:
    """Whether one request may offer all of these as strict tools."""
    return (
        len(schemas) <= MAX_STRICT_TOOLS
        and sum(schema.optional for schema in schemas) <= MAX_OPTIONAL
        and sum(schema.unions for schema in schemas) <= MAX_UNIONS
    )


def tool_schema(name: str, description: str, model: type[BaseModel]) -> ToolSchema:
    """Return the strict schema of a tool's input model.

    Raises SchemaError for open or recursive models, floats, more than 24 optional fields, and
    anything that has no strict form.
    """
    raw = model.model_json_schema()
    writer = _Writer(raw.get("$defs", {}))
    written = writer.write(raw, at=model.__name__, inside=())
    written.pop("description", None)  # the model's docstring is for programmers
    if writer.optional > MAX_OPTIONAL:
        raise SchemaError(f"{writer.optional} optional fields, at most {MAX_OPTIONAL} are possible")
    return ToolSchema(
        name=name,
        description=description,
        input_schema=written,
        optional=writer.optional,
        unions=writer.unions,
    )


class _Writer:
    def __init__(self, definitions: Schema) -> None:
        self.definitions = definitions
        self.optional = 0
        self.unions = 0

    def write(self, node: Schema, *, at: str, inside: tuple[str, ...]) -> Schema:
        if "$ref" in node:
            return self._reference(node, at=at, inside=inside)
        if "anyOf" in node or "oneOf" in node:
            return self._union(node, at=at, inside=inside)
        if node.get("type") == "number":
            raise SchemaError(f"{at}: a float; amounts are integer cents or a string like '150.00'")
        if node.get("type") is None and "enum" not in node and "const" not in node:
            raise SchemaError(f"{at}: a field without a type")
        written = self._plain(node, at=at)
        if node.get("type") == "object":
            self._object(node, written, at=at, inside=inside)
        if node.get("type") == "array":
            if not isinstance(node.get("items"), dict):
                raise SchemaError(f"{at}: a list whose items have no type")
            written["items"] = self.write(node["items"], at=f"{at}[]", inside=inside)
        return written

    def _plain(self, node: Schema, *, at: str) -> Schema:
        written = {key: node[key] for key in _KEPT if key in node}
        limits = [text.format(node[key]) for key, text in _LIMITS.items() if key in node]
        known = _KEPT | _DROPPED | _LIMITS.keys() | {"properties", "items", "$defs"}
        if unknown := node.keys() - known:
            raise SchemaError(f"{at}: {sorted(unknown)!r} has no strict form")
        if written.get("format") not in _FORMATS:
            written.pop("format", None)
        if limits:
            said = written.get("description", "")
            written["description"] = f"{said} ({', '.join(limits)})".strip()
        return written

    def _object(self, node: Schema, written: Schema, *, at: str, inside: tuple[str, ...]) -> None:
        if node.get("additionalProperties") is not False:
            raise SchemaError(f"{at}: an open model; set model_config = ConfigDict(extra='forbid')")
        required = node.get("required", [])
        properties = node.get("properties", {})
        ordered = [*required, *(name for name in properties if name not in required)]
        self.optional += len(ordered) - len(required)
        written["properties"] = {
            name: self.write(properties[name], at=f"{at}.{name}", inside=inside) for name in ordered
        }
        written["required"] = list(required)
        written["additionalProperties"] = False

    def _reference(self, node: Schema, *, at: str, inside: tuple[str, ...]) -> Schema:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        if name in inside:
            raise SchemaError(f"{at}: a model that contains itself")
        own = {key: value for key, value in node.items() if key != "$ref"}
        return self.write({**self.definitions[name], **own}, at=at, inside=(*inside, name))

    def _union(self, node: Schema, *, at: str, inside: tuple[str, ...]) -> Schema:
        branches: list[Schema] = node["anyOf"] if "anyOf" in node else node["oneOf"]
        real = [branch for branch in branches if branch.get("type") != "null"]
        if len(real) == 1 and "default" in node:
            own = {key: value for key, value in node.items() if key not in {"anyOf", "oneOf"}}
            return self.write({**real[0], **own}, at=at, inside=inside)
        self.unions += 1
        written: Schema = {"anyOf": [self._branch(b, at=at, inside=inside) for b in branches]}
        if "description" in node:
            written["description"] = node["description"]
        return written

    def _branch(self, branch: Schema, *, at: str, inside: tuple[str, ...]) -> Schema:
        if branch.get("type") == "null":
            return {"type": "null"}
        return self.write(branch, at=at, inside=inside)
