"""The same in two conversations of one business: an owner, and a customer who may little; what is
in our own books is done by button or typed yes."""

from tests.integration.lying.bench import Bench
from tests.integration.lying.drawing import explore
from tests.integration.lying.reporting import Report

SEQUENCES = 670


def test_nobody_decides_what_is_anothers(bench: Bench, report: Report) -> None:
    """With a prompt before each of two people: the same promises as in `test_before_a_click.py`,
    for bookings and addresses as well, and each decides his own only."""
    explore(bench, "booking shown", "both shown", wanted=SEQUENCES)
    report(f"lies to two people: {bench.said()}")
