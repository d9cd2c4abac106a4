"""A model that lies, from beginnings at which nothing was decided yet: its answers and the clicks
of anybody, in any order, on real PostgreSQL; what came of them is asked of the far sides alone.

Its sisters begin elsewhere: `test_two_people.py`, `test_after_a_click.py`; `test_bites.py` takes
guards out, and `tests/acceptance/test_lying_model.py` lies to the whole system. `LYING_FACTOR=20`
looks twenty times longer. Where the variable CI is set, the same sequences are drawn each time.
"""

from tests.integration.lying.bench import Bench
from tests.integration.lying.drawing import explore
from tests.integration.lying.reporting import Report

SEQUENCES = 670


def test_no_answer_of_the_model_acts_before_a_click(bench: Bench, report: Report) -> None:
    """Every effect has exactly one valid decision of the right person, on exactly the summary that
    he was sent, after it was sent and before its deadline; what ran is what was shown; a prompt is
    only shown for a call that counts and has exactly its template's form; nothing of another's is
    seen or changed."""
    explore(bench, "fresh", "proposed", "charge shown", wanted=SEQUENCES)
    report(f"lies before a click: {bench.said()}")
