"""Where a history is cut, by example."""

import pytest

from llm.trim import tokens_of, trim
from tests.unit.llm.builders import called, clicked, history, replied, result, said


def test_no_cut_falls_between_a_call_and_its_result() -> None:
    """Even where a person's message was stored between them."""
    entries = history(said("a" * 900), called("t1"), said("b"), result("t1", 1), said("c"))
    assert trim(entries, budget_tokens=2 * sum(map(tokens_of, entries[2:]))) == entries[4:]


def test_half_of_the_budget_goes_at_once_and_then_the_cut_stands_still() -> None:
    """Ten equal turns, room for four: two stay, two come, and only then it is cut again."""
    entries = history(*(said(f"{number:03}") for number in range(10)))
    budget = 4 * tokens_of(entries[0])
    kept = [len(trim(entries[:count], budget_tokens=budget)) for count in range(1, 11)]
    assert kept == [1, 2, 3, 4, 2, 3, 4, 2, 3, 4]


def test_a_turn_larger_than_the_budget_is_kept_whole() -> None:
    """Half a turn would be a history that the API refuses."""
    entries = history(said("a"), said("b"), called("t1"), result("t1", "x" * 900), clicked("c"))
    assert trim(entries, budget_tokens=50) == entries[1:]
    assert trim([], budget_tokens=50) == []


def test_a_history_that_fits_is_left_alone() -> None:
    """Below the budget nothing is dropped, a leading text of ours included."""
    entries = history(replied("oi"), said("a"))
    assert trim(entries) == entries
    with pytest.raises(ValueError, match="0"):
        trim(entries, budget_tokens=0)
