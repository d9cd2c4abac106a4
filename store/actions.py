"""Reading actions, and the few moves that every change of an action shares.

Lock order everywhere: conversation → action → decision, send. The clock of every deadline is read
after the lock (`clock_timestamp()`): a transaction that waited must not decide by the time at which
it began.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from domain.actions import Status, check_transition
from domain.canonical import NotCanonicalError, action_digest
from domain.people import Person, Role
from store import audit, history
from store.connection import Connection
from store.turns import lock_conversation


@dataclass(frozen=True, kw_only=True)
class Action:
    """An action as its row says. Times are UTC."""

    id: str
    conversation_id: UUID
    account_id: str
    turn_id: UUID
    tool: str
    tool_version: int
    risk: str
    confirm: str
    effect: str
    payload: dict[str, Any]
    payload_hash: str
    summary: str
    request: dict[str, Any] | None
    digest: str
    business_key: str | None
    compensates: str | None
    compensated_by: str | None
    phone_number_id: str
    person: Person
    role: Role
    status: Status
    expires_at: datetime
    created_at: datetime
    decided_at: datetime | None
    executing_since: datetime | None
    finished_at: datetime | None
    reason: str | None
    detail: str | None
    result: dict[str, Any] | None
    attempt: int
    locked_until: datetime | None
    verifying_told_at: datetime | None
    looks: int
    look_at: datetime | None
    last_look: dict[str, Any] | None
    frozen_at: datetime | None

    def recomputed_digest(self) -> str:
        """The digest of the frozen columns as they stand now; must equal `digest`. Empty if they
        hold what we never write (a float): that equals nothing."""
        try:
            return action_digest(
                tool=self.tool,
                tool_version=self.tool_version,
                payload=self.payload,
                summary=self.summary,
                request=self.request,
                account_id=self.account_id,
                phone_number_id=self.phone_number_id,
                user_id=self.person.user_id,
                wa_id=self.person.wa_id,
                expires_at=self.expires_at,
            )
        except NotCanonicalError:
            return ""


_COLUMNS = """
    id, conversation_id, account_id, turn_id, tool, tool_version, risk, confirm, effect, payload,
    payload_hash, summary, request, digest, business_key, compensates, compensated_by,
    phone_number_id, user_id, wa_id, role, status, expires_at, created_at, decided_at,
    executing_since, finished_at, reason, detail, result, attempt, locked_until,
    verifying_told_at, looks, look_at, last_look, frozen_at
"""


def _action(row: asyncpg.Record) -> Action:
    fields = dict(row)
    person = Person(user_id=fields.pop("user_id"), wa_id=fields.pop("wa_id"))
    fields["status"] = Status(fields["status"])
    fields["role"] = Role(fields["role"])
    return Action(person=person, **fields)


async def find(connection: Connection, action_id: str) -> Action | None:
    """The action, or None."""
    row = await connection.fetchrow(f"SELECT {_COLUMNS} FROM actions WHERE id = $1", action_id)
    return _action(row) if row else None


async def get(connection: Connection, action_id: str) -> Action:
    """The action. Raises LookupError if there is none: our own code named it."""
    action = await find(connection, action_id)
    if action is None:
        raise LookupError(f"no action {action_id!r}")
    return action


async def language_of(connection: Connection, action: Action) -> str:
    """The language in which the action's account speaks to people."""
    language: str = await connection.fetchval(
        "SELECT language FROM accounts WHERE id = $1", action.account_id
    )
    return language


async def pending_of(connection: Connection, conversation: UUID) -> str | None:
    """The id of the conversation's pending action, if any."""
    action: str | None = await connection.fetchval(
        "SELECT id FROM actions WHERE conversation_id = $1 AND status = 'pending'", conversation
    )
    return action


async def lock(connection: Connection, action_id: str) -> tuple[Action, datetime]:
    """Lock the conversation, then the action; the action as it stands, and the time after the
    lock. Raises LookupError if there is none."""
    conversation = await connection.fetchval(
        "SELECT conversation_id FROM actions WHERE id = $1", action_id
    )
    if conversation is None:
        raise LookupError(f"no action {action_id!r}")
    await lock_conversation(connection, conversation)
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS} FROM actions WHERE id = $1 FOR UPDATE", action_id
    )
    assert row is not None
    now: datetime = await connection.fetchval("SELECT clock_timestamp()")
    return _action(row), now


MOST_OPEN = 20  # a conversation has one pending; of others more than one is rarely under way


async def recent(connection: Connection, conversation: UUID, *, limit: int) -> list[Action]:
    """The ledger's facts: the last `limit` actions of a conversation and all that are open, however
    old: one that is being verified must not fall out of sight. Newest first."""
    rows = await connection.fetch(
        f"""
        SELECT {_COLUMNS} FROM actions WHERE id IN (
            (SELECT id FROM actions WHERE conversation_id = $1
                ORDER BY created_at DESC LIMIT $2)
            UNION
            (SELECT id FROM actions WHERE conversation_id = $1
                AND status IN ('pending', 'executing') ORDER BY created_at DESC LIMIT {MOST_OPEN}))
        ORDER BY created_at DESC
        """,
        conversation,
        limit,
    )
    return [_action(row) for row in rows]


async def of_calls(
    connection: Connection, conversation: UUID, calls: Sequence[str]
) -> dict[str, Action]:
    """Which action each of these tool calls of the model led to, by the call's id; none where it
    led to none. Of several calls of one tool in one answer only the first can have."""
    rows = await connection.fetch(
        """
        SELECT DISTINCT ON (m.turn_id, m.step, a.id) block ->> 'id' AS call, a.id AS action
        FROM turns t JOIN model_answers m ON m.turn_id = t.id
        CROSS JOIN jsonb_array_elements(m.content) WITH ORDINALITY AS blocks (block, nth)
        JOIN actions a ON a.conversation_id = $1 AND a.turn_id = t.id AND a.tool = block ->> 'name'
        JOIN audit_events e ON e.action_id = a.id AND e.n = 1
            AND coalesce((e.detail ->> 'step')::int, m.step) = m.step
        WHERE t.conversation_id = $1 ORDER BY m.turn_id, m.step, a.id, nth
        """,
        conversation,
    )
    wanted = {row["call"]: row["action"] for row in rows if row["call"] in calls}
    return {call: await get(connection, action) for call, action in wanted.items()}


async def live_equal(
    connection: Connection, *, business_key: str | None, account: str, tool: str, payload_hash: str
) -> Action | None:
    """An action whose effect is the same and alive: by business key (executing or executed and not
    compensated), or the very same payload while one is executing."""
    row = await connection.fetchrow(
        f"""
        SELECT {_COLUMNS} FROM actions
        WHERE (business_key = $1 AND status IN ('executing', 'executed') AND compensated_by IS NULL)
           OR (account_id = $2 AND tool = $3 AND payload_hash = $4 AND status = 'executing')
        ORDER BY created_at LIMIT 1
        """,
        business_key,
        account,
        tool,
        payload_hash,
    )
    return _action(row) if row else None


async def change(
    connection: Connection,
    action: Action,
    after: Status,
    *,
    evidence: dict[str, Any],
    reason: str | None = None,
    detail: str | None = None,
    result: dict[str, Any] | None = None,
    decision: UUID | None = None,
    ring_in_s: float | None = None,
) -> None:
    """Move the locked action along a legal edge, with its evidence and the conversation's
    `facts_seq`, in the caller's transaction. Raises IllegalTransitionError."""
    check_transition(action.id, action.status, after)
    moved = await connection.fetchval(
        """
        UPDATE actions SET status = $3,
            reason = coalesce($4, reason), detail = coalesce($5, detail), result = coalesce($6,
            result),
            decision_id = coalesce($7, decision_id),
            decided_at = CASE WHEN $2 = 'pending' THEN clock_timestamp() ELSE decided_at END,
            executing_since = CASE WHEN $3 = 'executing' THEN clock_timestamp() ELSE
            executing_since END,
            finished_at = CASE WHEN $3 = 'executing' THEN NULL ELSE clock_timestamp() END,
            ring_at = CASE WHEN $8::float8 IS NULL THEN NULL
                ELSE clock_timestamp() + $8 * interval '1 second' END,
            rings = 0
        WHERE id = $1 AND status = $2 RETURNING id
        """,
        action.id,
        action.status.value,
        after.value,
        reason,
        detail,
        result,
        decision,
        ring_in_s,
    )
    assert moved is not None, f"action {action.id!r} is locked and must be {action.status.value!r}"
    await audit.append(connection, action.id, after.value, evidence)
    await connection.execute(
        "UPDATE conversations SET facts_seq = facts_seq + 1 WHERE id = $1", action.conversation_id
    )
    if after is Status.EXECUTED and action.compensates is not None:
        await connection.execute(
            "UPDATE actions SET compensated_by = $2 WHERE id = $1 AND compensated_by IS NULL",
            action.compensates,
            action.id,
        )


async def add_event(connection: Connection, action: Action, *, what: str, text: str) -> None:
    """A line of the conversation's history about the action, once for each `what`."""
    await history.append_event(
        connection,
        conversation=action.conversation_id,
        action=action.id,
        slot=f"action:{action.id}:{what}",
        kind="action_event",
        content={"text": text},
    )


async def add_sent_text(connection: Connection, action: Action, *, what: str, text: str) -> None:
    """What the system told the person about the action, as the model's history shows it."""
    await history.append_event(
        connection,
        conversation=action.conversation_id,
        action=action.id,
        slot=f"action:{action.id}:{what}",
        kind="sent_text",
        content={"text": text},
    )
