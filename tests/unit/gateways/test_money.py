"""Amounts cross the edge exactly, or not at all."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.money import cents_of_number, cents_of_text, decimal_text


@given(st.integers(min_value=0, max_value=10**12 - 1))
def test_every_amount_survives_both_forms(cents: int) -> None:
    """Cents to text to cents, and to a JSON literal and back, lose nothing."""
    text = decimal_text(cents)
    assert cents_of_text(text) == cents
    assert cents_of_number(json.loads(text)) == cents


@pytest.mark.parametrize(
    "value",
    ["150", "150.0", "150.001", "0150.00", "1,50", "-1.00", "1e2", "", "١.00", 150, None, True],
)
def test_a_text_of_another_form_is_no_amount(value: Any) -> None:
    """`150` as a text could mean reais or cents: it is neither."""
    assert cents_of_text(value) is None


@pytest.mark.parametrize(
    ("value", "cents"),
    [(150, 15_000), (150.5, 15_050), (1.15, 115), (0.29, 29), (0, 0)],
)
def test_a_number_of_reais_becomes_cents(value: float, cents: int) -> None:
    """1.15 is 115 cents, although `1.15 * 100` is not."""
    assert cents_of_number(value) == cents


@pytest.mark.parametrize("value", [1.005, -1, float("nan"), float("inf"), 10**10, True, "1", None])
def test_a_part_of_a_cent_or_no_number_is_no_amount(value: Any) -> None:
    """Nothing is rounded."""
    assert cents_of_number(value) is None


@pytest.mark.parametrize("cents", [-1, 10**12])
def test_what_has_no_decimal_form_is_an_error(cents: int) -> None:
    """Negative, or of more than ten digits of reais."""
    with pytest.raises(ValueError, match="no decimal form"):
        decimal_text(cents)
