"""When a typed message is as good as a click: the words as a table, and each rule around them."""

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import SettingsError
from domain.inbound import InboundKind
from domain.texts import LANGUAGES
from domain.typed_yes import (
    YES_WORDS,
    YesFacts,
    YesRefusal,
    is_near_yes,
    is_near_yes_of,
    is_yes,
    why_no_yes,
)

NOON = datetime(2026, 12, 1, 15, tzinfo=UTC)
GOOD = YesFacts(
    language="pt-BR",
    kind=InboundKind.TEXT,
    text="sim",
    quoted=False,
    forwarded=False,
    sent_at=NOON + timedelta(seconds=1),
    policy="button_or_yes",
    delivered=True,
    delivered_at=NOON,
    sent_between=False,
    received_between=False,
)

YES = {
    "pt-BR": [
        "sim", "Sim.", "SIM!!", "ok", "OK", "Ok!", "confirmo", "Confirmar.", "pode", "Pode!.!",
        "  sim  ", "sim\n", "\u00a0sim", "Sím", "SI\u0301M", "pôde", "òk",
    ],
    "en": ["yes", "Yes.", "YES!!", "ok", "OK", "confirm", "Confirm!", "  yes  ", "yes\n", "yés"],
    "es": ["sí", "si", "SÍ", "Sí.", "si!!", "SI\u0301", "ok", "confirmo", "Confirmar.", " sí "],
}  # fmt: skip

NEAR = {
    "pt-BR": [
        "siiim", "pode mandar", "sim?", "ok?", "s-i-m", "sim mas muda pra 200",
        "sim, pode cancelar", "sim\nmas muda pra 200", "ok!?", "sim 👍", "👍", "👍🏽", "✅", "ok…",
        "sim！", "“sim”", "(sim)", "*sim*", "~sim~", "s\u0336i\u0336m\u0336", "si\u200bm",
        "\u200bsim", "ｓｉｍ", "sim ,", "sim !", "s", "ss", "isso", "blz", "okay", "confirmado",
        "podes", "sim sim", "simm", "confirmo o Pix",
    ],
    "en": [
        "yes?", "yes, but make it 200", "yess", "yes yes", "yep", "yeah", "okay", "ok 👍", "👍",
        "I confirm", "do it", "go", "y",
        "sure", "go ahead", "confirmed", "y\u0336e\u0336s\u0336", "*yes*", "“yes”", "ｙｅｓ",
    ],
    "es": [
        "sí?", "¿sí?", "¡Sí!", "sí, pero que sean 200", "siii", "sip", "dale", "claro", "okey",
        "👍", "confirmado", "de acuerdo", "*sí*", "sí sí", "puede ser", "adelante",
    ],
}  # fmt: skip

ORDINARY = {
    "pt-BR": [
        "", "   ", "!!!", "não", "nao", "cancela", "muda pra 200", "simples assim?", "🙂",
        "qual o saldo?", "assim não", "amanhã pode ser", "oi",
    ],
    "en": ["", "!!!", "no", "cancel", "make it 200", "🙂", "my balance?", "hi", "I want it"],
    "es": ["", "¡¡!!", "no", "cancela", "que sean 200", "🙂", "¿y mi saldo?", "hola", "de Ana"],
}  # fmt: skip


def each(texts: dict[str, list[str]]) -> list[tuple[str, str]]:
    """The texts with their language."""
    return [(language, text) for language, some in texts.items() for text in some]


def test_every_language_has_its_words() -> None:
    """Those that an account may have, and no other; without words nothing is a yes by silence."""
    assert set(YES_WORDS) == set(YES) == set(NEAR) == set(ORDINARY) == set(LANGUAGES)
    for judge in (is_yes, is_near_yes):
        with pytest.raises(SettingsError, match="'tlh'"):
            judge("yes", language="tlh")


@pytest.mark.parametrize(("language", "text"), each(YES))
def test_exactly_a_yes_word_is_a_yes(language: str, text: str) -> None:
    """Case, accents, outer spaces and final `.` and `!` do not count; it is nearly one as well."""
    assert is_yes(text, language=language)
    assert is_near_yes(text, language=language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("word", sorted(set().union(*YES_WORDS.values())))
def test_another_language_s_yes_confirms_nothing_but_is_reminded(word: str, language: str) -> None:
    """Only the words of the account's language decide; who used another one's is told how."""
    assert is_yes(word, language=language) is (word in YES_WORDS[language])
    assert is_near_yes(word, language=language)


def test_the_words_that_decide() -> None:
    """The agreed lists, whole: a word more is a decision more."""
    assert {
        "pt-BR": {"sim", "confirmo", "confirmar", "pode", "ok"},
        "en": {"yes", "confirm", "ok"},
        "es": {"si", "confirmo", "confirmar", "ok"},
    } == YES_WORDS


@pytest.mark.parametrize(("language", "text"), each(NEAR))
def test_what_only_begins_like_a_yes_confirms_nothing_but_is_reminded(
    language: str, text: str
) -> None:
    """Any further letter or sign disqualifies; who wrote it may think that he confirmed."""
    assert not is_yes(text, language=language)
    assert is_near_yes(text, language=language)


@pytest.mark.parametrize(("language", "text"), each(ORDINARY))
def test_other_messages_are_neither(language: str, text: str) -> None:
    """No reminder for what has nothing of a yes."""
    assert not is_yes(text, language=language)
    assert not is_near_yes(text, language=language)


@given(
    st.sampled_from(
        [(language, word) for language in LANGUAGES for word in sorted(YES_WORDS[language])]
    ),
    st.characters(),
    st.integers(0, 9),
)
def test_a_yes_with_one_more_character_is_none_unless_it_is_space_or_a_final_mark(
    yes: tuple[str, str], sign: str, place: int
) -> None:
    """Wherever the character stands, and whatever it is but the five accents."""
    language, word = yes
    place = min(place, len(word))
    text = word[:place] + sign + word[place:]
    outer = sign.isspace() and place in {0, len(word)}
    final = sign in ".!" and place == len(word)
    accent = set(unicodedata.normalize("NFD", sign)) <= set("\u0300\u0301\u0302\u0303\u0308")
    assert is_yes(text, language=language) is (outer or final or accent)


@given(st.text(), st.sampled_from(LANGUAGES))
def test_any_text_can_be_judged(text: str, language: str) -> None:
    """No text crashes the rules, and every yes is nearly one too."""
    assert is_near_yes(text, language=language) or not is_yes(text, language=language)


def test_a_voice_message_may_have_been_meant_as_a_yes() -> None:
    """It never is one, but it is reminded; a picture is not."""
    assert is_near_yes_of(InboundKind.AUDIO, None, language=LANGUAGES[0])
    assert not is_near_yes_of(InboundKind.IMAGE, None, language=LANGUAGES[0])


def test_a_yes_with_everything_right_counts() -> None:
    """The case from which each of the others differs in one thing."""
    assert why_no_yes(GOOD) is None


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"kind": InboundKind.AUDIO}, YesRefusal.NOT_TEXT),
        ({"kind": InboundKind.LIST_REPLY}, YesRefusal.NOT_TEXT),
        ({"kind": InboundKind.IMAGE}, YesRefusal.NOT_TEXT),
        ({"kind": InboundKind.EDITED}, YesRefusal.NOT_TEXT),
        ({"text": None}, YesRefusal.NOT_EXACT),
        ({"text": "sim?"}, YesRefusal.NOT_EXACT),
        ({"language": "en"}, YesRefusal.NOT_EXACT),
        ({"language": "es"}, YesRefusal.NOT_EXACT),
        ({"quoted": True}, YesRefusal.QUOTED),
        ({"forwarded": True}, YesRefusal.FORWARDED),
        ({"policy": "button"}, YesRefusal.BUTTON_ONLY),
        ({"policy": "direct"}, YesRefusal.BUTTON_ONLY),
        ({"policy": "something new"}, YesRefusal.BUTTON_ONLY),
        ({"delivered": False}, YesRefusal.NOT_DELIVERED),
        ({"delivered_at": None}, YesRefusal.NOT_DELIVERED),
        ({"sent_at": None}, YesRefusal.NOT_AFTER_THE_PROMPT),
        ({"sent_at": NOON}, YesRefusal.NOT_AFTER_THE_PROMPT),
        ({"sent_at": NOON - timedelta(seconds=1)}, YesRefusal.NOT_AFTER_THE_PROMPT),
        ({"sent_between": True}, YesRefusal.SENT_BETWEEN),
        ({"received_between": True}, YesRefusal.RECEIVED_BETWEEN),
    ],
)
def test_each_rule_alone_refuses(change: dict[str, Any], refusal: YesRefusal) -> None:
    """One thing wrong is enough, and the word names it."""
    assert why_no_yes(replace(GOOD, **change)) is refusal
