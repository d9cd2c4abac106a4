"""The same with two connections that commit: two workers, two operators, two conversations that
want the same, a press in the midst of a step."""

from collections.abc import Iterator

import pytest

from tests.harness.databases import Databases
from tests.integration.store.bench import FACTOR, Report, explore, running_bench
from tests.integration.store.machine_overlap import OverlapMachine, TwoConnections

SEQUENCES = 250


@pytest.fixture(scope="module")
def two(databases: Databases) -> Iterator[TwoConnections]:
    """Two connections to a database of their own."""
    with running_bench(databases, TwoConnections) as bench:
        bench.open()
        yield bench


def test_two_at_once_agree_with_the_model(two: TwoConnections, report: Report) -> None:
    """Two steps on two connections, one begun in the midst of the other, come to what one after the
    other would, and what was stored before the lock is seen behind it."""
    machine = type("Machine", (OverlapMachine,), {"bench": two})
    explore(machine, two, sequences=SEQUENCES)
    report(f"model, two at once: {two.overlaps} overlaps, {two.waited} waited; {two.said()}")
    assert FACTOR < 1 or two.overlaps > two.waited > 0
