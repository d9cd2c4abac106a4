"""The two fields in which the model says an amount, the same in every tool that takes one.

The trap: pydantic would take `"150"` for the integer 150 and 150.0 for 150, so cents could be
reais. The integer is strict, and a text in its place is told the right form (design §4).
"""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from domain.errors import ToolInputError
from domain.money import parse_amount
from domain.texts import texts_for

LEAST_CENTS = 1
"""A cent is the smallest thing that moves."""

MOST_CENTS = 100_000_000
"""R$ 1.000.000,00: no small business's agent should move more by one click, and a slip of three
digits stops here."""


def _only_an_integer(value: Any) -> Any:
    if value is None or type(value) is int:
        return value
    raise ValueError(
        f"amount_cents: {value!r} is not an integer of cents; "
        "give e.g. 15000, or amount as the text '150.00'"
    )


Cents = Annotated[int, BeforeValidator(_only_an_integer)]


class AmountInput(BaseModel):
    """An amount as integer cents or as a text like `150.00`; exactly one of the two."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    amount_cents: Cents | None = Field(
        default=None, description="The amount in cents: 15000 is R$ 150,00. Give this or amount."
    )
    amount: str | None = Field(
        default=None,
        description="The amount in reais with a point and two digits, e.g. '150.00'. "
        "Give this or amount_cents.",
    )

    def cents(self, language: str) -> int:
        """Return the amount in cents. Raises ToolInputError for form and range."""
        cents = parse_amount(self.amount_cents, self.amount)
        if not LEAST_CENTS <= cents <= MOST_CENTS:
            limits = {"least_cents": LEAST_CENTS, "most_cents": MOST_CENTS}
            raise ToolInputError(texts_for(language).amount_out_of_range(**limits))
        return cents
