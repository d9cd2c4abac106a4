"""Checks bodies the way Pagar.me does: 422 with the errors by field, 400 for what is no JSON."""

import json
from dataclasses import dataclass, field

from simulators.payments.dialects.pagarme.errors import MESSAGES, refuse
from simulators.payments.state import Doc


@dataclass
class Fields:
    """Reads values and collects what is wrong with them."""

    errors: dict[str, list[str]] = field(default_factory=dict)

    def wrong(self, name: str, message: str) -> None:
        """Record an error."""
        self.errors.setdefault(name, []).append(message)

    def cents(self, doc: Doc, name: str, label: str) -> int:
        """Return a positive integer; bools and floats are errors."""
        value = doc.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.wrong(label, f"The field {name} must be an integer greater than 0.")
            return 0
        return value

    def text(self, doc: Doc, name: str, label: str, *, limit: int) -> str:
        """Return a text of 1 to `limit` characters."""
        value = doc.get(name)
        if not isinstance(value, str) or not 1 <= len(value) <= limit:
            self.wrong(label, f"The field {name} must have 1 to {limit} characters.")
            return ""
        return value

    def first(self, doc: Doc, name: str, label: str) -> Doc:
        """Return the first object of a list."""
        value = doc.get(name)
        if not isinstance(value, list) or not value or not isinstance(value[0], dict):
            self.wrong(label, f"The field {name} must have at least one item.")
            return {}
        return value[0]

    def inner(self, doc: Doc, name: str) -> Doc:
        """Return an object, empty if it is none."""
        value = doc.get(name)
        return value if isinstance(value, dict) else {}

    def raise_if_wrong(self) -> None:
        """Raise the 422 if anything was wrong."""
        if self.errors:
            raise refuse(422, MESSAGES[422], self.errors)


def parse(body: bytes) -> Doc:
    """Return the JSON object. Raises RefusedError 400."""
    try:
        doc = json.loads(body)
    except ValueError:
        raise refuse(400, MESSAGES[400], {"request": ["The body is not JSON."]}) from None
    if not isinstance(doc, dict):
        raise refuse(400, MESSAGES[400], {"request": ["The body is not an object."]})
    return doc
