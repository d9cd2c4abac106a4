"""What makes a live run end well, and what does not."""

from decimal import Decimal

import pytest

from cli.commands.live import Run
from cli.live.plan import Plan
from cli.live.probing import Verdict
from cli.live.report import SceneSum
from cli.live.spending import Spending
from cli.live.watching import Did

NOTHING = Did(calls=[], proposals=[])


def _run(*, held: bool, holds: bool | None) -> Run:
    plan = Plan(key="k", base_url="http://127.0.0.1:1", model="m", limit_usd=Decimal(1))
    scene = SceneSum("the demo")
    run = Run(plan=plan, spending=Spending(plan.limit_usd), sums=[scene])
    run.found.append(Verdict(assumption="a", holds=holds, seen=""))
    run.count(NOTHING, {"nothing twice": True})
    run.count(NOTHING, {"nothing twice": held})
    run.count(NOTHING, {"nothing twice": True})
    return run


@pytest.mark.parametrize("holds", [True, None])
def test_all_held_is_as_promised(holds: bool | None) -> None:
    """Also if something could not be found out: a busy provider is no fault of the table."""
    assert _run(held=True, holds=holds).as_promised


def test_one_broken_invariant_is_not() -> None:
    """Whatever held before and after it."""
    run = _run(held=False, holds=True)
    assert not run.as_promised
    assert run.sums[0].broken == ["nothing twice"]


def test_one_wrong_assumption_is_not() -> None:
    """The row has to be corrected."""
    assert not _run(held=True, holds=False).as_promised
