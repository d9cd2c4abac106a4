"""What a run does and what befalls it, drawn from a seed alone: the same seed is the same plan.

A *run* is one wish of a person (or of two who wish the same) with its clicks and the faults of its
far sides. Runs go in *batches* at once against the same processes, so that a blow to a process hits
many of them in different moments; a batch is what a failing seed repeats.
"""

import random
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from tests.chaos.points import How, Point

T = TypeVar("T")


class Wish(StrEnum):
    """What a run's person wants."""

    CHARGE = "charge"
    TRANSFER = "transfer"
    BOOKING = "booking"
    REFUND_TWICE = "refund_twice"  # two members refund the same charge at the same moment
    BOOK_TWICE = "book_twice"  # two members book the same slot for the same customer


class Clicks(StrEnum):
    """What is pressed on the prompt."""

    CONFIRM = "confirm"
    THRICE = "thrice"  # at once
    CANCEL = "cancel"
    BOTH = "both"  # confirm and cancel at the same moment
    CHANGED_MIND = "changed_mind"  # cancel, then confirm
    STRANGER = "stranger"  # somebody else's confirm alone
    STRANGER_FIRST = "stranger_first"  # then the right person's
    NONE = "none"


class Blow(StrEnum):
    """What happens to a process, to the clock, to workflows or to actions (driver.py strikes)."""

    KILL_WORKER = "kill_worker"
    STOP_WORKER = "stop_worker"  # SIGSTOP, and SIGCONT after `seconds`
    KILL_API = "kill_api"
    STOP_API = "stop_api"
    RESTART_POSTGRES = "restart_postgres"
    RESTART_TEMPORAL = "restart_temporal"
    LOSE_TEMPORAL = "lose_temporal"  # its file is gone too
    LEAP = "leap"  # PostgreSQL's clock goes over the freshness of what is executing
    TERMINATE = "terminate"  # workflows, by hand
    RESET = "reset"  # workflows, to their beginning
    OPERATORS = "operators"  # two begin to reconcile while machines recover (operators.py)


@dataclass(frozen=True, kw_only=True)
class ProviderFault:
    """What happens to the request that creates; `kind` is a word of the simulator."""

    kind: str
    seconds: float = 0.0
    acted: bool | None = None


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """One run. Seconds throughout."""

    number: int
    wish: Wish
    clicks: Clicks
    start_s: float
    think_s: float
    provider: ProviderFault | None
    faults: int  # how many requests for its effect the provider's fault befalls
    keeps_key: bool  # whether the provider knows a key again
    whatsapp: str | None  # a mode of the simulator's send faults
    whatsapp_type: str
    statuses: str | None  # never | late | doubled
    redeliver: int  # how often the click's webhook comes again
    recut: bool  # the clicks come in one body, shuffled and doubled
    claude: str | None


@dataclass(frozen=True, kw_only=True)
class TimedBlow:
    """A blow, `at_s` seconds after the batch began."""

    at_s: float
    blow: Blow
    target: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Order:
    """An order for a named point, given `at_s` seconds after the batch began."""

    at_s: float
    point: Point
    how: How
    nth: int
    wake_s: float


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Runs at once, and what befalls them."""

    number: int
    runs: tuple[RunPlan, ...]
    blows: tuple[TimedBlow, ...]
    orders: tuple[Order, ...]
    blind: int  # look-ups that the provider answers with 503: machines then look later and later


_WISHES = {
    Wish.CHARGE: 9,
    Wish.TRANSFER: 5,
    Wish.BOOKING: 3,
    Wish.REFUND_TWICE: 2,
    Wish.BOOK_TWICE: 1,
}
_CLICKS = {
    Clicks.CONFIRM: 10,
    Clicks.THRICE: 4,
    Clicks.CANCEL: 1,
    Clicks.BOTH: 2,
    Clicks.CHANGED_MIND: 1,
    Clicks.STRANGER: 1,
    Clicks.STRANGER_FIRST: 1,
    Clicks.NONE: 1,
}
_PROVIDER: dict[ProviderFault | None, int] = {
    None: 12,
    ProviderFault(kind="act_drop"): 3,
    ProviderFault(kind="act_500"): 2,
    ProviderFault(kind="html_502", acted=True): 2,
    ProviderFault(kind="html_502", acted=False): 2,
    ProviderFault(kind="cut_json"): 1,
    ProviderFault(kind="drop"): 3,
    ProviderFault(kind="throttle", seconds=1): 1,
    ProviderFault(kind="refuse"): 1,
    ProviderFault(kind="lookup_lag", seconds=4): 1,
    ProviderFault(kind="act_delay", seconds=16): 1,  # beyond the client's 15 s
    ProviderFault(kind="delay_before", seconds=16): 1,  # acts after the client has given up
}
_BLOWS = {
    Blow.KILL_WORKER: 5,
    Blow.STOP_WORKER: 4,
    Blow.KILL_API: 2,
    Blow.STOP_API: 1,
    Blow.RESTART_POSTGRES: 2,
    Blow.RESTART_TEMPORAL: 1,
    Blow.LOSE_TEMPORAL: 1,
    Blow.LEAP: 2,
    Blow.TERMINATE: 2,
    Blow.RESET: 1,
}
_HOWS = {How.KILL: 2, How.STOP: 4, How.SLOW: 1}
_AFTER_CLICK = (
    Point.CHECKED,
    Point.DECIDE,
    Point.BEFORE_CLAIM,
    Point.CLAIMED,
    Point.FENCED,
    Point.ACTED,
    Point.RECORDED,
    Point.LOOKED,
    Point.ANNOUNCING,
    Point.BEFORE_FEEDBACK,
    Point.FED_BACK,
)
_BEFORE_CLICK = (Point.TAKE, Point.THOUGHT, Point.PROPOSE, Point.BEFORE_PROMPT, Point.PROMPTED)

KEEPS_KEY = 0.5
"""Share of runs whose provider knows a key again, as one does that offers idempotency. In the
others it forgets every key, so that only our own guards keep the effect at one. There nobody may
order a resend: after an honest "absent" a request may still be on its way, and what then keeps two
requests at one effect is the provider's key alone (design §3, operators)."""

STRANDED = 3
"""Runs a batch whose charge is confirmed and then lost sight of: what operators are for, and with a
key that the provider knows again, what they may send once more."""
_LOST = (
    ProviderFault(kind="drop"),
    ProviderFault(kind="html_502", acted=False),
    ProviderFault(kind="delay_before", seconds=16),
    ProviderFault(kind="act_drop"),
)

DEATHS = 3
"""Kills at named points a batch, besides the random ones."""

_ACTIVE_S = 9.0  # turns take two seconds of quiet, then clicks and effects follow


def batch(seed: int, number: int, *, first_run: int, runs: int) -> Batch:
    """The batch `number` of this seed, with `runs` runs numbered from `first_run`."""
    dice = random.Random(f"{seed}:{number}")
    return Batch(
        number=number,
        runs=tuple(
            _stranded(dice, run) if n < STRANDED else run
            for n, run in enumerate([_run(dice, first_run + n) for n in range(runs)])
        ),
        blows=tuple(sorted(_blows(dice, number), key=lambda one: one.at_s)),
        orders=tuple(
            sorted(
                [*_deaths(dice, number), *_stalls(dice, number), *_orders(dice)],
                key=lambda one: one.at_s,
            )
        ),
        blind=dice.choice([0, 10, 20]),
    )


def _pick(dice: random.Random, weights: dict[T, int]) -> T:
    return dice.choices(list(weights), weights=list(weights.values()))[0]


def _run(dice: random.Random, number: int) -> RunPlan:
    wish = _pick(dice, _WISHES)
    clicks = _pick(dice, _CLICKS)
    provider = _pick(dice, _PROVIDER)
    keeps_key = dice.random() < KEEPS_KEY
    return RunPlan(
        number=number,
        wish=wish,
        clicks=clicks if wish is not Wish.REFUND_TWICE else Clicks.CONFIRM,
        start_s=dice.uniform(0, 2.5),
        think_s=dice.uniform(0.05, 2.0),
        provider=provider,
        faults=dice.choice([1, 1, 2]) if keeps_key else 1,
        keeps_key=keeps_key,
        whatsapp=dice.choice([None] * 8 + ["accept_drop", "accept_500", "accept_html", "refuse"]),
        whatsapp_type=dice.choice(["interactive", "text"]),
        statuses=dice.choice([None] * 6 + ["never", "late", "doubled"]),
        redeliver=dice.choice([0, 0, 0, 1, 3]),
        recut=dice.random() < 0.15,
        claude=dice.choice([None] * 14 + ["overloaded", "drop", "vary"]),
    )


def _stranded(dice: random.Random, run: RunPlan) -> RunPlan:
    return replace(
        run,
        wish=Wish.CHARGE,
        clicks=dice.choice([Clicks.CONFIRM, Clicks.THRICE]),
        provider=dice.choice(_LOST),
        faults=dice.choice([1, 1, 2]),
        keeps_key=True,
    )


def _blows(dice: random.Random, number: int) -> list[TimedBlow]:
    """The next blow of the list, so that ten batches have struck each, some by chance, and
    operators always: what they find is what the others leave behind."""
    in_turn = list(_BLOWS)[number % len(_BLOWS)]
    struck = [
        TimedBlow(
            at_s=dice.uniform(1.0, _ACTIVE_S),
            blow=blow,
            target=dice.randint(0, 1),
            seconds=dice.uniform(0.5, 6.0),
        )
        for blow in [in_turn, *(_pick(dice, _BLOWS) for _ in range(dice.randint(1, 3)))]
    ]
    at_s = dice.uniform(4.0, _ACTIVE_S + 2.0)
    return [*struck, TimedBlow(at_s=at_s, blow=Blow.OPERATORS, target=0, seconds=0.0)]


def _deaths(dice: random.Random, number: int) -> list[Order]:
    """Kills at the next points of the list, so that six batches have died at each."""
    points = _BEFORE_CLICK + _AFTER_CLICK
    return [
        _order(dice, points[(number * DEATHS + n) % len(points)], How.KILL) for n in range(DEATHS)
    ]


def _stalls(dice: random.Random, number: int) -> list[Order]:
    """A worker that sleeps before the wire until its rerun is through: longer than the heartbeat's
    four seconds, the tasks that its open polls swallow, and the other worker's attempt. What wakes
    then is what the guards are for."""
    point = (Point.CLAIMED, Point.CLAIMED, Point.FENCED)[number % 3]
    stall = _order(dice, point, How.STOP)
    return [replace(stall, at_s=dice.uniform(3, 5), wake_s=dice.uniform(18, 26))]


def _orders(dice: random.Random) -> list[Order]:
    return [
        _order(dice, dice.choice(_AFTER_CLICK), _pick(dice, _HOWS))
        for _ in range(dice.randint(2, 4))
    ]


def _order(dice: random.Random, point: Point, how: How) -> Order:
    early = point in _BEFORE_CLICK
    return Order(
        at_s=dice.uniform(0, 2.0) if early else dice.uniform(2.0, _ACTIVE_S - 2.0),
        point=point,
        how=how,
        nth=dice.randint(1, 3),
        wake_s=dice.uniform(0.5, 6.0),
    )
