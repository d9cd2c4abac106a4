"""What does not agree inside the database, for `aval doctor`. Reads only.

Each question names rows that somebody should have handled by now, or that contradict each other;
what waits for a human, or for a person's answer, is no such row.
A healthy system answers all of them with nothing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.actions import CloseReason
from store import actions
from store.actions import Action
from store.connection import Connection
from store.next_step import LOOK_FOR

LATE = timedelta(minutes=2)
"""A healthy hand-over takes a second, and a lost bell is heard within six: two minutes are a
fault."""

MOST = 1000
"""Rows of each kind that are named; more of them are one fault, not a thousand."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One disagreement: of which kind, which row (ids only), and what is wrong."""

    kind: str
    row: str
    what: str


_LATE_NOW = {
    "overdue": (
        """
        SELECT id AS row, CASE WHEN status = 'pending' THEN 'pending past its deadline'
            ELSE 'executing, and its work is overdue' END AS what
        FROM actions WHERE status IN ('pending', 'executing') AND ring_at < now() - $1::interval
        """
    ),
    "stuck": (
        """
        SELECT id AS row, 'executing since ' || to_char(executing_since AT TIME ZONE 'UTC',
            'YYYY-MM-DD HH24:MI:SS"Z"') || CASE WHEN frozen_at IS NULL THEN ''
            ELSE ', frozen by a restore' END AS what
        FROM actions WHERE status = 'executing' AND executing_since < now() - $1::interval
        """
    ),
    "unsent": (
        """
        SELECT key AS row, 'a message to the person is ' || state AS what
        FROM outbox WHERE done_at IS NULL AND created_at < now() - $1::interval
        """
    ),
    "undone": (
        """
        SELECT id::text AS row, 'an inbox item (' || kind || ') that nobody handled' AS what
        FROM inbox i WHERE done_at IS NULL AND received_at < now() - $1::interval
            AND NOT EXISTS (SELECT 1 FROM conversations c
                WHERE c.id = i.conversation_id AND c.asked_at IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM pauses p WHERE p.conversation_id = i.conversation_id
                AND coalesce(p.ended_at, p.until) > now() - $1::interval)
        """
    ),
    "undecided": (
        """
        SELECT action_id AS row, 'a stored ' || verdict || ' that nobody answered' AS what
        FROM decisions WHERE answered_at IS NULL AND received_at < now() - $1::interval
        """
    ),
}

_UNRUNG = {
    "unrung": (
        """
        SELECT id AS row, status || ', and nothing will ever ring for it' AS what
        FROM actions WHERE ring_at IS NULL AND (status = 'pending' OR (status = 'executing'
            AND now() < greatest(executing_since, frozen_at) + $1::interval))
        """
    ),
}

_OF_LATE = {
    "contradiction": (
        "SELECT DISTINCT action_id AS row, 'an effect after it was closed' AS what"
        " FROM audit_events WHERE event = 'contradiction' AND at >= $1"
    ),
    "books": (
        "SELECT DISTINCT action_id AS row, 'executed, but our own books were not written' AS what"
        " FROM audit_events WHERE event = 'mirror_failed' AND at >= $1"
    ),
    "unproved": (
        "SELECT id AS row, 'executed, yet every send proved that nothing was done' AS what"
        " FROM actions a WHERE status = 'executed' AND effect = 'provider' AND finished_at >= $1"
        " AND frozen_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM sends s WHERE s.action_id = a.id"
        "   AND coalesce(s.outcome, 'unknown') NOT IN ('not_sent', 'rejected'))"
    ),
    "evidence": (
        """
        SELECT DISTINCT action_id AS row, 'its chain of evidence is broken' AS what FROM (
            SELECT e.*, row_number() OVER w AS expected,
                coalesce(lag(hash) OVER w, repeat('0', 64)) AS before
            FROM audit_events e JOIN actions a ON a.id = e.action_id
            WHERE a.finished_at IS NULL OR a.finished_at >= $1
            WINDOW w AS (PARTITION BY action_id ORDER BY n)) chain
        WHERE n <> expected OR prev_hash <> before
            OR hash <> audit_hash(action_id, n, at, event, detail, prev_hash)
        """
    ),
}


async def findings(connection: Connection, *, since: datetime) -> list[Finding]:
    """Everything that does not agree now, or ended wrongly after `since` (UTC)."""
    found: list[Finding] = []
    for questions, argument in ((_LATE_NOW, LATE), (_UNRUNG, LOOK_FOR), (_OF_LATE, since)):
        for kind, question in questions.items():
            rows = await connection.fetch(f"{question} ORDER BY 1 LIMIT {MOST}", argument)
            found += [Finding(kind=kind, row=row["row"], what=row["what"]) for row in rows]
    return found + await _changed(connection, since)


async def _changed(connection: Connection, since: datetime) -> list[Finding]:
    ids = await connection.fetch(
        "SELECT id FROM actions WHERE finished_at IS NULL OR finished_at >= $1"
        f" ORDER BY created_at DESC LIMIT {MOST}",
        since,
    )
    found = []
    for row in ids:
        action = await actions.get(connection, row["id"])
        if action.recomputed_digest() != action.digest:
            found.append(
                Finding(kind="digest", row=action.id, what="its frozen columns were changed")
            )
    return found


async def to_look_up(connection: Connection, *, since: datetime) -> list[Action]:
    """The provider actions to compare with their provider: all that are executing, and those that
    ended after `since` as executed, or without effect although something may have been sent."""
    rows = await connection.fetch(
        f"""
        SELECT id FROM actions a WHERE effect = 'provider' AND request IS NOT NULL AND (
            status = 'executing' OR (finished_at >= $1 AND (status = 'executed' OR reason = $2
                OR (status = 'failed'
                    AND EXISTS (SELECT 1 FROM sends s WHERE s.action_id = a.id)))))
        ORDER BY created_at LIMIT {MOST}
        """,
        since,
        CloseReason.RESTORED.value,
    )
    return [await actions.get(connection, row["id"]) for row in rows]


async def ended(connection: Connection, action_ids: list[str]) -> set[str]:
    """Which of these actions need no workflow: long over and told, or not there at all."""
    rows = await connection.fetch(
        """
        SELECT id FROM unnest($1::text[]) id WHERE NOT EXISTS (
            SELECT 1 FROM actions a WHERE a.id = id.id AND (a.finished_at IS NULL
                OR a.finished_at > now() - $2::interval OR EXISTS (
                SELECT 1 FROM outbox o WHERE o.action_id = a.id AND o.done_at IS NULL)))
        """,
        action_ids,
        LATE,
    )
    return {row["id"] for row in rows}
