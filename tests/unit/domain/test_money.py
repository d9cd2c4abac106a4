"""Money is cents or `150.00`; a guess could make 15000 out of 150."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import ToolInputError
from domain.money import cents_of, format_brl, format_brl_english, parse_amount


def test_cents_and_text_are_one_amount() -> None:
    """15000 cents and `150.00` mean the same."""
    assert parse_amount(15000, None) == parse_amount(None, "150.00") == 15000


@pytest.mark.parametrize(
    "text",
    ["150,00", "1.500", "1.500,00", "1e3", "150.0", "150.000", " 150.00", "150.00\n", "-1.00",
     "R$ 150.00", "", "١٥٠.٠٠", "12345678901.00"],
)  # fmt: skip
def test_any_other_form_is_refused(text: str) -> None:
    """No locale, no guess: whatever is not digits, a point, two digits is an error."""
    with pytest.raises(ToolInputError, match="not in the form"):
        parse_amount(None, text)


def test_a_bare_number_is_told_its_right_form() -> None:
    """`150` could be reais or cents, so the model is told how to say which."""
    with pytest.raises(ToolInputError, match=r"'150\.00'.*amount_cents"):
        parse_amount(None, "150")


def test_exactly_one_way_of_saying_it() -> None:
    """Two amounts or none would leave it to us which to believe."""
    with pytest.raises(ToolInputError, match="not both"):
        parse_amount(100, "1.00")
    with pytest.raises(ToolInputError, match="how much"):
        parse_amount(None, None)
    with pytest.raises(ToolInputError, match="integer"):
        parse_amount(True, None)


@pytest.mark.parametrize(
    ("cents", "text"),
    [(123456, "R$ 1.234,56"), (15000, "R$ 150,00"), (5, "R$ 0,05"), (0, "R$ 0,00"),
     (100_000_000, "R$ 1.000.000,00"), (-100, "-R$ 1,00")],
)  # fmt: skip
def test_format(cents: int, text: str) -> None:
    """Brazilian form with an ordinary space; in English the marks change places, nothing else."""
    assert format_brl(cents) == text
    assert format_brl_english(cents) == text.translate(str.maketrans(".,", ",."))


@given(st.integers(min_value=0, max_value=10**12 - 1))
def test_what_is_printed_is_what_was_meant(cents: int) -> None:
    """No amount changes on its way from text to cents to print."""
    assert cents_of(f"{cents // 100}.{cents % 100:02d}") == cents
    for text in (format_brl(cents), format_brl_english(cents)):
        assert int(text.translate(str.maketrans("", "", "R$ .,"))) == cents
