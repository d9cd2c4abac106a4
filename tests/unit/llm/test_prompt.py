"""The prompt is the same for everybody of an account, and a broken file is said at once."""

import re
from pathlib import Path

import pytest

from domain.errors import OperatorError
from domain.texts import LANGUAGES, texts_for
from llm.prompt import load_prompt, system_blocks

# What the model reads of each language's own: the rule of one at a time, and the two buttons.
WORDS = {
    "pt-BR": ("Uma ação por vez", "dados", "Confirmar e Cancelar", "português"),
    "en": ("One action at a time", "data", "Confirm and Cancel", "English"),
    "es": ("Una acción a la vez", "datos", "Confirmar y Cancelar", "español"),
}


def test_every_language_ships_its_prompt() -> None:
    """An account without a file of its own gets its language's; there is no other to fall to."""
    assert set(WORDS) == set(LANGUAGES)
    assert len({load_prompt(None, language=language) for language in LANGUAGES}) == len(LANGUAGES)
    with pytest.raises(OperatorError, match="tlh"):
        load_prompt(None, language="tlh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shipped_prompts_are_of_one_build(language: str) -> None:
    """Section for section and rule for rule the same: none lacks what another has."""
    ours, other = (load_prompt(None, language=one).splitlines() for one in (language, "pt-BR"))
    assert list(map(_kind_of, ours)) == list(map(_kind_of, other))


def _kind_of(line: str) -> str:
    return line[:2] if line.startswith(("# ", "- ")) else "text" if line else "blank"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shipped_prompt_holds_nothing_of_one_person_or_day(language: str) -> None:
    """A date or a second placeholder would void the cache for everybody."""
    prompt = load_prompt(None, language=language)
    assert not re.search(r"\b(19|20)\d\d\b", prompt)
    assert set(re.findall(r"\{(\w+)\}", prompt)) == {"business_name"}


@pytest.mark.parametrize(
    "word",
    [
        *("already_done", "already_in_progress", "being_verified", "is_error"),
        *("amount_cents", '"150.00"'),
        *("ISO 8601", "`now`", "mensagem_da_pessoa", "trecho_citado", "encaminhada", "<facts>"),
        *("pending", "executing", "executed", "failed", "cancelled", "expired", "superseded"),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shipped_prompt_explains_what_the_model_meets(word: str, language: str) -> None:
    """Every state and every word of a result that the system uses is explained."""
    assert word in load_prompt(None, language=language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shipped_prompt_names_the_buttons_as_they_are(language: str) -> None:
    """The model sends people to buttons with exactly these titles, in its account's language."""
    prompt, texts = load_prompt(None, language=language), texts_for(language)
    assert all(word in prompt for word in WORDS[language])
    assert texts.confirm_title in prompt
    assert texts.cancel_title in prompt


def test_the_business_name_is_filled_in_and_the_block_is_cached_for_an_hour() -> None:
    """One system block with the long cache mark; a name with line breaks stays one line."""
    (block,) = system_blocks(
        "Aqui é {business_name}. {business_name}!", business_name="Bar\n do Zé"
    )
    assert block == {
        "type": "text",
        "text": "Aqui é Bar do Zé. Bar do Zé!",
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
    }
    with pytest.raises(ValueError, match="name"):
        system_blocks("x", business_name=" ")


def test_an_accounts_own_file_is_read(tmp_path: Path) -> None:
    """Braces of an example are no placeholder."""
    file = tmp_path / "prompt.md"
    file.write_text('Oi de {business_name}: {"status": 1}\n', encoding="utf-8")
    for path in (file, str(file)):
        for language in LANGUAGES:
            text = load_prompt(path, language=language)
            assert text == 'Oi de {business_name}: {"status": 1}'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read"),
        (b"\xff\xfe", "not UTF-8"),
        (b" \n", "blank"),
        ("Olá {customer_name}".encode(), "customer_name"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    """The operator reads which file and what to do, before the first message comes."""
    file = tmp_path / "prompt.md"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(OperatorError, match=says) as caught:
        load_prompt(file, language="en")
    assert str(file) in str(caught.value)
