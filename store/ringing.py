"""Doorbells: which workflow to wake for which row, and the sweep over rows that are not done.

Nothing depends on a signal arriving: every row that is not done has `ring_at`, first 5 s after it
was written, then doubling up to 10 minutes (design §3: ringing at once and without back-off cost 72
needless runs per 300 actions). The filter says `ring_at < now()` because with clock_timestamp() the
partial index is not used.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from store.connection import Connection

FIRST_RING_S = 5  # longer than a healthy hand-over takes, so that a sweep rings nobody at work
LONGEST_RING_S = 600  # a stuck action for a day is then 150 rings, not 17,280
MOST_RINGS_A_SWEEP = 200  # 2 ms of SQL and about 0.7 s of ringing


class Bell(StrEnum):
    """The name of the signal; carries at most our own row id and decides nothing."""

    MESSAGE = "message"
    CONFIRM = "confirm"
    CANCEL = "cancel"
    WAKE = "wake"  # the sweeper's, for work without a decision


@dataclass(frozen=True)
class Ring:
    """Wake the turn workflow of a conversation, or the workflow of an action."""

    bell: Bell
    conversation_id: UUID | None = None
    action_id: str | None = None
    digest: str = ""
    expires_at: datetime | None = None
    row_id: str = ""

    @property
    def target(self) -> str:
        """What is woken: rings with the same target and bell in one batch are one."""
        return f"{self.action_id or self.conversation_id}"


_PUSHED = f"""
    rings = rings + 1,
    ring_at = clock_timestamp() + interval '1 second'
        * least({FIRST_RING_S} * power(2, least(rings, 20)), {LONGEST_RING_S})
"""

_SWEEPS = {
    "inbox": f"""
        UPDATE inbox SET {_PUSHED} FROM (
            SELECT id AS due FROM inbox WHERE ring_at < now()
            ORDER BY ring_at LIMIT $1 FOR UPDATE SKIP LOCKED) rows
        WHERE id = due
        RETURNING 'message' AS bell, conversation_id, NULL AS action_id, id::text AS row_id
    """,
    "decisions": f"""
        UPDATE decisions SET {_PUSHED} FROM (
            SELECT id AS due FROM decisions WHERE ring_at < now()
            ORDER BY ring_at LIMIT $1 FOR UPDATE SKIP LOCKED) rows
        WHERE id = due
        RETURNING CASE WHEN verdict IN ('confirm', 'cancel') THEN verdict ELSE 'wake' END AS bell,
            NULL::uuid AS conversation_id, action_id, id::text AS row_id
    """,
    "outbox": f"""
        UPDATE outbox SET {_PUSHED} FROM (
            SELECT key AS due FROM outbox WHERE ring_at < now()
            ORDER BY ring_at LIMIT $1 FOR UPDATE SKIP LOCKED) rows
        WHERE key = due
        RETURNING CASE WHEN action_id IS NULL THEN 'message' ELSE 'wake' END AS bell,
            conversation_id, action_id, key AS row_id
    """,
    "actions": f"""
        UPDATE actions SET {_PUSHED} FROM (
            SELECT id AS due FROM actions WHERE ring_at < now()
            ORDER BY ring_at LIMIT $1 FOR UPDATE SKIP LOCKED) rows
        WHERE id = due
        RETURNING 'wake' AS bell, NULL::uuid AS conversation_id, id AS action_id, id AS row_id
    """,
}


async def sweep(connection: Connection, *, most: int = MOST_RINGS_A_SWEEP) -> list[Ring]:
    """Push on and return what is due, at most `most` rows a table, one ring a target and bell."""
    rings: dict[tuple[str, Bell], Ring] = {}
    for query in _SWEEPS.values():
        for row in await connection.fetch(query, most):
            ring = Ring(
                bell=Bell(row["bell"]),
                conversation_id=row["conversation_id"],
                action_id=row["action_id"],
                row_id=row["row_id"],
            )
            rings.setdefault((ring.target, ring.bell), ring)
    return list(rings.values())


async def describe(
    connection: Connection, action_ids: list[str]
) -> dict[str, tuple[str, datetime]]:
    """Digest and deadline of the actions to ring, for the workflow's input."""
    rows = await connection.fetch(
        "SELECT id, digest, expires_at FROM actions WHERE id = ANY($1)", action_ids
    )
    return {row["id"]: (row["digest"], row["expires_at"]) for row in rows}
