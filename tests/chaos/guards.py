"""Switches a guard of the product off, in a test's worker or database alone: proof that a run of
faults without violations says something (`python -m tests.chaos.run --break ...`)."""

from datetime import timedelta
from enum import StrEnum

import asyncpg

from domain.actions import Status
from domain.settling import Ruling, StuckFacts, Wish, rule
from store import executing, operators
from store.connection import Connection


class Guard(StrEnum):
    """What keeps an effect from happening twice."""

    FENCE = "fence"  # every attempt may send
    CLAIM = "claim"  # an attempt opens always and revokes no other
    INDEX = "index"  # no unique index on what makes sense once

    RULES = "rules"  # an operator's word is always followed

    @property
    def in_worker(self) -> bool:
        """Whether the guard stands in the worker's code; else in the database or with operators."""
        return self not in {Guard.INDEX, Guard.RULES}


async def _open_fence(connection: Connection, action_id: str, *, attempt: int) -> int | None:
    n: int = await connection.fetchval(
        "INSERT INTO sends (action_id, n, attempt, fenced_at)"
        " SELECT $1, coalesce(max(n), 0) + 1, $2, clock_timestamp() FROM sends"
        " WHERE action_id = $1 RETURNING n",
        action_id,
        attempt,
    )
    return n


async def _open_claim(connection: Connection, action_id: str, *, lock_s: float) -> int | None:
    attempt: int = await connection.fetchval("SELECT attempt FROM actions WHERE id = $1", action_id)
    return attempt


def break_in_worker(guard: Guard) -> None:
    """Replace the guard's function in this process."""
    match guard:
        case Guard.FENCE:
            executing.fence = _open_fence
        case Guard.CLAIM:
            executing.open_attempt = _open_claim
        case Guard.INDEX | Guard.RULES:
            raise ValueError(f"guard {guard!r} does not stand in the worker")


def _any_word(facts: StuckFacts, wish: Wish) -> Ruling:
    if facts.status is not Status.EXECUTING:
        return Ruling(refused="it is closed already, without this word")
    resend = wish.as_send is not None
    return Ruling(valid_until=facts.now + timedelta(seconds=120) if resend else None)


def break_for_operators() -> None:
    """Replace the rules of settling in this process, which plays the operators."""
    setattr(operators, rule.__name__, _any_word)


async def break_in_database(dsn: str) -> None:
    """Drop the unique indexes of actions."""
    connection = await asyncpg.connect(dsn, timeout=10, command_timeout=20)
    try:
        for index in ("actions_business_key", "actions_one_pending", "actions_equal_effect"):
            await connection.execute(f"DROP INDEX {index}")
    finally:
        await connection.close()
