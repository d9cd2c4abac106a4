"""Checks bodies the way Efí does: 400 `valor_invalido`, naming the field."""

import json
import re

from simulators.payments.dialects.pix_bcb.errors import refuse
from simulators.payments.replies import RefusedError
from simulators.payments.state import Doc

TXID = re.compile(r"[a-zA-Z0-9]{26,35}")
SHORT_ID = re.compile(r"[a-zA-Z0-9]{1,35}")
_MONEY = re.compile(r"[0-9]{1,10}\.[0-9]{2}")


def parse(body: bytes) -> Doc:
    """Return the JSON object. Raises RefusedError 400."""
    try:
        doc = json.loads(body)
    except ValueError:
        raise refuse(400, "json_invalido", "O corpo não é JSON") from None
    if not isinstance(doc, dict):
        raise refuse(400, "json_invalido", "O corpo não é um objeto")
    return doc


def wrong(field: str) -> RefusedError:
    """Return the error for a field that cannot be taken."""
    return refuse(400, "valor_invalido", f"Campo {field} é inválido")


def inner(doc: Doc, name: str) -> Doc:
    """Return an object. Raises RefusedError 400 if it is none."""
    value = doc.get(name)
    if not isinstance(value, dict):
        raise wrong(name)
    return value


def text(doc: Doc, name: str, *, limit: int) -> str:
    """Return a text of 1 to `limit` characters. Raises RefusedError 400."""
    value = doc.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= limit:
        raise wrong(name)
    return value


def cents(doc: Doc, name: str) -> int:
    """Return the cents of a positive amount `150.00`; a number is refused. Raises RefusedError."""
    value = doc.get(name)
    if not isinstance(value, str) or not _MONEY.fullmatch(value) or not int(value.replace(".", "")):
        raise wrong(name)
    return int(value.replace(".", ""))


def check_id(pattern: re.Pattern[str], value: str, name: str) -> str:
    """Return an id from the path. Raises RefusedError 400."""
    if not pattern.fullmatch(value):
        raise wrong(name)
    return value
