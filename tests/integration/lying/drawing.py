"""How sequences are drawn: different ones each time, the same ones where the variable CI is set."""

import os
import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.integration.lying.beginnings import BEGINNINGS
from tests.integration.lying.bench import Bench
from tests.integration.lying.events import Event, Focus, pool
from tests.integration.lying.example import Example
from tests.integration.lying.records import BrokenPromiseError
from tests.integration.lying.reporting import Report

FACTOR = float(os.environ.get("LYING_FACTOR", "1"))
"""`LYING_FACTOR=20` looks twenty times longer."""

LEAST, MOST = 3, 6
"""Events of a sequence. Each is several: about seven messages, answers, presses and moves
of the clock a sequence."""

ROUND = 10
"""Later in a run hypothesis follows a fresh example by mutants of it, in its first ten it does not
(tests/integration/store/bench.py): so rounds, with a seed and a pool each."""

FIRST_SEED = 20261201
FREE = Focus()


def play(bench: Bench, seat: str, events: list[Event]) -> None:
    """One example, rolled back at its end."""
    at, acts = bench.sit(seat)
    example = Example(bench, acts)
    bench.sequences.add(hash((seat, *events)))
    try:
        for event in events:
            bench.visited[event.name] += 1
            bench.run(example.take(event))
    except Exception:
        bench.broken_at = bench.broken_at or bench.examples
        raise
    finally:
        bench.leave(at)


def _rounds(
    bench: Bench,
    seats: tuple[str, ...],
    until: Callable[[], bool],
    *,
    first: int,
    focus: Focus,
    shrink: bool,
) -> None:
    n = first
    while not until():
        events = st.lists(st.sampled_from(pool(n, focus)), min_size=LEAST, max_size=MOST)

        def test(seat: str, events: list[Event]) -> None:
            play(bench, seat, events)

        drawn: Any = given(seat=st.sampled_from(seats or tuple(BEGINNINGS)), events=events)(test)
        with_settings: Any = settings(
            max_examples=ROUND,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )(seed(n)(drawn))
        with_settings()
        n += 1


def explore(bench: Bench, *seats: str, wanted: int) -> None:
    """Draw so many different sequences from these beginnings. Fails if they do not differ."""
    first = FIRST_SEED if "CI" in os.environ else random.randrange(1 << 32)
    wanted = int(wanted * FACTOR)
    bench.fresh()

    def enough() -> bool:
        return len(bench.sequences) >= wanted or bench.examples >= 2 * wanted

    _rounds(bench, seats, enough, first=first, focus=FREE, shrink=True)
    assert len(bench.sequences) >= wanted, "more than every second sequence was drawn before"


HUNT = 300
"""So many sequences at most until a missing guard must have been noticed."""


def hunt(bench: Bench, report: Report, without: str, *seats: str, focus: Focus = FREE) -> str:
    """Draw until a promise is broken, and say how long it took; which one. Fails if none is."""
    bench.fresh()

    def enough() -> bool:
        return bench.examples >= HUNT

    try:
        _rounds(bench, seats, enough, first=FIRST_SEED, focus=focus, shrink=False)
    except BrokenPromiseError as found:
        report(f"without {without}: {found.name!r} after {bench.broken_at} sequences")
        return found.name
    raise AssertionError(f"without {without}: nothing was noticed in {bench.examples} sequences")
