"""The right to one more send on an operator's word: numbered, short-lived, consumed by the fence.

A row of `decisions` with verdict `resend` and number N lets exactly send N through, and only while
N is the next number: a replay or a second operator finds it used up (design §3, operators). Whoever
consumes it, or finds it over, answers it; until then the sweeper rings for it.
"""

from domain.actions import Refusal
from store import audit
from store.connection import Connection

OPEN = """
    SELECT d.id FROM decisions d
    WHERE d.action_id = a.id AND d.verdict = 'resend' AND d.answered_at IS NULL
      AND clock_timestamp() < d.valid_until
      AND d.as_send = (SELECT coalesce(max(s.n), 0) + 1 FROM sends s WHERE s.action_id = a.id)
"""
"""The open right of the action `a`, if any: a subquery for statements over its locked row."""


async def is_open(connection: Connection, action_id: str) -> bool:
    """Whether one more send may go on an operator's word now."""
    return bool(
        await connection.fetchval(
            f"SELECT EXISTS ({OPEN}) FROM actions a"
            " WHERE id = $1 AND status = 'executing' AND frozen_at IS NULL",
            action_id,
        )
    )


async def use_up(connection: Connection, action_id: str, *, attempt: int) -> int | None:
    """Insert the one send that an open right of the locked, executing action allows, and answer the
    right, in the caller's transaction; the send's number, or None if there is no right."""
    n: int | None = await connection.fetchval(
        f"""
        WITH used AS (
            UPDATE decisions SET answered_at = clock_timestamp(), followed = true, ring_at = NULL
            WHERE id = (SELECT r.id FROM actions a, LATERAL ({OPEN}) r
                        WHERE a.id = $1 AND a.frozen_at IS NULL)
            RETURNING as_send)
        INSERT INTO sends (action_id, n, attempt, fenced_at)
        SELECT $1, as_send, $2, clock_timestamp() FROM used RETURNING n
        """,
        action_id,
        attempt,
    )
    return n


async def end(connection: Connection, action_id: str, *, why: Refusal, all_open: bool) -> None:
    """Answer rights of the locked action that were not used: those that are over, or all."""
    rows = await connection.fetch(
        """
        UPDATE decisions SET answered_at = clock_timestamp(), followed = false, refusal = $2,
            ring_at = NULL
        WHERE action_id = $1 AND verdict = 'resend' AND answered_at IS NULL
          AND ($3 OR valid_until <= clock_timestamp())
        RETURNING id, as_send
        """,
        action_id,
        why.value,
        all_open,
    )
    for row in rows:
        await audit.append(
            connection,
            action_id,
            "resend_not_made",
            {"decision": str(row["id"]), "send": row["as_send"], "why": why.value},
        )
