"""What goes out: each message once a key, with the fence rule, since WhatsApp has no idempotency
key.

A row is written in the transaction of the fact that it tells. It is sent under our key, which every
status brings back. A send that may have gone out is `unknown`: wait for its status for 60 seconds,
then decide by purpose (design §7). Statuses only move forward.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from domain.inbound import DeliveryStatus, StatusUpdate
from store import audit
from store.connection import Connection
from store.ringing import FIRST_RING_S, Bell, Ring

STATUS_WAIT_S = 60  # statuses normally follow within seconds (facts/whatsapp.md §3.6)
MOST_COPIES = 5
"""Of what is repeated at all, each a minute after the one before and only while all of them are in
doubt: one or two may be lost with the processes that sent them, and who confirmed must have a word
(ADR 0004). A copy says which action it is of, so it is true when read twice."""
GIVE_UP_S = 24 * 3600  # the customer-service window: later a free message is refused anyway

_RANK = {
    None: 0,
    DeliveryStatus.SENT: 1,
    DeliveryStatus.DELIVERED: 2,
    DeliveryStatus.READ: 3,
    DeliveryStatus.PLAYED: 4,
    DeliveryStatus.FAILED: 5,  # wins and stays
}


@dataclass(frozen=True, kw_only=True)
class NewMessage:
    """A message to write: `key` is unique for ever, `purpose` decides about repeating it."""

    key: str
    purpose: str
    message: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class DueMessage:
    """A row that may be sent now. `repeated` says that an earlier copy may have arrived."""

    key: str
    purpose: str
    message: dict[str, Any]
    phone_number_id: str
    user_id: str | None
    wa_id: str | None
    action_id: str | None
    language: str
    repeated: bool


async def enqueue(
    connection: Connection,
    *,
    conversation: UUID,
    message: NewMessage,
    action: str | None = None,
    turn: UUID | None = None,
) -> bool:
    """Write the row; False if the key exists already, which is success: it is said once."""
    key = await connection.fetchval(
        f"""
        INSERT INTO outbox (key, conversation_id, action_id, turn_id, purpose, message, state,
            created_at, ring_at)
        VALUES ($1, $2, $3, $4, $5, $6, 'waiting', clock_timestamp(),
            clock_timestamp() + interval '{FIRST_RING_S} seconds')
        ON CONFLICT (key) DO NOTHING RETURNING key
        """,
        message.key,
        conversation,
        action,
        turn,
        message.purpose,
        message.message,
    )
    return key is not None


async def exists(connection: Connection, key: str) -> bool:
    """Whether the message was written already."""
    return await connection.fetchval("SELECT 1 FROM outbox WHERE key = $1", key) is not None


async def is_ours(connection: Connection, *, wamid: str) -> bool:
    """Whether WhatsApp gave this id to a message of ours."""
    return (
        await connection.fetchval("SELECT 1 FROM outbox_wamids WHERE wamid = $1", wamid) is not None
    )


_DUE = """
    (o.state = 'waiting'
     OR (o.state IN ('sending', 'unknown')
         AND o.fenced_at < clock_timestamp() - $3 * interval '1 second'))
"""


async def due(
    connection: Connection, *, action: str | None = None, conversation: UUID | None = None
) -> list[str]:
    """The keys that want sending now, in their order: of one action, or of a conversation's
    turns."""
    rows = await connection.fetch(
        f"SELECT key FROM outbox o WHERE done_at IS NULL AND {_DUE}"
        " AND (($1::text IS NOT NULL AND action_id = $1)"
        "   OR ($2::uuid IS NOT NULL AND conversation_id = $2 AND action_id IS NULL))"
        " ORDER BY seq",
        action,
        conversation,
        float(STATUS_WAIT_S),
    )
    return [row["key"] for row in rows]


async def claim(connection: Connection, key: str) -> DueMessage | None:
    """Fence one send: the returned row is the right to send it once. None: not now, or never.

    A prompt and its reminder need their action pending, a repetition needs a copy left. What may no
    longer be sent is dropped here, with its reason.
    """
    async with connection.transaction():
        row = await connection.fetchrow(
            f"""
            SELECT o.key, o.purpose, o.message, o.state, o.copies, o.action_id, c.phone_number_id,
                c.user_id, c.wa_id, acc.language, a.status AS action_status,
                o.created_at < clock_timestamp() - interval '{GIVE_UP_S} seconds' AS too_old
            FROM outbox o JOIN conversations c ON c.id = o.conversation_id
            JOIN accounts acc ON acc.id = c.account_id
            LEFT JOIN actions a ON a.id = o.action_id
            WHERE o.key = $1 AND o.done_at IS NULL AND {_DUE.replace("$3", "$2")}
            FOR NO KEY UPDATE OF o
            """,
            key,
            float(STATUS_WAIT_S),
        )
        if row is None:
            return None
        if (why_not := _why_dropped(row)) is not None:
            await _drop(connection, key, reason=why_not)
            return None
        await connection.execute(
            f"""
            UPDATE outbox SET state = 'sending', copies = copies + 1, fenced_at = clock_timestamp(),
                ring_at = clock_timestamp() + interval '{STATUS_WAIT_S + FIRST_RING_S} seconds'
            WHERE key = $1
            """,
            key,
        )
        return DueMessage(
            key=row["key"],
            purpose=row["purpose"],
            message=row["message"],
            phone_number_id=row["phone_number_id"],
            user_id=row["user_id"],
            wa_id=row["wa_id"],
            action_id=row["action_id"],
            language=row["language"],
            repeated=row["copies"] > 0,  # a repetition that was given back waits, yet is one
        )


def _why_dropped(row: asyncpg.Record) -> str | None:
    if row["purpose"] in {"prompt", "reminder"} and row["action_status"] != "pending":
        return "action_not_pending"
    if row["too_old"]:
        return "too_old"
    if row["state"] == "waiting":
        return None
    if row["purpose"] in {"reply", "notice", "reminder"}:
        return "unknown_not_repeated"
    if row["purpose"] == "verifying" and row["action_status"] != "executing":
        return "action_not_executing"  # its receipt tells all
    if row["copies"] >= MOST_COPIES:
        return "unknown_repeated_enough"
    return None


async def _drop(connection: Connection, key: str, *, reason: str) -> None:
    """No further copy. `dropped` says that none arrived; a copy in doubt stays in doubt, or a
    prompt that the person may have seen would count as failed."""
    await connection.execute(
        "UPDATE outbox SET state = CASE WHEN copies > 0 THEN 'unknown' ELSE 'dropped' END,"
        " reason = $2, ring_at = NULL, done_at = clock_timestamp() WHERE key = $1",
        key,
        reason,
    )


async def accepted(connection: Connection, key: str, *, wamid: str) -> None:
    """WhatsApp took it: accepted, not delivered. Writes evidence for an action's message."""
    async with connection.transaction():
        await _link(connection, wamid=wamid, key=key)
        action = await connection.fetchval(
            "UPDATE outbox SET state = 'accepted', wamid = $2, ring_at = NULL,"
            " done_at = coalesce(done_at, clock_timestamp()) WHERE key = $1 RETURNING action_id",
            key,
            wamid,
        )
        await _catch_up(connection, key)
        if action is not None:
            # NO KEY: a webhook may hold a click's key-share lock and wait for our row.
            await connection.execute(
                "SELECT 1 FROM actions WHERE id = $1 FOR NO KEY UPDATE", action
            )
            await audit.append(connection, action, "message_accepted", {"key": key})


async def not_sent(connection: Connection, key: str, *, ring_in_s: float, reason: str) -> None:
    """This copy certainly did not go out. Temporal tries again; the sweeper in `ring_in_s`."""
    await connection.execute(
        """
        UPDATE outbox SET state = 'waiting', copies = copies - 1, reason = left($3, 200),
            ring_at = clock_timestamp() + $2 * interval '1 second'
        WHERE key = $1 AND state = 'sending'
        """,
        key,
        ring_in_s,
        reason,
    )


async def refused(connection: Connection, key: str, *, error_code: int | None, reason: str) -> None:
    """WhatsApp refused this copy for good. A prompt's action is closed by *decide*, which the
    caller wakes: nobody may confirm what he never saw. An earlier copy that may have arrived keeps
    the message in doubt; one whose status came meanwhile keeps it accepted."""
    async with connection.transaction():
        await connection.execute(
            """
            UPDATE outbox SET state = CASE WHEN copies > 1 THEN 'unknown' ELSE 'dropped' END,
                copies = copies - 1, error_code = $2, reason = left($3, 200), ring_at = NULL,
                done_at = clock_timestamp()
            WHERE key = $1 AND state = 'sending'
            """,
            key,
            error_code,
            reason,
        )
        await _ring_if_prompt_failed(connection, key)


async def _ring_if_prompt_failed(connection: Connection, key: str) -> None:
    """The action of a prompt that certainly failed is work left: rung for even if the bell that
    follows is lost, or the person would wait in vain until the deadline."""
    await connection.execute(
        f"""
        UPDATE actions a SET rings = 0, ring_at =
            least(a.ring_at, clock_timestamp() + interval '{FIRST_RING_S} seconds')
        FROM outbox o WHERE o.key = $1 AND o.purpose = 'prompt' AND a.id = o.action_id
            AND a.status = 'pending' AND (o.state = 'dropped' OR o.status = 'failed')
        """,
        key,
    )


async def unknown(connection: Connection, key: str, *, reason: str) -> None:
    """This copy may have gone out: wait for its status before anything else."""
    await connection.execute(
        "UPDATE outbox SET state = 'unknown', reason = left($2, 200) WHERE key = $1 AND state ="
        " 'sending'",
        key,
        reason,
    )


async def apply_status(connection: Connection, status: StatusUpdate) -> list[Ring]:
    """Store a status and move its message forward. Duplicates and unknown ids are normal.

    Returns a ring for the action of a prompt that failed or whose delivery was in doubt.
    """
    new = await connection.fetchval(
        "INSERT INTO statuses (phone_number_id, wamid, status, at, callback_data, error_code, raw,"
        " received_at) VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())"
        " ON CONFLICT DO NOTHING RETURNING id",
        status.phone_number_id or "",
        status.wamid,
        status.status.value,
        status.at,
        status.callback_data,
        status.error_code,
        status.raw,
    )
    if new is None:
        return []
    key = await connection.fetchval(
        "SELECT key FROM outbox WHERE key = $1"
        " UNION ALL SELECT key FROM outbox_wamids WHERE wamid = $2 LIMIT 1",
        status.callback_data or "",
        status.wamid,
    )
    if key is None:
        return []
    await _link(connection, wamid=status.wamid, key=key)
    return await _forward(connection, key, status)


async def _forward(connection: Connection, key: str, status: StatusUpdate) -> list[Ring]:
    row = await connection.fetchrow(
        "SELECT state, status, action_id, purpose, copies FROM outbox WHERE key = $1 FOR NO KEY"
        " UPDATE",
        key,
    )
    assert row is not None
    before = DeliveryStatus(row["status"]) if row["status"] else None
    if _RANK[status.status] <= _RANK[before]:
        return []
    failed = status.status is DeliveryStatus.FAILED
    if failed and await _failed_copies(connection, key) < row["copies"]:
        return []  # another copy may have arrived
    await connection.execute(
        """
        UPDATE outbox SET status = $2, wamid = coalesce(wamid, $3), state = 'accepted',
            error_code = coalesce($4, error_code), ring_at = NULL,
            delivered_at = CASE WHEN $2 IN ('delivered', 'read', 'played')
                THEN coalesce(delivered_at, $5) ELSE delivered_at END,
            done_at = coalesce(done_at, clock_timestamp())
        WHERE key = $1
        """,
        key,
        status.status.value,
        status.wamid,
        status.error_code,
        status.at,
    )
    if not failed or row["purpose"] != "prompt" or row["action_id"] is None:
        return []
    await _ring_if_prompt_failed(connection, key)
    return [await _ring(connection, row["action_id"])]


async def _failed_copies(connection: Connection, key: str) -> int:
    """How many copies WhatsApp reported as failed."""
    count: int = await connection.fetchval(
        "SELECT count(DISTINCT s.wamid) FROM statuses s JOIN outbox_wamids w USING (wamid)"
        " WHERE w.key = $1 AND s.status = 'failed'",
        key,
    )
    return count


async def _ring(connection: Connection, action_id: str) -> Ring:
    row = await connection.fetchrow(
        "SELECT digest, expires_at FROM actions WHERE id = $1", action_id
    )
    assert row is not None
    digest: str = row["digest"]
    expires_at: datetime = row["expires_at"]
    return Ring(Bell.WAKE, action_id=action_id, digest=digest, expires_at=expires_at)


async def _link(connection: Connection, *, wamid: str, key: str) -> None:
    await connection.execute(
        "INSERT INTO outbox_wamids (wamid, key) VALUES ($1, $2) ON CONFLICT DO NOTHING", wamid, key
    )


async def _catch_up(connection: Connection, key: str) -> None:
    """Apply statuses that came before the answer to our send told us the wamid. One failed copy of
    two proves nothing."""
    await connection.execute(
        """
        UPDATE outbox o SET status = s.status,
            delivered_at = CASE WHEN s.status = 'failed' THEN o.delivered_at ELSE s.at END
        FROM (SELECT st.status, st.at FROM statuses st JOIN outbox_wamids w USING (wamid)
              WHERE w.key = $1 AND st.status IN ('delivered', 'read', 'played', 'failed')
              ORDER BY array_position(ARRAY['delivered', 'read', 'played', 'failed'], st.status)
              DESC LIMIT 1) s
        WHERE o.key = $1 AND o.status IS NULL AND (s.status <> 'failed' OR o.copies <= $2)
        """,
        key,
        await _failed_copies(connection, key),
    )
    await _ring_if_prompt_failed(connection, key)
