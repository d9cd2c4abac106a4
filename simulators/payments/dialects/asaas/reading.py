"""Checks bodies the way Asaas does: 400 with the field in the description."""

import json
import re
from decimal import Decimal

from simulators.payments.dialects.asaas.errors import refuse
from simulators.payments.replies import RefusedError
from simulators.payments.state import Doc

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MAX_REFERENCE = 100


def parse(body: bytes) -> Doc:
    """Return the JSON object, its numbers exact. Raises RefusedError 400."""
    try:
        doc = json.loads(body, parse_float=Decimal)
    except ValueError:
        raise refuse(400, "invalid_json", "O corpo não é JSON.") from None
    if not isinstance(doc, dict):
        raise refuse(400, "invalid_json", "O corpo não é um objeto.")
    return doc


def reference(body: bytes, name: str) -> str | None:
    """Return what a body carries under `name` for the journal, None if it is no text."""
    try:
        doc = json.loads(body)
    except ValueError:
        return None
    value = doc.get(name) if isinstance(doc, dict) else None
    return value if isinstance(value, str) else None


def wrong(field: str) -> RefusedError:
    """Return the error for a field that cannot be taken."""
    return refuse(400, f"invalid_{field}", f"O campo {field} é inválido.")


def text(doc: Doc, name: str, *, limit: int = 500) -> str:
    """Return a text of 1 to `limit` characters. Raises RefusedError 400."""
    value = doc.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= limit:
        raise wrong(name)
    return value


def optional(doc: Doc, name: str, *, limit: int = 500) -> str | None:
    """Return a text, None if it was not given. Raises RefusedError 400."""
    return None if doc.get(name) is None else text(doc, name, limit=limit)


def cents(doc: Doc, name: str) -> int:
    """Return the cents of a positive number of reais; a text is refused. Raises RefusedError."""
    value = doc.get(name)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise wrong(name)
    exact = Decimal(value) * 100
    if exact <= 0 or exact != exact.to_integral_value():
        raise wrong(name)
    return int(exact)
