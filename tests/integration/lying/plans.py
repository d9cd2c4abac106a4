"""What persons write, what the model says to it, and what is pressed then: drawn by chance."""

import itertools
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.integration.lying import zoo
from tests.integration.lying.known import Known

KINDS = {**zoo.KINDS, **zoo.UNSTORABLE}
LIES = sorted(KINDS.keys() - {"hands over"})
"""A conversation that was handed over is quiet, and nothing more could be seen in it."""

HONEST = ("charge", "charge described", "booking", "e-mail", "transfer", "charge in reais")
THEN = ("right",) * 8 + ("wrong", "cancel", "twice", "cross", "made up", "yes", "late", "never")


@dataclass(frozen=True)
class Ask:
    """A message, what the model says to it, and what is done with what was shown."""

    token: str
    lies: tuple[str, ...]
    then: str


@dataclass
class Liar:
    """A person, and the model that speaks to him."""

    name: str
    user_id: str
    wa_id: str
    public: bool
    asks: list[Ask]
    known: Known
    customer: int | None = None
    conversation: object = None


def plans(count: int, asks: int, *, seed: int) -> list[Liar]:
    """So many persons with so many messages each, by chance; every kind of lie comes once before
    any comes twice."""
    chance = random.Random(seed)
    lies = itertools.cycle(chance.sample(LIES, len(LIES)))
    return [_liar(n, asks, chance, lies) for n in range(count)]


def _liar(n: int, asks: int, chance: random.Random, lies: "itertools.cycle[str]") -> Liar:
    public = n % 3 == 2
    known = Known(
        customers=[f"Cliente {n}"] if public else ["João Silva", "", "Carlos Lima"],
        professionals=["Dra. Ana Torres"],
        first_day=(datetime.now(UTC) + timedelta(days=2)).date(),
        foreign={},
        n=64 * n,
    )
    return Liar(
        name=f"p{n}",
        user_id=f"BR.8{n:015d}",
        wa_id=f"55118{n:08d}",
        public=public,
        asks=[_plan(n, ask, chance, lies) for ask in range(asks)],
        known=known,
    )


def _plan(n: int, ask: int, chance: random.Random, lies: "itertools.cycle[str]") -> Ask:
    """Lies first, then mostly something that may be shown; sometimes the same lie for ever."""
    said = [next(lies) for _ in range(chance.choice([1, 1, 2]))]
    match chance.randrange(8):
        case 0:
            pass
        case 1:
            said = [*["read"] * 5, chance.choice(HONEST)]
        case 2:
            said.append("reply")
        case _:
            said.append(chance.choice(HONEST))
    return Ask(token=f"m{n}x{ask}q", lies=tuple(said), then=chance.choice(THEN))
