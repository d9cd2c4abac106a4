"""Which stuck actions are due for an alert, and who of all processes gives it.

The trap: an outcome that stays unknown is the one state that no machine ends, so somebody has to be
told, also while no worker lives, and by exactly one of the processes that notice it. Rows decide:
one conditional UPDATE takes a due alert for the time of its delivery. Whoever dies or fails
meanwhile leaves a row that is due again: at least once, an hour apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from store.connection import Connection
from store.next_step import FRESH

UNKNOWN_FOR = timedelta(seconds=60)
"""A call takes at most 20 s, and looks follow at once and after 5, 10 and 20 s: what four looks did
not settle is no hiccup."""
UNCLOSED_FOR = FRESH + timedelta(seconds=60)
"""Without a send in doubt an action closes when it is no longer fresh. One that is still open a
minute later has nobody who works on it."""
EVERY = timedelta(hours=1)
DELIVERED_WITHIN = timedelta(seconds=60)
"""Then a delivery is taken for lost and tried again: well over the time of its POST."""
WORKER_LIVES_FOR = timedelta(seconds=30)  # six beats: a busy or restarting worker is no dead one
FORGET_WORKERS_AFTER = timedelta(days=1)


class Kind(StrEnum):
    """Why an alert is given; all but the first only once an action."""

    UNKNOWN = "unknown"  # executing, and nobody can say whether the effect happened
    CONTRADICTION = "contradiction"  # closed, and yet the provider acted
    MIRROR_FAILED = "mirror_failed"  # executed, and the tool's own tables do not say so
    HUMAN_WANTED = "human_wanted"  # a person asked for a human, and the agent is quiet until then


@dataclass(frozen=True, kw_only=True)
class Alert:
    """One alert to give: ids and counts only. `age_s`: seconds since the action executes, or since
    the event. `number`: 1 for the first. `said`: it is in log and metric already."""

    kind: Kind
    action_id: str
    tool: str
    account_id: str
    age_s: int
    sends: int
    number: int
    said: bool


@dataclass(frozen=True, kw_only=True)
class Stuck:
    """How many actions execute with a send in doubt, and the age in seconds of the oldest."""

    count: int
    oldest_s: float


_DOUBTFUL = "s.action_id = a.id AND s.outcome IS DISTINCT FROM 'not_sent'"

_OPEN_UNKNOWN = f"""
    INSERT INTO alerts (action_id, kind, since, due_at)
    SELECT a.id, 'unknown', a.executing_since, now() FROM actions a
    WHERE a.status = 'executing'
      AND NOT EXISTS (SELECT 1 FROM alerts l WHERE l.action_id = a.id AND l.kind = 'unknown')
      AND (a.executing_since < now() - $2::interval OR EXISTS (
          SELECT 1 FROM sends s WHERE {_DOUBTFUL} AND s.fenced_at < now() - $1::interval))
    ON CONFLICT DO NOTHING
"""

_OPEN_EVENTS = """
    INSERT INTO alerts (action_id, kind, since, due_at)
    SELECT e.action_id, e.event, e.at, now() FROM audit_events e
    WHERE e.event IN ('contradiction', 'mirror_failed')
      AND NOT EXISTS (SELECT 1 FROM alerts l WHERE l.action_id = e.action_id AND l.kind = e.event)
    ON CONFLICT DO NOTHING
"""

_OPEN_WANTED = """
    INSERT INTO alerts (action_id, kind, since, due_at)
    SELECT p.action_id, 'human_wanted', p.since, now() FROM pauses p
    WHERE p.action_id IS NOT NULL AND p.ended_at IS NULL AND p.until > now()
      AND NOT EXISTS (SELECT 1 FROM alerts l
          WHERE l.action_id = p.action_id AND l.kind = 'human_wanted')
    ON CONFLICT DO NOTHING
"""

_CLOSE_SETTLED = """
    UPDATE alerts SET due_at = NULL FROM (
        SELECT l.action_id AS settled FROM alerts l JOIN actions a ON a.id = l.action_id
        WHERE l.due_at IS NOT NULL AND l.kind = 'unknown' AND a.status <> 'executing'
        FOR UPDATE OF l SKIP LOCKED) rows
    WHERE action_id = settled AND kind = 'unknown'
"""

_TAKE = f"""
    UPDATE alerts l SET due_at = clock_timestamp() + $2::interval
    FROM (SELECT action_id AS due, kind AS due_kind FROM alerts WHERE due_at <= now()
          ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED) rows, actions a
    WHERE l.action_id = due AND l.kind = due_kind AND a.id = due
      AND (l.kind <> 'unknown' OR a.status = 'executing')
    RETURNING l.kind, l.action_id, a.tool, a.account_id, l.number + 1 AS number, l.said,
        extract(epoch FROM clock_timestamp() - l.since)::int AS age_s,
        (SELECT count(*) FROM sends s WHERE {_DOUBTFUL}) AS sends
"""


async def take_due(connection: Connection, *, most: int) -> Sequence[Alert]:
    """At most `most` alerts that this caller, and nobody else, has to give now.

    Each stays taken for DELIVERED_WITHIN; say `delivered` or `failed` of it.
    """
    await connection.execute(_OPEN_UNKNOWN, UNKNOWN_FOR, UNCLOSED_FOR)
    await connection.execute(_OPEN_EVENTS)
    await connection.execute(_OPEN_WANTED)
    await connection.execute(_CLOSE_SETTLED)
    rows = await connection.fetch(_TAKE, most, DELIVERED_WITHIN)
    return [Alert(**{**row, "kind": Kind(row["kind"])}) for row in rows]


async def delivered(connection: Connection, alert: Alert) -> None:
    """It was given: the next one of an unknown outcome is due in an hour, of an event never."""
    await connection.execute(
        """
        UPDATE alerts SET number = $3, said = false,
            due_at = CASE WHEN kind = 'unknown' THEN clock_timestamp() + $4::interval END
        WHERE action_id = $1 AND kind = $2 AND number = $3 - 1
        """,
        alert.action_id,
        alert.kind.value,
        alert.number,
        EVERY,
    )


async def failed(connection: Connection, alert: Alert) -> None:
    """It was said here but not delivered: only its delivery is tried again, when it is due."""
    await connection.execute(
        "UPDATE alerts SET said = true WHERE action_id = $1 AND kind = $2 AND number = $3 - 1",
        alert.action_id,
        alert.kind.value,
        alert.number,
    )


async def stuck(connection: Connection) -> Stuck:
    """What executes with a send in doubt now, whatever its age."""
    row = await connection.fetchrow(
        f"""
        SELECT count(*) AS count, coalesce(
            extract(epoch FROM max(clock_timestamp() - a.executing_since)), 0)::float8 AS oldest_s
        FROM actions a
        WHERE a.status = 'executing' AND EXISTS (SELECT 1 FROM sends s WHERE {_DOUBTFUL})
        """
    )
    assert row is not None
    return Stuck(**row)


async def beat(connection: Connection, worker_id: str) -> None:
    """This worker lives and alerts; rows of workers long gone are removed."""
    await connection.execute(
        "INSERT INTO workers (id, last_seen) VALUES ($1, clock_timestamp())"
        " ON CONFLICT (id) DO UPDATE SET last_seen = excluded.last_seen",
        worker_id,
    )
    await connection.execute(
        "DELETE FROM workers WHERE last_seen < now() - $1::interval", FORGET_WORKERS_AFTER
    )


async def worker_lives(connection: Connection) -> bool:
    """Whether some worker beat within WORKER_LIVES_FOR."""
    lives: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT 1 FROM workers WHERE last_seen > now() - $1::interval)",
        WORKER_LIVES_FOR,
    )
    return lives
