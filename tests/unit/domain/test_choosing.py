"""For which account: exact answers are read, everything else is no answer."""

import pytest

from domain.choosing import picked, plain

NAMES = ["Estúdio Ipanema", "Loja Norte", "Loja 3"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1", 0),
        (" 2 ", 1),
        ("3.", 2),
        ("03", 2),
        ("loja norte", 1),
        ("  LOJA   NORTE!", 1),
        ("estudio ipanema", 0),
        ("Loja 3", 2),
        ("0", None),
        ("4", None),
        ("-1", None),
        ("1 ou 2", None),
        ("a 1", None),
        ("1?", None),
        ("²", None),
        ("٢", None),
        ("loja", None),
        ("9" * 5000, None),
        ("", None),
        ("\n", None),
    ],
)
def test_what_an_answer_means(text: str, place: int | None) -> None:
    """A number that stood there, or a name, but for case, accents, spaces and a final sign."""
    assert picked(text, NAMES) == place


def test_equal_names_are_told_apart_by_number_alone() -> None:
    """A name that two accounts bear is no answer."""
    assert picked("loja", ["Loja", "LOJA"]) is None
    assert picked("2", ["Loja", "LOJA"]) == 1


def test_plain_keeps_other_letters() -> None:
    """What is compared is the words, not a likeness of them."""
    assert plain("Ação  nº 1.") == "acao nº 1"
    assert plain("trocar de conta") == plain("Trocar de conta!")
