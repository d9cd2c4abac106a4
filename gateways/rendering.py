"""What every adapter checks before it renders: what a provider would cut or refuse is refused here.

The person confirms what is printed, not what fits. Messages name the field and never its value
where that may be personal data.
"""

import json
import re
from collections.abc import Mapping
from urllib.parse import urlencode

from pydantic import JsonValue

from domain.outcomes import KEY_PATTERN
from gateways.contract import RenderError

MAX_AMOUNT_CENTS = 10**11
_REF = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CPF = re.compile(r"[0-9]{11}")
_CNPJ = re.compile(r"[0-9A-Z]{12}[0-9]{2}")


def check(key: str, amount_cents: int, *, least: int = 1) -> None:
    """Raise RenderError for a key of another format or an amount out of range."""
    if not KEY_PATTERN.fullmatch(key):
        raise RenderError(f"key {key!r} is not 32 lower-case hex characters")
    if not least <= amount_cents < MAX_AMOUNT_CENTS:
        raise RenderError(f"amount {amount_cents!r} cents is out of range")


def check_ref(ref: str, provider: str) -> str:
    """Return a provider's id that is safe inside a path. Raises RenderError."""
    if not _REF.fullmatch(ref):
        raise RenderError(f"{ref!r} is not an id of {provider}")
    return ref


def one_line(text: str, limit: int, what: str) -> str:
    """Return `text` if it is one printable line of 1 to `limit` characters. Raises RenderError."""
    if not text.strip() or len(text) > limit or not text.isprintable():
        # The text itself may be personal data and stays out of the message.
        raise RenderError(f"{what} must be one printable line of 1 to {limit} characters")
    return text


def is_person(document: str) -> bool:
    """Return True for a CPF, False for a CNPJ. Raises RenderError for anything else."""
    if _CPF.fullmatch(document):
        return True
    if _CNPJ.fullmatch(document):
        return False
    raise RenderError("the customer's document is neither 11 (CPF) nor 14 (CNPJ) characters")


def json_body(body: Mapping[str, JsonValue]) -> str:
    """Return canonical JSON: the same bytes for the same values."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def form_body(fields: Mapping[str, str]) -> str:
    """Return a form-encoded body, in the order given: the same bytes for the same values."""
    return urlencode(fields)
