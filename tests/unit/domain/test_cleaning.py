"""A value inside a text is one plain line, or it is refused."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.cleaning import clean_value, neutral_line
from domain.errors import ToolInputError


@pytest.mark.parametrize(
    "text",
    ["João\nValor: R$ 1,00", "João\r", "a\tb", "a\u202eb", "a\u200bb", "a\u2066b", "a\u00adb",
     "a\u2028b", "a\x00b", "\ufeffa", "a\ue000", "a\u3164b", "a\u2800", "a\U000e0041"],
)  # fmt: skip
def test_hidden_characters_are_refused_and_named(text: str) -> None:
    """Line breaks, controls, bidi, zero-width, tags, fillers: refused with their code point."""
    with pytest.raises(ToolInputError, match=r"name: U\+[0-9A-F]{4}"):
        clean_value(text, field="name")


@pytest.mark.parametrize("text", ["*João*", "~R$ 150~", "_a_", "`a`", "a`b", "* a", "a *b", "x~"])
def test_markup_is_refused(text: str) -> None:
    """What WhatsApp would draw bold, struck out or as code is refused."""
    with pytest.raises(ToolInputError, match="formatting"):
        clean_value(text, field="name")


@pytest.mark.parametrize("text", ["joao_da_silva@exemplo.com.br", "5*3", "D'Ávila & Filhos (2)"])
def test_marks_inside_a_word_stay(text: str) -> None:
    """An e-mail address with `_` is exact, and WhatsApp formats nothing inside a word."""
    assert clean_value(text, field="email") == text


def test_spaces_and_composition_are_made_one() -> None:
    """Different bytes for the same reading become the same value."""
    decomposed = unicodedata.normalize("NFD", "João")
    assert clean_value(f"  {decomposed}\u00a0 Silva ", field="name") == "João Silva"


def test_nothing_is_cut() -> None:
    """Too long and empty values are refused, with the number of characters."""
    assert clean_value("a" * 120, field="name") == "a" * 120
    with pytest.raises(ToolInputError, match="121 characters, at most 120"):
        clean_value("a" * 121, field="name")
    with pytest.raises(ToolInputError, match="empty"):
        clean_value(" \u00a0 ", field="name")


@given(st.text(max_size=60))
def test_what_passes_is_one_harmless_line(text: str) -> None:
    """Nothing that passes adds a line or hides anything; cleaning twice changes nothing."""
    try:
        value = clean_value(text, field="x")
    except ToolInputError:
        return
    assert len(value.splitlines()) == 1
    assert all(unicodedata.category(char)[0] != "C" for char in value)
    assert clean_value(value, field="x") == value


@given(st.text(max_size=60))
def test_a_late_line_is_made_harmless(text: str) -> None:
    """What cannot be refused any more loses its marks and hidden characters."""
    line = neutral_line(text)
    assert len(line.splitlines()) <= 1
    assert not set(line) & set("*_~`")
    assert all(unicodedata.category(char)[0] != "C" for char in line)
