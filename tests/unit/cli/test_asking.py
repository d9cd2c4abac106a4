"""What is written by an operator's word is asked for on a terminal, and never taken from a pipe."""

import io

import pytest

from cli import asking
from domain.errors import OperatorError

WORD = "9b1c2d" + "0" * 26


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_beginning_of_the_id_lets_it_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The question says what will be done and what is to be typed."""
    monkeypatch.setattr("sys.stdin", _Terminal("9b1c2d\n"))
    asking.confirm("Settle as FAILED", word=WORD, yes=False)
    assert capsys.readouterr().out == "Settle as FAILED\nType '9b1c2d' to go on: "


@pytest.mark.parametrize("typed", ["", "\n", "y\n", "yes\n", "9b1c2\n", "9b1c2d0\n"])
def test_anything_else_stops_it(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """A habit's "y", half an id, an end of input."""
    monkeypatch.setattr("sys.stdin", _Terminal(typed))
    with pytest.raises(OperatorError, match="nothing was done"):
        asking.confirm("Settle", word=WORD, yes=False)


def test_a_pipe_is_refused_even_with_the_right_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """`echo 9b1c2d | aval reconcile ...` is a script, and a script says --yes."""
    monkeypatch.setattr("sys.stdin", io.StringIO("9b1c2d\n"))
    with pytest.raises(OperatorError, match="--yes"):
        asking.confirm("Settle", word=WORD, yes=False)


def test_yes_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script's input is its own."""
    monkeypatch.setattr("sys.stdin", None)
    asking.confirm("Settle", word=WORD, yes=True)
