"""What an operator's command needs is found without settings only beside `aval up`."""

import os
from pathlib import Path

import pytest

from cli import far_side
from cli.stack.data_folder import read_secrets


def test_beside_aval_up_its_own_parts_are_found(tmp_path: Path) -> None:
    """Without settings: the simulated provider's key, the dev server's address, the deployment."""
    made = far_side.completed({"AVAL_DATA": str(tmp_path), "AVAL_TEMPORAL_PORT": "17233"})
    assert made["AVAL_PAGARME_API_KEY"] == read_secrets(tmp_path).payments_key
    assert made["TEMPORAL_ADDRESS"] == "127.0.0.1:17233"
    assert made["AVAL_DEPLOYMENT"] == "local"


def test_a_named_database_is_somebody_elses_and_nothing_is_guessed(tmp_path: Path) -> None:
    """A real deployment names everything itself; a simulator's key must not reach its gateway."""
    given = {"AVAL_DATA": str(tmp_path), "AVAL_DATABASE_URL": "postgresql://db/aval"}
    assert far_side.completed(given) == given
    assert list(tmp_path.iterdir()) == []


def test_the_process_gets_its_own_environment_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was lent for one question is gone after it, also if the question failed."""
    monkeypatch.delenv("AVAL_LENT", raising=False)
    with pytest.raises(RuntimeError, match="x"):
        _fail_with("AVAL_LENT")
    assert "AVAL_LENT" not in os.environ


def _fail_with(name: str) -> None:
    with far_side.as_environment({name: "x"}):
        raise RuntimeError(os.environ[name])
