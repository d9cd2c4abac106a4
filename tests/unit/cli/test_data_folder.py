"""The data folder: secrets that outlive a stop and are nobody else's, one stack at a time."""

import stat
from dataclasses import asdict
from pathlib import Path

import pytest

from cli.stack import data_folder
from cli.stack.errors import StackError


def test_secrets_are_made_once_and_for_their_owner_alone(tmp_path: Path) -> None:
    """A second start signs and opens with the same secrets; nobody else may read them."""
    first = data_folder.read_secrets(tmp_path)
    assert data_folder.read_secrets(tmp_path) == first
    mode = (tmp_path / "secrets.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert len(set(asdict(first).values())) == len(asdict(first))


def test_secrets_never_show_in_a_repr(tmp_path: Path) -> None:
    """A log line or a failed assertion must not tell them."""
    found = data_folder.read_secrets(tmp_path)
    assert found.page_key not in repr(found)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"page_key": 1}'])
def test_a_damaged_file_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    """No start with half of the secrets."""
    (tmp_path / "secrets.json").write_text(text, encoding="utf-8")
    with pytest.raises(StackError, match=r"secrets\.json is damaged .* remove it"):
        data_folder.read_secrets(tmp_path)


def test_a_second_stack_on_the_folder_is_refused(tmp_path: Path) -> None:
    """Two stacks would fight over the same files; the first one's process is named."""
    with (
        data_folder.locked(tmp_path),
        pytest.raises(StackError, match=r"another Aval \(process \d+\)"),
        data_folder.locked(tmp_path),
    ):
        pass
    with data_folder.locked(tmp_path):
        pass


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    """AVAL_DATA may be mistyped."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StackError, match="is not a folder"):
        data_folder.make(tmp_path / "file")
