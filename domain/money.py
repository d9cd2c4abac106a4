"""Money: integer cents inside, `R$ 1.234,56` to people, and nothing in between.

Always reais: a language changes the marks within a number, never the currency.

The trap (facts/payments.md §12): a locale-aware parser reads `150.00` as 15000 in pt-BR, and
`1.500` as 1500 or 1.5. So nothing is parsed by locale or guess, and the formatter is our own: the
library's has a no-break space and half-even rounding, and cents need no rounding.
"""

import re

from domain.errors import ToolInputError

_AMOUNT = re.compile(r"[0-9]{1,10}\.[0-9]{2}", re.ASCII)


def parse_amount(amount_cents: int | None, amount: str | None) -> int:
    """Return the amount in cents from exactly one of integer cents or a string like `150.00`.

    Raises ToolInputError for none, both, or any other form. The sign and the range are the tool's
    rule, not this one's.
    """
    if amount_cents is not None and amount is not None:
        raise ToolInputError("give amount_cents or amount, not both")
    if amount_cents is not None:
        if isinstance(amount_cents, bool) or not isinstance(amount_cents, int):
            raise ToolInputError(f"amount_cents: {amount_cents!r} is not an integer of cents")
        return amount_cents
    if amount is None:
        raise ToolInputError("say how much: amount_cents as an integer, or amount as '150.00'")
    return cents_of(amount)


def cents_of(amount: str) -> int:
    """Return the cents of a string like `150.00`. Raises ToolInputError for any other form."""
    if _AMOUNT.fullmatch(amount) is None:
        hint = f"{amount}.00" if re.fullmatch(r"[0-9]{1,10}", amount, re.ASCII) else "150.00"
        raise ToolInputError(
            f"amount: {amount!r} is not in the form {hint!r} (reais, a point, two digits of "
            "cents); or use amount_cents with an integer"
        )
    reais, cents = amount.split(".")
    return int(reais) * 100 + int(cents)


def format_brl(cents: int) -> str:
    """Return `R$ 1.234,56` for 123456 cents, with an ordinary space; negative: `-R$ 1,00`."""
    reais, rest = divmod(abs(cents), 100)
    sign = "-" if cents < 0 else ""
    return f"{sign}R$ {reais:,}".replace(",", ".") + f",{rest:02d}"


def format_brl_english(cents: int) -> str:
    """Return `R$ 1,234.56` for 123456 cents: the same reais, with the marks that English reads."""
    reais, rest = divmod(abs(cents), 100)
    sign = "-" if cents < 0 else ""
    return f"{sign}R$ {reais:,}.{rest:02d}"
