"""docs/languages.md against the texts, so that its table cannot drift."""

import re
from datetime import date
from pathlib import Path

import pytest

from domain.texts import LANGUAGES, texts_for
from domain.typed_yes import YES_WORDS

PAGE = (Path(__file__).parents[2] / "docs" / "languages.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| ")
]


def test_every_language_has_its_column() -> None:
    """In the order of the code; the first is the default."""
    assert ROWS[0] == ["", *(f"`{language}`" for language in LANGUAGES)]


@pytest.mark.parametrize(("at", "language"), list(enumerate(LANGUAGES, start=1)))
def test_the_table_is_what_is_said(at: int, language: str) -> None:
    """Buttons, words that confirm, an amount, a day: as the code has them."""
    texts = texts_for(language)
    buttons, words, amount, day = (row[at] for row in ROWS[1:])
    assert buttons == f"{texts.confirm_title}, {texts.cancel_title}"
    assert set(re.split(", ", words)) == YES_WORDS[language]
    assert amount == texts.money(123456)
    assert day == texts.day_phrase(date(2026, 12, 1), today=date(2026, 11, 1))
