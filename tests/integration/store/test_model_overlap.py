"""The same with two connections that commit: two workers, two operators, two conversations that
want the same, a press in the midst of a step."""

from collections.abc import Iterator

import pytest

from tests.harness.databases import Databases
from tests.integration.store.bench import Report, explore, running_bench
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
    explore(lambda: OverlapMachine(two), two, sequences=SEQUENCES)
    report(f"model, two at once: {two.overlaps} overlaps, {two.waited} waited; {two.said()}")
    two.must_have(
        steps={"decide beside decide", "resend beside resend", "decide beside cancel"},
        reached={"a send", "a resend ordered", "settled as failed", "settled as executed"},
    )
    assert two.overlaps > two.waited > 0
