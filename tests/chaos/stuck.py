"""What is executing, as operators who reconcile need to know it."""

from dataclasses import dataclass

from store.connection import Pool


@dataclass(frozen=True, kw_only=True)
class Stuck:
    """An executing action. `last`: its last send's number, nought without any; `doubtful`: a send
    may have acted; `absents`: look-ups that found nothing; `operation` at the provider, if any."""

    id: str
    user_id: str
    operation: str | None
    last: int
    doubtful: bool
    absents: int


async def read_stuck(pool: Pool, user_ids: list[str]) -> list[Stuck]:
    """All executing actions of these persons."""
    rows = await pool.fetch(
        """
        SELECT a.id, a.user_id, a.request ->> 'operation' AS operation,
            (SELECT coalesce(max(n), 0) FROM sends s WHERE s.action_id = a.id) AS last,
            EXISTS (SELECT 1 FROM sends s WHERE s.action_id = a.id
                AND s.outcome IS DISTINCT FROM 'not_sent') AS doubtful,
            (SELECT count(*) FROM audit_events e WHERE e.action_id = a.id AND e.event = 'looked'
                AND e.detail ->> 'presence' = 'absent') AS absents
        FROM actions a WHERE a.status = 'executing' AND a.user_id = ANY($1) ORDER BY a.created_at
        """,
        user_ids,
    )
    return [Stuck(**dict(row)) for row in rows]


async def open_resends(pool: Pool, user_ids: list[str]) -> int:
    """How many resends of these persons' actions nobody has used up or ended yet."""
    count: int = await pool.fetchval(
        """
        SELECT count(*) FROM decisions d JOIN actions a ON a.id = d.action_id
        WHERE d.verdict = 'resend' AND d.answered_at IS NULL AND a.user_id = ANY($1)
        """,
        user_ids,
    )
    return count
