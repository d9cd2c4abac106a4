"""The same where something was decided, done, or sent and lost: what is over or under way comes
back in whatever the model says, and must not happen again."""

from tests.integration.lying.bench import Bench
from tests.integration.lying.drawing import explore
from tests.integration.lying.reporting import Report

SEQUENCES = 670


def test_no_answer_of_the_model_acts_twice(bench: Bench, report: Report) -> None:
    """With an action that is confirmed, executed or in doubt: the same promises as in
    `test_before_a_click.py`, and no effect has a second one."""
    explore(bench, "confirmed", "done", "lost", wanted=SEQUENCES)
    report(f"lies after a click: {bench.said()}")
