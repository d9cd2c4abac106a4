"""The same for what is stuck: operators' words and look-ups, resends, a restore, zombies beside
them, on real PostgreSQL and compared with the model after each step."""

from collections.abc import Iterator

import pytest

from tests.harness.databases import Databases
from tests.integration.store.beginnings import STUCK, take_seats
from tests.integration.store.bench import Bench, Report, explore, running_bench
from tests.integration.store.machine import OperatorsMachine

SEQUENCES = 700


@pytest.fixture(scope="module")
def seats(databases: Databases) -> Iterator[Bench]:
    """A database and all beginnings in it."""
    with running_bench(databases, Bench) as bench:
        take_seats(bench, STUCK)
        yield bench


def test_whatever_operators_and_workers_do_agrees_with_the_model(
    seats: Bench, report: Report
) -> None:
    """Whatever is said of a stuck action, by whomever and when: product and model agree, a further
    send goes only by one word in its time, and nothing that may have been done is called failed
    but on the look-ups that the rules ask for."""
    bench = seats.fresh()
    explore(lambda: OperatorsMachine(bench), bench, sequences=SEQUENCES)
    report(f"model, workers and operators: {bench.said()}")
    bench.must_have(
        steps={"operator's look", "outcome"},
        reached={
            "settled as executed",
            "settled as failed",
            "a word refused",
            "a resend ordered",
            "a send by an operator's word",
            "an effect of a further send",
            "a restore",
        },
    )
