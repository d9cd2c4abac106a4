"""`python -m tests.chaos.run --runs N --seed S`: random schedules of faults against real processes.

Prints what was counted at the far sides. Exit code 1 if a promise did not hold, with the command
that repeats the batch in which it did not.
"""

import argparse
import asyncio
import logging
import random
import sys
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import asyncpg

from domain.process import leave
from tests.chaos.bounds import TooLongError, watched, within
from tests.chaos.driver import Driver
from tests.chaos.guards import Guard
from tests.chaos.judge import judge, judge_operators
from tests.chaos.operators import Operators
from tests.chaos.people import Run
from tests.chaos.report import table
from tests.chaos.schedule import batch as plan_batch
from tests.chaos.stuck import open_resends
from tests.chaos.verdict import Verdict
from tests.chaos.world import GATEWAYS, ROWS_WITHIN_S, World, open_folder, open_world

AT_ONCE = 20
"""Runs of a batch: as many as two cores carry while workers start again and again."""

QUIET_WITHIN_S = 90.0
LEAP_EVERY_S, LEAP_S = 5.0, 61.0
"""A message in doubt waits a minute for its status: PostgreSQL's clock leaps over it."""
DOUBTS_FROM_S = 6.0
"""The leap comes only for a doubt that the true clock has not settled in this time."""
UNMOVED_S = 25.0
"""What is not quiet so long after the last fault gets leaps as well: bells ring further apart."""
PLAYED_WITHIN_S = 240.0
"""Two who refund wait for a prompt twice, and for a charge between; then operators have theirs."""
JUDGED_WITHIN_S = 60.0
BATCH_WITHIN_S = PLAYED_WITHIN_S + QUIET_WITHIN_S + JUDGED_WITHIN_S + 60.0
BESIDE_BATCHES_S = 240.0  # the start of all processes, and their end
_DATABASE_AWAY = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What one invocation does."""

    runs: int
    seed: int
    only: int | None = None
    guard: Guard | None = None
    gateway: str = GATEWAYS[0]


async def run_batch(world: World, options: Options, number: int) -> Verdict:
    """One batch from its first message to its verdict. Raises TooLongError if it hangs."""
    first = number * AT_ONCE
    count = min(AT_ONCE, options.runs - first) if options.only is None else AT_ONCE
    plan = plan_batch(options.seed, number, first_run=first, runs=count)
    runs = [Run(world, one) for one in plan.runs]
    for run in runs:
        await run.enter()
    keeps = {world.persons[name]: run.plan.keeps_key for run in runs for name in run.persons}
    dice = random.Random(f"operators:{options.seed}:{number}")
    operators = Operators(world=world, keeps_key=keeps, dice=dice)
    driver = Driver(world, plan, operators)
    driver.skip_reached()
    before = len(world.orders.reached())
    beside = [
        asyncio.create_task(driver.supervise()),
        asyncio.create_task(_leap_over_doubts(world)),
    ]
    begun = time.monotonic()
    try:
        await _unless_ended(_play(driver, runs, begun), beside)
        played = time.monotonic()
        moving = await _unless_ended(wait_quiet(world, list(keeps)), beside)
    finally:
        driver.leave()
        for task in beside:
            task.cancel()
    async with within(JUDGED_WITHIN_S, "the verdict"):
        verdict = await judge(world, runs, reached=world.orders.reached()[before:], quiet=moving)
    verdict.blows.update(driver.struck)
    judge_operators(verdict, operators.done)
    for run in runs:
        if run.failed:
            _say(f"  run {run.plan.number} ({run.plan.wish}) ended early: {run.failed}")
    _say(f"  played {played - begun:.0f} s, quiet after {time.monotonic() - played:.0f} s more")
    return verdict


async def _play(driver: Driver, runs: Sequence[Run], begun: float) -> None:
    """All that persons and operators do, and all that befalls them."""
    async with within(PLAYED_WITHIN_S, "playing a batch"):
        async with asyncio.TaskGroup() as together:  # whose end, by an error too, ends all
            for work in (driver.strike_all(begun), *(run.play() for run in runs)):
                together.create_task(work)
        await driver.heal()
        await driver.reconcile_rest()


async def _unless_ended(work: Coroutine[Any, Any, T], beside: Sequence[asyncio.Task[None]]) -> T:
    """The result of the work. What runs beside it runs for ever: if it ends, it failed, and nothing
    would start again what dies."""
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait([working, *beside], return_when=asyncio.FIRST_COMPLETED)
        for task in beside:
            if task.done():
                task.result()
        return await working
    finally:
        working.cancel()


async def wait_quiet(world: World, user_ids: Sequence[str]) -> str:
    """Wait until no row of these persons waits for work; what still does, or an empty text."""
    begun = time.monotonic()
    leap_at = begun + UNMOVED_S
    while True:
        try:
            left = await _left(world, user_ids)
        except (*_DATABASE_AWAY, TooLongError) as error:
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
        with suppress(*_DATABASE_AWAY, TooLongError):
            async with within(ROWS_WITHIN_S, "asking for doubts"):
                doubts = await world.pool.fetchval(_DOUBTS, DOUBTS_FROM_S)
            if doubts:
                await world.leap(LEAP_S)


_DOUBTS = """
    SELECT EXISTS (SELECT 1 FROM outbox WHERE done_at IS NULL AND state IN ('sending', 'unknown')
        AND fenced_at BETWEEN clock_timestamp() - interval '60 seconds'
            AND clock_timestamp() - $1 * interval '1 second')
"""


async def _left(world: World, user_ids: Sequence[str]) -> str:
    undelivered = (await world.whatsapp.info()).undelivered
    async with within(ROWS_WITHIN_S, "asking for what is left"):
        row = await world.pool.fetchrow(_LEFT, list(user_ids))
        resends = await open_resends(world.pool, list(user_ids))
    assert row is not None
    counts = {"webhooks": undelivered, "resends": resends, **dict(row)}
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
        async with open_world(folder, guard=options.guard, gateway=options.gateway) as world:
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
    head = {
        "runs": f"{total.runs} (seed {options.seed}, {time.monotonic() - begun:.0f} s)",
        "gateway": options.gateway,
        "guard left out": str(options.guard or "none"),
    }
    _say("\n".join(["", *table(total, head)]))
    for number in failing:
        broken = f" --break {options.guard}" if options.guard else ""
        _say(
            f"repeat: python -m tests.chaos.run --seed {options.seed} --batch {number}"
            f" --gateway {options.gateway}{broken}"
        )
    return total


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
    parser.add_argument("--gateway", default=GATEWAYS[0], choices=GATEWAYS)
    given = parser.parse_args(argv)
    return Options(
        runs=given.runs,
        seed=given.seed,
        only=given.batch,
        guard=given.guard,
        gateway=given.gateway,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 1 if a promise did not hold."""
    logging.getLogger("asyncpg").addHandler(logging.NullHandler())  # tells of restarts that we made
    options = options_from(argv)
    batches = -(-options.runs // AT_ONCE) if options.only is None else 1
    with watched(BESIDE_BATCHES_S + batches * BATCH_WITHIN_S):
        total = asyncio.run(run_world(options))
    return 1 if total.violations else 0


if __name__ == "__main__":
    leave(main())
