"""Two operators who reconcile at once while machines recover, by the code of `aval reconcile`.

They are honest: `executed` only after a look that found all as confirmed, `failed` and `resend`
only after looks that found nothing. And they are careless: they say too early, too late, twice, and
with numbers that were used up; what the store lets through counts at the far side.

Two things keep what they do honest towards a test whose clock leaps and whose provider misbehaves:

* The rules measure a minute by PostgreSQL's clock, which leaps; the provider's does not. So nobody
  acts on an "absent" before the provider is through with all requests of the action in true time.
* A resend beside a request that may still be on its way is safe by the provider's key alone (design
  §3). So it is ordered only in runs whose provider knows keys (schedule.py: KEEPS_KEY).
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import asyncpg

from activities.deps import Gateways
from activities.reconcile import Reconcile
from cli import database
from cli.commands import tools
from domain.actions import Verdict
from domain.errors import OperatorError
from domain.outcomes import LookupResult, Presence
from domain.settling import Wish
from gateways.registry import GatewayRegistry
from store.connection import Connection
from store.operators import NotAllowedError, Operator
from tests.chaos.bounds import TooLongError, within
from tests.chaos.processes import with_moved_clock
from tests.chaos.refusals import short
from tests.chaos.stuck import Stuck, open_resends, read_stuck
from tests.chaos.world import SECRETS, World

T = TypeVar("T")

NAMES = ("Ana", "Rui")
COMMAND_WITHIN_S = 40.0
TRUE_AGE_S = 8.0
"""Longer than any worker is stopped, and than a provider's look-ups lag: before that an absent says
nothing, whatever PostgreSQL's clock says."""
MOST_TRIES = 3  # careless ones of an operator at an action
PAUSE_S, LONGEST_PAUSE_S = 0.7, 4.0
SETTLE_WITHIN_S = 25.0
ROUNDS = 3
BEYOND_FLIGHT_S, APART_S, TOO_LATE_S = 76.0, 61.0, 1801.0
"""Leaps: over an attempt's life and the look-ups' lag; between two looks; over a click's use."""
USED_WITHIN_S = 8.0  # a resend is rung for after five seconds

_BROKEN = (OperatorError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)


@dataclass
class Done:
    """What operators did. `refused` by reason; `wrongly`: (action, what) that had to be refused."""

    did: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    wrongly: list[tuple[str, str]] = field(default_factory=list)


Step = Callable[[int, Stuck], Awaitable[object]]


@dataclass
class Operators:
    """A batch's two. `keeps_key`: by user id, whether the run's provider knows keys."""

    world: World
    keeps_key: Mapping[str, bool]
    dice: random.Random
    done: Done = field(default_factory=Done)
    _tries: Counter[tuple[int, str]] = field(default_factory=Counter)
    _first_seen: dict[tuple[str, int], float] = field(default_factory=dict)

    # ---------------------------------------------------------------- when

    async def work_until(self, healed: asyncio.Event) -> None:
        """Go over what is stuck, again and again, until nothing is broken any more; in some batches
        once as `settle_rest` does, while stalled workers have yet to wake."""
        pause, waits = PAUSE_S, self.dice.choice([None, 6, 7])
        passes = 0
        while not healed.is_set():
            stuck = await self._stuck()
            await self._all_at_once(stuck, self._try)
            if (passes := passes + 1) == waits:
                await self._settle_all(await self._ripe([one for one in stuck if one.doubtful]))
            try:
                await asyncio.wait_for(healed.wait(), pause)
            except TimeoutError:
                pause = min(pause * 1.5, LONGEST_PAUSE_S)

    async def settle_rest(self) -> None:
        """Settle some of what is left; then try what is too late."""
        until = time.monotonic() + SETTLE_WITHIN_S
        for _ in range(ROUNDS):
            left = await self._in_doubt()
            while left and not (ripe := await self._ripe(left)) and time.monotonic() < until:
                await asyncio.sleep(1)
                left = await self._in_doubt()
            if not left or time.monotonic() > until:
                break
            await self._settle_all(ripe)
        left = await self._in_doubt()
        if left and self.dice.random() < 0.4:
            await self.world.leap(TOO_LATE_S)
            await self._all_at_once(left, self._too_late)

    async def _settle_all(self, ripe: list[Stuck]) -> None:
        """Wait as the rules say, by leaps, and look; settle; try again what was used up."""
        if not ripe:
            return
        for leap_s in (BEYOND_FLIGHT_S, APART_S):
            with suppress(*_BROKEN, TooLongError):
                await self.world.leap(leap_s)
            await self._all_at_once(ripe, self._look)
        await self._all_at_once(ripe, self._settle)
        await self._resends_used()
        await self._all_at_once(ripe, self._old_number)

    async def _in_doubt(self) -> list[Stuck]:
        return [one for one in await self._stuck() if one.doubtful]

    async def _all_at_once(self, stuck: list[Stuck], step: Step) -> None:
        """Both operators at each, action by action."""
        for one in stuck:
            await asyncio.gather(*(step(n, one) for n in range(len(NAMES))))

    async def _stuck(self) -> list[Stuck]:
        try:
            async with within(20, "reading what is stuck"):
                found = await read_stuck(self.world.pool, list(self.keeps_key))
        except (*_BROKEN, TooLongError):
            return []
        for one in found:
            self._first_seen.setdefault((one.id, one.last), time.monotonic())
        return found

    async def _ripe(self, stuck: list[Stuck]) -> list[Stuck]:
        """Those of which the provider is through with every request, in true time."""
        now = time.monotonic()
        old = [one for one in stuck if now - self._first_seen[one.id, one.last] > TRUE_AGE_S]
        if not old:
            return []
        journal = await self.world.payments.journal()
        under_way = {one["key"] for one in journal if not one["done"]}
        return [one for one in old if one.id not in under_way]

    async def _resends_used(self) -> None:
        until = time.monotonic() + USED_WITHIN_S
        while time.monotonic() < until:
            with suppress(*_BROKEN, TooLongError):
                async with within(20, "reading resends"):
                    if not await open_resends(self.world.pool, list(self.keeps_key)):
                        return
            await asyncio.sleep(0.3)

    # ---------------------------------------------------------------- what

    async def _try(self, n: int, one: Stuck) -> None:
        if self._tries[n, one.id] >= MOST_TRIES:
            return
        self._tries[n, one.id] += 1
        if not one.doubtful:
            # Nothing left us: "failed" makes that true, against a worker that is about to send.
            if self.dice.random() < 0.05:
                await self._say(n, one, Wish(verdict=Verdict.FAILED))
            return
        seen = await self._look(n, one)
        if seen is not None and _proves(seen):
            if self.dice.random() < 0.7:
                await self._say(n, one, Wish(verdict=Verdict.EXECUTED))
        elif await self._ripe([one]):
            await self._settle(n, one, seen)
        else:
            await self._careless(n, one)

    async def _settle(self, n: int, one: Stuck, seen: LookupResult | None = None) -> None:
        """What is honest after a look, by the dice; some is left."""
        seen = seen or await self._look(n, one)
        if seen is None or seen.presence is Presence.UNCERTAIN:
            return
        chance = self.dice.random()
        if seen.presence is Presence.FOUND:
            if _proves(seen) and chance < 0.8:
                await self._say(n, one, Wish(verdict=Verdict.EXECUTED))
        elif self.keeps_key[one.user_id] and chance < 0.85:
            await self._say(n, one, Wish(verdict=Verdict.RESEND, as_send=one.last + 1))
        elif chance < 0.5 or (self.keeps_key[one.user_id] and chance < 0.95):
            await self._say(n, one, Wish(verdict=Verdict.FAILED))

    async def _careless(self, n: int, one: Stuck) -> None:
        """Words that no honest operator's evidence bears; the store must refuse the first three
        always, the others for want of looks."""
        resend = Wish(verdict=Verdict.RESEND, as_send=one.last + 1)
        always = [
            Wish(verdict=Verdict.RESEND, as_send=one.last),
            Wish(verdict=Verdict.RESEND, as_send=one.last + 5),
            *([resend] if one.operation == "transfer" else []),
        ]
        early = [Wish(verdict=Verdict.FAILED), *([resend] if self.keeps_key[one.user_id] else [])]
        if one.absents == 0 and self.dice.random() < 0.6:
            await self._say(n, one, self.dice.choice(early))
        else:
            await self._say(n, one, self.dice.choice(always), must_refuse=True)

    async def _old_number(self, n: int, one: Stuck) -> None:
        await self._say(n, one, Wish(verdict=Verdict.RESEND, as_send=one.last), must_refuse=True)

    async def _too_late(self, n: int, one: Stuck) -> None:
        wish = Wish(verdict=Verdict.RESEND, as_send=one.last + 1)
        await self._say(n, one, wish, must_refuse=True)

    # ---------------------------------------------------------------- the commands

    async def _look(self, n: int, one: Stuck) -> LookupResult | None:
        """`aval reconcile ID --look`; None where it showed nothing."""

        async def look(connection: Connection, reconcile: Reconcile) -> LookupResult:
            seen = (await reconcile.look(connection, one.id, operator=NAMES[n])).seen
            self.done.did["looks"] += 1
            return seen

        return await self._command(look)

    async def _say(self, n: int, one: Stuck, wish: Wish, *, must_refuse: bool = False) -> None:
        """`aval reconcile ID --executed | --failed | --resend --as-send N`: weigh, then settle."""

        async def say(connection: Connection, reconcile: Reconcile) -> None:
            refused = (await reconcile.weigh(connection, one.id, wish)).refused
            if refused is not None and self.dice.random() < 0.5:
                raise NotAllowedError(refused)  # the command stops here; settle must refuse too
            by = Operator(name=NAMES[n], evidence="seen in the panel")
            await reconcile.settle(connection, one.id, wish, by=by)
            self.done.did[wish.verdict.value] += 1
            if must_refuse:
                self.done.wrongly.append((one.id, f"{wish.verdict.value} {wish.as_send}"))

        await self._command(say)

    async def _command(self, work: Callable[[Connection, Reconcile], Awaitable[T]]) -> T | None:
        """With a connection and clients of its own, as a process has. Counts refusals, and what a
        restart of PostgreSQL broke; None then."""
        gateways = Gateways(GatewayRegistry(), SECRETS.__getitem__)
        try:
            async with (
                within(COMMAND_WITHIN_S, "aval reconcile"),
                database.connected(with_moved_clock(self.world.dsn)) as connection,
            ):
                return await work(connection, Reconcile(registry=tools.load({}), gateways=gateways))
        except NotAllowedError as error:
            self.done.refused[short(str(error))] += 1
        except _BROKEN as error:
            self.done.broken[type(error).__name__] += 1
        finally:
            await gateways.aclose()
        return None


def _proves(seen: LookupResult) -> bool:
    return seen.presence is Presence.FOUND and seen.equal and seen.final
