"""The states of an action as data: the table is the one of design §3, and nothing falls through.

That the same table stands in SQL is compared in tests/integration/store/test_schema.py.
"""

from itertools import product

import pytest

from domain.actions import OPEN, TRANSITIONS, IllegalTransitionError, Status, check_transition

EDGES = {
    ("pending", "executing"),
    ("pending", "cancelled"),
    ("pending", "expired"),
    ("pending", "superseded"),
    ("pending", "failed"),
    ("executing", "executed"),
    ("executing", "failed"),
}
"""The two lines of design §3 on states, spelled out."""

PAIRS = list(product(Status, Status))


def test_the_table_is_the_one_of_the_design() -> None:
    """Not an edge more, not an edge less."""
    table = {(before.value, after.value) for before in TRANSITIONS for after in TRANSITIONS[before]}
    assert table == EDGES


def test_every_status_has_its_row() -> None:
    """A new status without a row would raise KeyError at the worst moment."""
    assert set(TRANSITIONS) == set(Status)


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_only_the_edges_of_the_table_pass(before: Status, after: Status) -> None:
    """Every other pair raises, staying where one is included: a change is a change."""
    if (before.value, after.value) in EDGES:
        check_transition("a" * 32, before, after)
        return
    with pytest.raises(IllegalTransitionError) as caught:
        check_transition("a" * 32, before, after)
    assert repr(before.value) in str(caught.value)
    assert repr(after.value) in str(caught.value)
    assert repr("a" * 32) in str(caught.value)


def test_open_is_what_can_still_change() -> None:
    """An action is open exactly while an edge leads out of its status."""
    assert {status for status in Status if TRANSITIONS[status]} == OPEN


def test_nothing_is_executed_that_was_not_executing() -> None:
    """The one way to `executed` leads through `executing`, and the one way there from `pending`."""
    assert {before for before in Status if Status.EXECUTED in TRANSITIONS[before]} == {
        Status.EXECUTING
    }
    assert {before for before in Status if Status.EXECUTING in TRANSITIONS[before]} == {
        Status.PENDING
    }


def test_no_action_comes_back() -> None:
    """Following the table never leads to a status that was left."""

    def reachable(status: Status, seen: frozenset[Status]) -> None:
        assert status not in seen
        for after in TRANSITIONS[status]:
            reachable(after, seen | {status})

    reachable(Status.PENDING, frozenset())
