"""The prompt is the same for everybody of an account, and a broken file is said at once."""

import re
from pathlib import Path

import pytest

from domain.errors import OperatorError
from llm.prompt import load_prompt, system_blocks


def test_the_shipped_prompt_holds_nothing_of_one_person_or_day() -> None:
    """A date or a second placeholder would void the cache for everybody."""
    prompt = load_prompt(None)
    assert not re.search(r"\b(19|20)\d\d\b", prompt)
    assert set(re.findall(r"\{(\w+)\}", prompt)) == {"business_name"}


@pytest.mark.parametrize(
    "word",
    [
        *("already_done", "already_in_progress", "being_verified", "is_error"),
        *("amount_cents", '"150.00"'),
        *("ISO 8601", "Uma ação por vez", "dados", "Confirmar e Cancelar", "mensagem_da_pessoa"),
        *("pending", "executing", "executed", "failed", "cancelled", "expired", "superseded"),
    ],
)
def test_the_shipped_prompt_explains_what_the_model_meets(word: str) -> None:
    """Every state and every word of a result that the system uses is explained."""
    assert word in load_prompt(None)


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
    assert load_prompt(file) == load_prompt(str(file)) == 'Oi de {business_name}: {"status": 1}'


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
        load_prompt(file)
    assert str(file) in str(caught.value)
