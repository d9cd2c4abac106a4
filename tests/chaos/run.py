"""`python -m tests.chaos.run --runs N --seed S`: random schedules of faults against real processes.

Prints what was counted at the far sides. Exit code 1 if a promise did not hold, with the command
that repeats the batch in which it did not.
"""

import argparse
import asyncio
import logging
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import asyncpg

from domain.process import leave
from tests.chaos.driver import Driver
from tests.chaos.guards import Guard
from tests.chaos.judge import GATED, Verdict, judge
from tests.chaos.people import Run
from tests.chaos.schedule import batch as plan_batch
from tests.chaos.world import World, open_folder, open_world

AT_ONCE = 20
"""Runs of a batch: as many as two cores carry while workers start again and again."""

QUIET_WITHIN_S = 90.0
LEAP_EVERY_S, LEAP_S = 5.0, 61.0
"""A message in doubt waits a minute for its status: PostgreSQL's clock leaps over it."""
DOUBTS_FROM_S = 6.0
"""The leap comes only for a doubt that the true clock has not settled in this time."""
UNMOVED_S = 25.0
"""What is not quiet so long after the last fault gets leaps as well: bells ring further apart."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What one invocation does."""

    runs: int
    seed: int
    only: int | None = None
    guard: Guard | None = None


async def run_batch(world: World, options: Options, number: int) -> Verdict:
    """One batch from its first message to its verdict."""
    first = number * AT_ONCE
    count = min(AT_ONCE, options.runs - first) if options.only is None else AT_ONCE
    plan = plan_batch(options.seed, number, first_run=first, runs=count)
    runs = [Run(world, one) for one in plan.runs]
    for run in runs:
        await run.enter()
    driver = Driver(world, plan)
    driver.skip_reached()
    before = len(world.orders.reached())
    supervisor = asyncio.create_task(driver.supervise())
    clock = asyncio.create_task(_leap_over_doubts(world))
    begun = time.monotonic()
    try:
        blows = asyncio.create_task(driver.strike_all(begun))
        await asyncio.gather(*(run.play() for run in runs))
        await blows
        await driver.heal()
        played = time.monotonic()
        moving = await wait_quiet(world, [world.persons[p] for run in runs for p in run.persons])
    finally:
        supervisor.cancel()
        clock.cancel()
    verdict = await judge(world, runs, reached=world.orders.reached()[before:], quiet=moving)
    verdict.blows.update(driver.struck)
    for run in runs:
        if run.failed:
            _say(f"  run {run.plan.number} ({run.plan.wish}) ended early: {run.failed}")
    _say(f"  played {played - begun:.0f} s, quiet after {time.monotonic() - played:.0f} s more")
    return verdict


async def wait_quiet(world: World, user_ids: Sequence[str]) -> str:
    """Wait until no row of these persons waits for work; what still does, or an empty text."""
    begun = time.monotonic()
    leap_at = begun + UNMOVED_S
    while True:
        try:
            left = await _left(world, user_ids)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            left = type(error).__name__
        if not left or time.monotonic() > begun + QUIET_WITHIN_S:
            return left
        if time.monotonic() > leap_at:
            await world.leap(LEAP_S)
            leap_at += LEAP_EVERY_S
        await asyncio.sleep(0.3)


async def _leap_over_doubts(world: World) -> None:
    while True:
        await asyncio.sleep(LEAP_EVERY_S)
        with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            if await world.pool.fetchval(_DOUBTS, DOUBTS_FROM_S):
                await world.leap(LEAP_S)


_DOUBTS = """
    SELECT EXISTS (SELECT 1 FROM outbox WHERE done_at IS NULL AND state IN ('sending', 'unknown')
        AND fenced_at BETWEEN clock_timestamp() - interval '60 seconds'
            AND clock_timestamp() - $1 * interval '1 second')
"""


async def _left(world: World, user_ids: Sequence[str]) -> str:
    undelivered = (await world.whatsapp.info()).undelivered
    row = await world.pool.fetchrow(_LEFT, list(user_ids))
    assert row is not None
    counts = {"webhooks": undelivered, **dict(row)}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


_LEFT = """
    WITH mine AS (SELECT id FROM conversations WHERE user_id = ANY($1))
    SELECT
        (SELECT count(*) FROM inbox WHERE done_at IS NULL AND conversation_id IN
            (SELECT id FROM mine)) AS messages,
        (SELECT count(*) FROM turns WHERE closed_at IS NULL AND conversation_id IN
            (SELECT id FROM mine)) AS turns,
        (SELECT count(*) FROM outbox WHERE done_at IS NULL AND conversation_id IN
            (SELECT id FROM mine)) AS unsent,
        (SELECT count(*) FROM decisions d JOIN actions a ON a.id = d.action_id
            WHERE d.answered_at IS NULL AND a.conversation_id IN (SELECT id FROM mine)
              AND a.status <> 'executing') AS decisions,
        (SELECT count(*) FROM actions a WHERE a.conversation_id IN (SELECT id FROM mine)
            AND a.status = 'executing' AND (a.verifying_told_at IS NULL
                OR NOT EXISTS (SELECT 1 FROM sends s WHERE s.action_id = a.id
                    AND s.outcome IS DISTINCT FROM 'not_sent'))) AS actions
"""
"""An unknown of which the person was told is at rest: it is looked up again, later and later."""


async def run_world(options: Options) -> Verdict:
    """All batches in one world, reported as they end."""
    total, failing = Verdict(), []
    begun = time.monotonic()
    numbers = range(-(-options.runs // AT_ONCE)) if options.only is None else [options.only]
    with open_folder() as folder:
        async with open_world(folder, guard=options.guard) as world:
            for number in numbers:
                verdict = await run_batch(world, options, number)
                total.add(verdict)
                if verdict.violations:
                    failing.append(number)
                _say(
                    f"batch {number}: {verdict.runs} runs, {verdict.effects} effects, "
                    f"{sum(verdict.kills.values())} kills at points, "
                    f"{len(verdict.violations)} violations, {time.monotonic() - begun:.0f} s"
                )
    _report(total, options, seconds=time.monotonic() - begun)
    for number in failing:
        broken = f" --break {options.guard}" if options.guard else ""
        _say(f"repeat: python -m tests.chaos.run --seed {options.seed} --batch {number}{broken}")
    return total


def _report(total: Verdict, options: Options, *, seconds: float) -> None:
    found = {what: sum(one.what == what for one in total.violations) for what in GATED}
    recovery = total.recovery_s or [0.0]
    rows = [
        ("runs", f"{total.runs} (seed {options.seed}, {seconds:.0f} s)"),
        ("guard left out", str(options.guard or "none")),
        ("kills by point", _counts(total.kills)),
        ("stalls by point", _counts(total.stops)),
        ("blows", _counts(total.blows)),
        ("proposals", str(total.proposals)),
        ("actions ended as", _counts(total.ends)),
        ("valid confirmations", str(total.confirmations)),
        ("effects", str(total.effects)),
        *((what, str(count)) for what, count in found.items()),
        ("still verifying, listed and told", str(total.verifying)),
        ("confirmed, yet no word arrived", str(total.untold)),
        ("messages doubled", str(total.doubled)),
        (
            "seconds from kill to word",
            f"median {statistics.median(recovery):.1f}, max {max(recovery):.1f}",
        ),
    ]
    _say("")
    for name, value in rows:
        _say(f"{name:42} {value}")
    for one in total.violations:
        _say(f"VIOLATION {one.what}: action {one.action!r}: {one.detail}")


def _counts(counter: dict[str, int]) -> str:
    parts = (f"{name} {count}" for name, count in sorted(counter.items()))
    return f"{sum(counter.values())}: {', '.join(parts)}" if counter else "0"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def options_from(argv: Sequence[str] | None) -> Options:
    """The options of a command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.run", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=None, help="only this batch of the seed")
    parser.add_argument("--break", dest="guard", type=Guard, default=None, choices=list(Guard))
    # One provider is bundled; the option names it so that a script says what it measured.
    parser.add_argument("--gateway", default="pagarme", choices=["pagarme"])
    given = parser.parse_args(argv)
    return Options(runs=given.runs, seed=given.seed, only=given.batch, guard=given.guard)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 1 if a promise did not hold."""
    logging.getLogger("asyncpg").addHandler(logging.NullHandler())  # tells of restarts that we made
    return 1 if asyncio.run(run_world(options_from(argv))).violations else 0


if __name__ == "__main__":
    leave(main())
