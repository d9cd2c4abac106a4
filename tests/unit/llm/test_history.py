"""What a conversation was survives its way through the database."""

import json

import pytest
from pydantic import ValidationError

from domain.history import Entry, EntryContent, EntryKind, UserLine
from tests.unit.llm.builders import AT, called, clicked, result, said, sent

CONTENTS: list[EntryContent] = [
    said("oi", quoted="antes", forwarded=True),
    called("toolu_1", "create_pix_charge", text="Vou gerar", amount=150.5, tags=[None, True]),
    result("toolu_1", {"status": "pending", "n": 1}, is_error=True),
    sent("Confirma?"),
    clicked("[Usuário clicou em Confirmar na ação 9b1c]"),
]


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: type(content).__name__)
def test_an_entry_reads_back_as_it_was_stored(content: EntryContent) -> None:
    """Through JSON and back, an entry is equal, floats of the model's input included."""
    entry = Entry.of(7, content)
    stored = json.loads(json.dumps(entry.stored_content()))
    assert Entry.model_validate({"position": 7, "kind": entry.kind.value, "content": stored}) == (
        entry
    )


def test_the_stored_kind_says_how_to_read_never_the_shape() -> None:
    """A sent text and a click have the same shape; only the kind tells who spoke."""
    for kind in (EntryKind.SENT_TEXT, EntryKind.ACTION_EVENT):
        stored = {"position": 0, "kind": kind, "content": {"text": "x"}}
        assert Entry.model_validate(stored).kind is kind
    with pytest.raises(ValueError, match="action_event"):
        Entry(position=0, kind=EntryKind.ACTION_EVENT, content=sent("x"))


def test_unreadable_content_is_refused() -> None:
    """A row whose content is not of its kind raises instead of being half read."""
    with pytest.raises(ValidationError):
        Entry.model_validate({"position": 0, "kind": "tool_results", "content": {"text": "x"}})
    with pytest.raises(ValueError, match="is not a valid EntryKind"):
        Entry.model_validate({"position": 0, "kind": "system", "content": {"text": "x"}})


def test_a_time_without_offset_is_refused() -> None:
    """A local time says its zone; a naive one would be read by guess."""
    assert UserLine(text="x", at=AT).at == AT
    with pytest.raises(ValidationError, match="offset"):
        UserLine(text="x", at="2026-11-30T14:02:00")
