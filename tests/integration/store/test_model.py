"""Thousands of sequences of §3's steps on real PostgreSQL, compared with a pure model after each:
what people say and press, what workers do, what time does.

Its sisters: `test_model_operators.py`, `test_model_overlap.py`, and `test_model_bites.py`, which
takes guards out. `MODEL_FACTOR=20` looks twenty times longer. Where the variable CI is set, the
same sequences are drawn each time; elsewhere new ones.
"""

from collections.abc import Iterator

import pytest

from tests.harness.databases import Databases
from tests.integration.store.beginnings import PEOPLE, WORKERS, take_seats
from tests.integration.store.bench import Bench, Report, explore, running_bench
from tests.integration.store.machine import PeopleMachine, WorkersMachine

PEOPLE_SEQUENCES, WORKERS_SEQUENCES = 500, 600


@pytest.fixture(scope="module")
def seats(databases: Databases) -> Iterator[Bench]:
    """A database and all beginnings in it."""
    with running_bench(databases, Bench) as bench:
        take_seats(bench, {**PEOPLE, **WORKERS})
        yield bench


def test_whatever_people_say_and_press_agrees_with_the_model(seats: Bench, report: Report) -> None:
    """Clicks and typed yeses of anybody, at any time, beside turns that think on what moved:
    product and model agree, and nothing is decided but by a click or a yes that leaves one
    reading."""
    bench = seats.fresh()
    explore(lambda: PeopleMachine(bench), bench, sequences=PEOPLE_SEQUENCES)
    report(f"model, people: {bench.said()}")
    bench.must_have(steps={"cancel", "reply", "identity", "leave"}, reached={"a typed yes"})


def test_whatever_workers_do_agrees_with_the_model(seats: Bench, report: Report) -> None:
    """Attempts, zombies, lies of time and late arrivals in whatever order: product and model agree,
    and at the far side no promise is broken."""
    bench = seats.fresh()
    explore(lambda: WorkersMachine(bench), bench, sequences=WORKERS_SEQUENCES)
    report(f"model, workers: {bench.said()}")
    bench.must_have(
        steps={"outcome", "half an outcome", "sight", "close"},
        reached={
            "an effect",
            "a send",
            "a send after one that was not sent",
            "a zombie stopped",
        },
    )
