"""Pauses: while one lasts, a human has the conversation, and the agent reads and answers nothing.

The trap: an agent that talks on top of the human who took over, or that forgets what was written
meanwhile. So *take* leaves the messages where they are and rings at the pause's end; a turn under
way stops at its next step, since a pause moves `facts_seq` like any fact. Decisions, expiry and
outcomes are not touched: buttons work as always.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

import asyncpg

from store.connection import Connection


class Cause(StrEnum):
    """Why a pause began."""

    OPERATOR = "operator"  # by the command line
    PERSON = "person"  # asked for a human, through a tool
    ECHO = "echo"  # a human answered from another device of the business


@dataclass(frozen=True, kw_only=True)
class Pause:
    """A pause that lasts now. Times are UTC. `action_id`: by which a person asked for a human."""

    conversation_id: UUID
    cause: Cause
    operator: str | None
    action_id: str | None
    since: datetime
    until: datetime


_COLUMNS = "p.conversation_id, p.cause, p.operator, p.action_id, p.since, p.until"
_LASTS = "p.ended_at IS NULL AND p.until > clock_timestamp()"


def _pause(row: asyncpg.Record) -> Pause:
    return Pause(**{**dict(row), "cause": Cause(row["cause"])})


async def current(connection: Connection, conversation: UUID) -> Pause | None:
    """The pause of the conversation that lasts now, if any."""
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS} FROM pauses p WHERE p.conversation_id = $1 AND {_LASTS}", conversation
    )
    return _pause(row) if row else None


async def of_turn(connection: Connection, turn: UUID) -> tuple[Pause | None, bool]:
    """The pause of the turn's conversation that lasts now, and whether this very turn asked for
    it."""
    row = await connection.fetchrow(
        f"""
        SELECT {_COLUMNS}, a.turn_id IS NOT DISTINCT FROM $1 AS own
        FROM turns t JOIN pauses p ON p.conversation_id = t.conversation_id AND {_LASTS}
        LEFT JOIN actions a ON a.id = p.action_id WHERE t.id = $1
        """,
        turn,
    )
    if row is None:
        return None, False
    fields = dict(row)
    own: bool = fields.pop("own")
    return Pause(**{**fields, "cause": Cause(fields["cause"])}), own


async def begin(
    connection: Connection,
    conversation: UUID,
    *,
    cause: Cause,
    lasts: timedelta,
    began: datetime | None = None,
    operator: str | None = None,
    action: str | None = None,
) -> Pause | None:
    """Pause for `lasts` from `began` on (UTC; now without it, and never later); None if that is
    over already.

    A pause that lasts is made longer, never shorter; an operator's word begins a new one and holds
    as it is. Moves `facts_seq`. The caller's transaction takes the conversation's row.
    """
    await connection.execute(
        "SELECT 1 FROM conversations WHERE id = $1 FOR NO KEY UPDATE", conversation
    )
    now: datetime = await connection.fetchval("SELECT clock_timestamp()")
    until = min(began or now, now) + lasts
    if until <= now:
        return None
    await connection.execute(
        "UPDATE pauses SET ended_at = least(until, $2),"
        " ended_by = CASE WHEN until > $2 THEN $3::text END"
        " WHERE conversation_id = $1 AND ended_at IS NULL"
        " AND (until <= $2 OR $3::text IS NOT NULL)",
        conversation,
        now,
        operator,
    )
    row = await connection.fetchrow(
        f"""
        INSERT INTO pauses AS p (conversation_id, cause, operator, action_id, since, until)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (conversation_id) WHERE ended_at IS NULL
        DO UPDATE SET until = greatest(p.until, excluded.until) RETURNING {_COLUMNS}
        """,
        conversation,
        cause.value,
        operator,
        action,
        now,
        until,
    )
    await connection.execute(
        "UPDATE conversations SET facts_seq = facts_seq + 1 WHERE id = $1", conversation
    )
    assert row is not None
    return _pause(row)


async def begin_by_action(connection: Connection, action: str, *, lasts: timedelta) -> Pause:
    """Pause the conversation of the acting action, in the transaction that records it."""
    conversation: UUID = await connection.fetchval(
        "SELECT conversation_id FROM actions WHERE id = $1", action
    )
    paused = await begin(connection, conversation, cause=Cause.PERSON, lasts=lasts, action=action)
    assert paused is not None, "a pause that begins now is not over"
    return paused


async def defer(connection: Connection, pause: Pause) -> None:
    """Nobody is rung for the conversation's messages before the pause is over."""
    await connection.execute(
        "UPDATE inbox SET rings = 0, ring_at = $2 WHERE conversation_id = $1 AND done_at IS NULL"
        " AND ring_at IS DISTINCT FROM $2",
        pause.conversation_id,
        pause.until,
    )


async def end(connection: Connection, conversation: UUID, *, operator: str) -> Pause | None:
    """End the pause and ring at once for what waits; the pause that lasted, None if none did."""
    async with connection.transaction():
        await connection.execute(
            "SELECT 1 FROM conversations WHERE id = $1 FOR NO KEY UPDATE", conversation
        )
        row = await connection.fetchrow(
            "UPDATE pauses p SET ended_at = clock_timestamp(), ended_by = $2"
            f" WHERE p.conversation_id = $1 AND {_LASTS} RETURNING {_COLUMNS}",
            conversation,
            operator,
        )
        if row is None:
            return None
        await connection.execute(
            "UPDATE inbox SET rings = 0, ring_at = clock_timestamp()"
            " WHERE conversation_id = $1 AND done_at IS NULL",
            conversation,
        )
        return _pause(row)
