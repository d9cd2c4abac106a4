"""What holds for every text in every language: it fits, has its form, and is of one language."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.whatsapp.limits import check_prompt, check_text
from domain.cleaning import MAX_VALUE_CHARS, clean_or_none
from domain.texts import LANGUAGES, Texts, texts_for
from tests.unit.domain.said import ACTION, For, Said, Values, everything
from tools.customers.update_email import MAX_EMAIL_CHARS
from tools.money_input import MOST_CENTS
from tools.payments.create_pix_charge import MAX_DESCRIPTION_CHARS

ROOT = Path(__file__).parents[3]
WIDE = "\U00010400"  # a letter that counts twice where UTF-16 is counted
MAX_DETAIL_CHARS = 1000  # the column's check
LONGEST = Values(
    name=WIDE * MAX_VALUE_CHARS,
    description=WIDE * MAX_DESCRIPTION_CHARS,
    email="a@" + "b" * (MAX_EMAIL_CHARS - 2),
    document="12ABC34501DE35",
    cents=MOST_CENTS,
    number=2**63 - 1,
    detail=WIDE * MAX_DETAIL_CHARS,
    summary=WIDE * 500,  # the first line of a user's own tool, as long as its prompt allows
)
NAMES = (
    st.text(st.characters(categories=("L", "N", "Zs")), min_size=1, max_size=MAX_VALUE_CHARS)
    .map(clean_or_none)
    .filter(bool)
)

SAME_IN_SPANISH = {
    "confirm_title", "cancel_title",  # Confirmar, Cancelar
    "customer_option",  # a name, CPF and "bloqueado"
    "money",  # reais with the same marks
}  # fmt: skip
SAME_IN_ENGLISH = {"customer_option"}  # a name and CPF
PORTUGUESE = re.compile(
    r"[ãõçâêôà]|\b(?:n[aã]o|voc[eê]|seu|sua|uma|esse|essa|foi|foram|já|mais|ainda|até|às|com|em|hoje"
    r"|amanh[aã]|a[cç][aã]o|cobran[cç]a|pessoa|ferramenta|situacao|resumo|quando|motivo|detalhe"
    r"|valor|valida_ate|feito|pedido expirou|e-mail|conta|horário|profissional|nº)\b",
    re.IGNORECASE,
)


def fits(texts: Texts, one: Said) -> None:
    """Refuse what WhatsApp would refuse of the whole message that the text goes out in."""
    if one.text is None:
        return
    buttons = [(f"pa:confirm:{ACTION}", texts.confirm_title), (f"pa:x:{ACTION}", "x")]
    match one.reader:
        case For.BUTTON:
            check_prompt("x", [("1", one.text)])
        case For.PROMPT:
            buttons[1] = (f"pa:cancel:{ACTION}", texts.cancel_title)
            check_prompt(one.text, buttons)
        case _:
            check_text(texts.with_reference(one.text, action_id=ACTION))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_at_its_longest_fits(language: str) -> None:
    """Longest names, description, addresses, amounts and numbers, with deadline, question and
    reference: within WhatsApp's limits, so that no bundled proposal is refused for its length."""
    texts = texts_for(language)
    said = everything(texts, LONGEST)
    for one in said:
        fits(texts, one)
    longest = max(
        (one for one in said if one.reader is For.PROMPT), key=lambda one: len(one.text or "")
    )
    assert len(longest.text or "") > 500, "the values were not filled in"


@given(
    language=st.sampled_from(LANGUAGES),
    name=NAMES,
    description=NAMES,
    cents=st.integers(1, MOST_CENTS),
)
@settings(max_examples=40)
def test_whatever_may_be_printed_fits(
    language: str, name: str, description: str, cents: int
) -> None:
    """Any clean name and description and any allowed amount."""
    texts = texts_for(language)
    for one in everything(texts, Values(name=name, description=description, cents=cents)):
        fits(texts, one)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_its_form(language: str) -> None:
    """No slot left open, nothing blank; a message is a sentence; a reason one line that follows a
    colon; a marker one line in one pair of brackets with the action's id."""
    for one in everything(texts_for(language), Values()):
        if one.text is None:
            continue
        assert one.text.strip() == one.text != "", one
        assert not re.search(r"\{(?:what|detail)\}", one.text), one
        if one.reader is For.PERSON:
            assert one.text.endswith((".", "?", ":", ")")), one
        if one.reader is For.MARKER:
            assert re.fullmatch(r"\[[^\[\]\n]+\]", one.text), one
            assert ACTION in one.text, one
        if one.name.endswith(("_gone", "_changed", "_past", "_taken", "_short", "_blocked")):
            assert re.fullmatch(r"[a-zñáéíóú].*[^.\n]", one.text), one


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != "pt-BR"])
def test_no_text_is_the_portuguese_one(language: str) -> None:
    """Text by text another one, but for the few words that the languages share; what is silence in
    one is silence in all."""
    ours, theirs = (everything(texts_for(one), Values()) for one in (language, "pt-BR"))
    same = set()
    for one, other in zip(ours, theirs, strict=True):
        assert (one.name, one.way, one.text is None) == (other.name, other.way, other.text is None)
        if one.text is not None and one.text == other.text:
            same.add(one.name)
    assert same == (SAME_IN_ENGLISH if language == "en" else SAME_IN_SPANISH)


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != "pt-BR"])
def test_no_word_is_left_in_portuguese(language: str) -> None:
    """Not inside a text either: keys of facts, weekdays, media, statuses."""
    for one in everything(texts_for(language), Values()):
        text = (one.text or "").replace("ana@exemplo.com", "")
        assert PORTUGUESE.search(text) is None, one
        assert language != "en" or text.isascii(), one


def test_spanish_says_tu() -> None:
    """One voice throughout: no text of the same conversation says `usted`."""
    formal = re.compile(r"\b(?:usted|sus?|responda|escriba|toque|confirme|pida|necesita)\b", re.I)
    for one in everything(texts_for("es"), Values()):
        assert formal.search(one.text or "") is None, one


def test_the_words_looked_for_are_found_in_portuguese() -> None:
    """The search above would see a text that is left: it finds most of the original."""
    said = everything(texts_for("pt-BR"), Values())
    found = [one for one in said if PORTUGUESE.search(one.text or "")]
    assert len(found) > len(said) / 2


def test_the_languages_are_those_of_the_database() -> None:
    """An account's language is one that the constraint allows and somebody wrote: no other, none
    missing."""
    sql = (ROOT / "store" / "migrations" / "0001_core.sql").read_text(encoding="utf-8")
    found = re.search(r"CHECK \(language IN \(([^)]*)\)\)", sql)
    assert found is not None
    assert [name.strip(" '") for name in found[1].split(",")] == list(LANGUAGES)
