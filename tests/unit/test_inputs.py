"""docs/inputs.md, the table in the code, and the texts say the same about every kind of input."""

from pathlib import Path

import pytest

from domain.inbound import BESIDE_KINDS, MEDIA_KINDS, PERSON_KINDS, InboundKind
from domain.inputs import TREATMENTS, Treatment, words_of
from domain.texts import texts_for

PAGE = Path(__file__).parents[2] / "docs" / "inputs.md"
TEXTS = texts_for("pt-BR")
BY_TEMPLATE = {Treatment.CAPTION, Treatment.HEARD, Treatment.TEMPLATE}


def rows() -> dict[str, tuple[str, str]]:
    """Kind → treatment and answer, as the page says."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    return {kind.strip("`"): (treatment, answer) for kind, _, treatment, answer in cells}


def test_the_page_and_the_code_name_the_same_kinds() -> None:
    """Every kind, once, with the same treatment."""
    assert {kind: treatment for kind, (treatment, _) in rows().items()} == {
        kind.value: treatment.value for kind, treatment in TREATMENTS.items()
    }
    assert set(TREATMENTS) == set(InboundKind)


@pytest.mark.parametrize("kind", InboundKind)
def test_what_the_page_says_is_what_a_person_hears(kind: InboundKind) -> None:
    """A template's words stand on the page; who is not answered has a reason there."""
    _, answer = rows()[kind.value]
    text = TEXTS.unsupported_input(kind)
    if TREATMENTS[kind] in BY_TEMPLATE:
        assert text is not None
        assert answer.endswith(text)
    assert len(answer) > 10


def test_only_what_a_person_does_to_be_heard_is_answered() -> None:
    """Words and templates are for the kinds that reach a turn, and for no other; what is done
    beside them is silence; only media have captions."""
    heard = {kind for kind, one in TREATMENTS.items() if one in BY_TEMPLATE | {Treatment.WORDS}}
    assert heard | {InboundKind.BUTTON} == PERSON_KINDS
    assert {TREATMENTS[kind] for kind in BESIDE_KINDS} == {Treatment.SILENCE}
    captioned = {kind for kind, one in TREATMENTS.items() if one is Treatment.CAPTION}
    assert captioned < MEDIA_KINDS


@pytest.mark.parametrize("kind", InboundKind)
def test_words_are_read_only_where_the_table_says(kind: InboundKind) -> None:
    """An edited text, a reaction's emoji, a button's title are no words of a turn."""
    reads = TREATMENTS[kind] in {Treatment.WORDS, Treatment.CAPTION, Treatment.HEARD}
    assert words_of(kind, "muda pra 200") == ("muda pra 200" if reads else None)
    assert words_of(kind, None) is None
    assert words_of(kind, "  \n") is None
