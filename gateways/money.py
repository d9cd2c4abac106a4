"""Amounts as providers write them, exact: integer cents inside, their form at the edge.

The trap: a float of reais loses cents (`round(1.15 * 100)` is 114), and `150` means reais to one
provider and cents to the next. Source of the forms: facts, payments §1 and §7.
"""

import re
from decimal import Decimal

from pydantic import JsonValue

_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,9})\.([0-9]{2})")


def decimal_text(amount_cents: int) -> str:
    """Return cents as `150.00` (API Pix; as a literal also Asaas). Raises ValueError if negative
    or of more than ten digits of reais."""
    if not 0 <= amount_cents < 10**12:
        raise ValueError(f"{amount_cents!r} cents have no decimal form")
    return f"{amount_cents // 100}.{amount_cents % 100:02d}"


def cents_of_text(value: JsonValue) -> int | None:
    """Return the cents of a text `150.00`, None for anything else."""
    found = _DECIMAL.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) * 100 + int(found[2]) if found else None


def cents_of_number(value: JsonValue) -> int | None:
    """Return the cents of a JSON number in reais (`150`, `150.5`, `150.00`), None for anything
    else, such as a part of a cent.

    A float is read by its shortest decimal, which is what the provider wrote up to 15 digits.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    exact = Decimal(repr(value))
    if not exact.is_finite() or not 0 <= exact < 10**10:
        return None
    cents = exact * 100
    return int(cents) if cents == cents.to_integral_value() else None
