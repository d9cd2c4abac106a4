"""`aval live`: people who follow a script talk to the real model; everything else is simulated.

Never part of `make test`: it costs money. What a real model says is printed, not judged; judged is
what must hold whatever it says, and whether llm/models.py describes it rightly.
"""

import argparse
import asyncio
import time
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from cli.commands import tools
from cli.live import report
from cli.live.cache_probe import cache_minimum
from cli.live.persons import Event, persons
from cli.live.plan import Plan
from cli.live.probing import Probe, Verdict, strict_tools, system_role, thinking
from cli.live.report import SceneSum
from cli.live.spending import LimitReachedError, Spending, usd_of
from cli.live.watching import Did, ModelWatch
from cli.signals import StopRequested, stop_on_signals
from cli.stack import data_folder
from cli.stack.errors import PartError
from cli.stack.ports import Ports
from cli.stack.stack import EmbeddedStack
from llm.client import build_anthropic

if TYPE_CHECKING:
    from cli.main import Commands

COUNT_EVERY_S = 1.0  # while the people wait for an answer, so that a long turn is stopped, too
NO_KEY = (
    "live: ANTHROPIC_API_KEY is not set, so nothing was asked and nothing was spent; with it, this "
    "plays the demo and ten scenes of other kinds against the real model"
)


@dataclass
class Run:
    """One run, and what it has seen until now."""

    plan: Plan
    spending: Spending
    found: list[Verdict] = field(default_factory=list)
    sums: list[SceneSum] = field(default_factory=list)
    last: Event | None = None

    def count(self, did: Did, held: dict[str, bool]) -> Decimal:
        """Add what the model did to the scene that is being played; what it cost, in US dollars."""
        usd = usd_of(did.calls)
        self.sums[-1].add(did, usd, held)
        return usd

    @property
    def as_promised(self) -> bool:
        """Whether every invariant held, and no assumption was seen to be wrong."""
        return not any(one.broken for one in self.sums) and not any(
            one.holds is False for one in self.found
        )


def add(commands: "Commands") -> None:
    """Declare the command."""
    commands.add("live", run, "the demo and more against the real model; costs money, has a limit")


def run(_arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Ask and play. Returns 0 without a key, or if all was played, every invariant held and no
    assumption was seen to be wrong; 1 otherwise, also at the spending limit."""
    plan = Plan.from_environment(environment)
    if plan is None:
        print(NO_KEY)
        return 0
    this = Run(plan=plan, spending=Spending(plan.limit_usd))
    print(report.opening(plan), flush=True)
    try:
        with stop_on_signals():
            code = _run(this, environment)
    except LimitReachedError as error:
        print(f"\nlive: stopped: {error}; {_how_far(this)}")
        code = 1
    except StopRequested:
        print(f"\nlive: stopped by hand; {_how_far(this)}")
        code = 130
    except PartError:
        _print_sums(this)
        raise
    _print_sums(this)
    return code


def _run(this: Run, environment: dict[str, str]) -> int:
    asyncio.run(_ask(this))
    print(report.verdicts(this.plan.model, this.found), flush=True)
    if any(one.vital and one.holds is False for one in this.found):
        print("\nlive: no turn can work like this; correct the model's row in llm/models.py first")
        return 1
    kept = this.plan.environment(environment)
    with (
        data_folder.throw_away("aval-live-") as data,
        EmbeddedStack(data, kept, ports=Ports.free()) as stack,
    ):
        _play(this, stack, kept)
    return 0 if this.as_promised else 1


async def _ask(this: Run) -> None:
    """The assumptions, the one that the others rest on first."""
    async with build_anthropic(this.plan.key, base_url=this.plan.base_url) as client:
        probe = Probe(client, this.plan.model, this.spending)
        for look in (
            thinking(probe),
            system_role(probe),
            strict_tools(probe, tools.load({})),
            cache_minimum(probe),
        ):
            this.found.append(await look)


def _play(this: Run, stack: EmbeddedStack, environment: dict[str, str]) -> None:
    watch = ModelWatch(stack.wiring.dsn, this.spending)
    counted = time.monotonic()

    def meanwhile() -> None:
        nonlocal counted
        stack.check_alive()
        if time.monotonic() - counted > COUNT_EVERY_S:
            watch.check()
            counted = time.monotonic()

    with persons(stack.wiring, environment, stack.data) as people:
        try:
            for event in people.events(meanwhile):
                _tell(this, event, watch)
                this.spending.check()
        except LimitReachedError:
            if this.sums:  # what was stored since the last event is spent, too
                this.count(watch.take(), {})
            this.spending.check()
            raise


def _tell(this: Run, event: Event, watch: ModelWatch) -> None:
    """Print what happened, and add it to its scene."""
    if event.did == "begins":
        this.sums.append(SceneSum(event.scene))
        print(f"\n-- {len(this.sums)}. {event.scene}", flush=True)
        return
    did = watch.take()
    if event.did == "pressed":
        held = {**event.held, report.NO_CALL_BY_A_PRESS: not did.calls}
        event = event.model_copy(update={"held": held})
    this.last = event
    usd = this.count(did, event.held)
    print(report.happened(event, did, usd, this.spending), flush=True)


def _how_far(this: Run) -> str:
    if this.sums:
        return f"it came to scene {len(this.sums)}, {this.sums[-1].scene!r}"
    return f"it came to {len(this.found)} of the assumptions, and to no scene"


def _print_sums(this: Run) -> None:
    if this.sums:
        print(report.table(this.sums))
    print(
        report.last_line(found=this.found, sums=this.sums, last=this.last, spending=this.spending),
        flush=True,
    )
