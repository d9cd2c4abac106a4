"""What operators see of actions, from the rows alone: it works with Temporal down.

Ids of people leave this file shortened to their last four characters: a list on a screen, in a
ticket or a pipe needs to tell persons apart, not to call them.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from domain.actions import Status
from domain.errors import OperatorError
from store import actions, audit
from store.actions import Action
from store.connection import Connection


@dataclass(frozen=True, kw_only=True)
class Listed:
    """An action in a list. Times are UTC; `person` are the last four characters of an id. `seen`:
    what the last look-up saw, else what the last send answered. `age` since it was decided, or
    proposed."""

    id: str
    account: str
    time_zone: str
    tool: str
    status: Status
    role: str
    person: str
    created_at: datetime
    expires_at: datetime
    executing_since: datetime | None
    finished_at: datetime | None
    reason: str | None
    age: timedelta
    frozen: bool
    sends: int
    last_event: str | None
    last_event_at: datetime | None
    seen: str | None


@dataclass(frozen=True, kw_only=True)
class Decided:
    """A stored decision. `name` is the member's, if the person is one now."""

    verdict: str
    source: str
    role: str | None
    name: str | None
    person: str | None
    operator: str | None
    evidence: str | None
    received_at: datetime
    answered_at: datetime | None
    followed: bool | None
    refusal: str | None


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One trip to the provider and what it answered; no outcome: it may have been sent."""

    n: int
    attempt: int
    fenced_at: datetime
    outcome: str | None
    outcome_at: datetime | None
    provider_ref: str | None
    reason: str | None
    data: Any
    evidence: Any


@dataclass(frozen=True, kw_only=True)
class Told:
    """A message to the person about the action."""

    what: str
    purpose: str
    state: str
    copies: int
    status: str | None
    delivered_at: datetime | None
    error_code: int | None
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link of the evidence chain."""

    n: int
    at: datetime
    event: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything about one action."""

    action: Action
    time_zone: str
    decisions: list[Decided]
    sends: list[Sent]
    messages: list[Told]
    chain: list[Link]
    broken_links: list[int]

    @property
    def digest_holds(self) -> bool:
        """Whether the frozen columns are still what the digest was made of."""
        return self.action.recomputed_digest() == self.action.digest


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which actions a list shows; None does not narrow. `older_than` and `since` are UTC."""

    status: Status | None = None
    created_before: datetime | None = None
    created_since: datetime | None = None
    person: str | None = None
    tool: str | None = None
    account: str | None = None
    amount_cents: int | None = None
    limit: int = 50


async def list_actions(connection: Connection, wanted: Wanted) -> list[Listed]:
    """The actions wanted, newest first. `person` is a whole user id or phone, or the last digits
    of one."""
    rows = await connection.fetch(
        """
        SELECT a.id, a.account_id AS account, c.time_zone, a.tool, a.status, a.role,
               right(coalesce(a.user_id, a.wa_id), 4) AS person,
               a.created_at, a.expires_at, a.executing_since, a.finished_at, a.reason,
               now() - coalesce(a.executing_since, a.created_at) AS age,
               a.frozen_at IS NOT NULL AS frozen,
               (SELECT count(*) FROM sends s WHERE s.action_id = a.id) AS sends,
               link.event AS last_event, link.at AS last_event_at,
               coalesce(a.last_look ->> 'presence', (SELECT s.outcome FROM sends s
                   WHERE s.action_id = a.id ORDER BY s.n DESC LIMIT 1)) AS seen
        FROM actions a JOIN accounts c ON c.id = a.account_id
        LEFT JOIN LATERAL (SELECT e.event, e.at FROM audit_events e
            WHERE e.action_id = a.id AND e.event <> 'message_accepted'
            ORDER BY e.n DESC LIMIT 1) link ON true
        WHERE ($1::text IS NULL OR a.status = $1)
          AND ($2::timestamptz IS NULL OR a.created_at < $2)
          AND ($3::timestamptz IS NULL OR a.created_at >= $3)
          AND ($4::text IS NULL OR right(a.user_id, length($4)) = $4
               OR right(a.wa_id, length($4)) = $4)
          AND ($5::text IS NULL OR a.tool = $5)
          AND ($6::text IS NULL OR a.account_id = $6)
          AND ($7::bigint IS NULL OR a.payload @> jsonb_build_object('amount_cents', $7::bigint))
        ORDER BY a.created_at DESC, a.id LIMIT $8
        """,
        wanted.status.value if wanted.status else None,
        wanted.created_before,
        wanted.created_since,
        wanted.person,
        wanted.tool,
        wanted.account,
        wanted.amount_cents,
        wanted.limit,
    )
    return [Listed(**{**dict(row), "status": Status(row["status"])}) for row in rows]


async def resolve(connection: Connection, prefix: str) -> str:
    """The id that begins with `prefix`, lower-case hex. Raises OperatorError for none or
    several."""
    rows = await connection.fetch(
        "SELECT id FROM actions WHERE id >= $1 AND id < $1 || 'g' ORDER BY id LIMIT 2", prefix
    )
    if not rows:
        raise OperatorError(f"there is no action {prefix!r}; see `aval actions list`")
    if len(rows) > 1:
        raise OperatorError(f"several actions begin with {prefix!r}; give more of the id")
    found: str = rows[0]["id"]
    return found


async def report(connection: Connection, action_id: str) -> Report:
    """Everything about an action, of one moment. Raises LookupError if there is none."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        action = await actions.get(connection, action_id)
        return Report(
            action=action,
            time_zone=await connection.fetchval(
                "SELECT time_zone FROM accounts WHERE id = $1", action.account_id
            ),
            decisions=[Decided(**dict(row)) for row in await _decisions(connection, action)],
            sends=[Sent(**dict(row)) for row in await _sends(connection, action_id)],
            messages=[Told(**dict(row)) for row in await _messages(connection, action_id)],
            chain=[
                Link(**dict(row))
                for row in await connection.fetch(
                    "SELECT n, at, event FROM audit_events WHERE action_id = $1 ORDER BY n",
                    action_id,
                )
            ],
            broken_links=await audit.broken_links(connection, action_id),
        )


async def _decisions(connection: Connection, action: Action) -> list[asyncpg.Record]:
    return await connection.fetch(
        """
        SELECT d.verdict, d.source, m.role, m.name,
               right(coalesce(d.user_id, d.wa_id), 4) AS person,
               d.operator, d.evidence, d.received_at, d.answered_at, d.followed, d.refusal
        FROM decisions d
        LEFT JOIN LATERAL (
            SELECT m.role, m.name FROM members m
            WHERE m.account_id = $2 AND m.active
              AND (m.user_id = d.user_id OR (d.user_id IS NULL AND m.wa_id = d.wa_id))
            LIMIT 1) m ON true
        WHERE d.action_id = $1 ORDER BY d.seq
        """,
        action.id,
        action.account_id,
    )


async def _sends(connection: Connection, action_id: str) -> list[asyncpg.Record]:
    return await connection.fetch(
        "SELECT n, attempt, fenced_at, outcome, outcome_at, provider_ref, reason, data, evidence"
        " FROM sends WHERE action_id = $1 ORDER BY n",
        action_id,
    )


async def _messages(connection: Connection, action_id: str) -> list[asyncpg.Record]:
    return await connection.fetch(
        """
        SELECT split_part(key, ':', 3) AS what, purpose, state, copies, status, delivered_at,
               error_code, reason
        FROM outbox WHERE action_id = $1 ORDER BY seq
        """,
        action_id,
    )
