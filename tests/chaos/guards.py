"""Switches a guard of the product off, in a test's worker or database alone: proof that a run of
faults without violations says something (`python -m tests.chaos.run --break ...`)."""

from enum import StrEnum

import asyncpg

from store import executing
from store.connection import Connection


class Guard(StrEnum):
    """What keeps an effect from happening twice."""

    FENCE = "fence"  # every attempt may send
    CLAIM = "claim"  # an attempt opens always and revokes no other
    INDEX = "index"  # no unique index on what makes sense once

    @property
    def in_worker(self) -> bool:
        """Whether the guard stands in the worker's code; else in the database."""
        return self is not Guard.INDEX


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
        case Guard.INDEX:
            raise ValueError(f"guard {guard!r} does not stand in the worker")


async def break_in_database(dsn: str) -> None:
    """Drop the unique indexes of actions."""
    connection = await asyncpg.connect(dsn, timeout=10, command_timeout=20)
    try:
        for index in ("actions_business_key", "actions_one_pending", "actions_equal_effect"):
            await connection.execute(f"DROP INDEX {index}")
    finally:
        await connection.close()
