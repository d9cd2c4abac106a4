"""A typed yes becomes a decision like a click, and a near-yes brings one reminder.

Read at the end of a burst, under the conversation's lock, before a turn takes the message: a yes
that counts is no turn's, so no model ever sees it as words to interpret. The facts come in one
query that holds a key-share lock on the action, as the webhook does for a click; *decide* alone
judges deadline, person and role.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from domain.actions import Source, Verdict
from domain.inbound import InboundKind
from domain.texts import texts_for
from domain.typed_yes import YesFacts, is_near_yes_of, is_yes, why_no_yes
from store import actions, outbox
from store.connection import Connection
from store.outbox import NewMessage
from store.ringing import FIRST_RING_S
from store.turns import Turn


@dataclass(frozen=True, kw_only=True)
class ToRing:
    """The action whose workflow has something to do now."""

    action_id: str
    digest: str
    expires_at: datetime


async def take_yes(connection: Connection, conversation: UUID) -> ToRing | None:
    """Make a decision of the only unhandled message if it is a typed yes; else None and nothing.

    The caller's transaction holds the conversation's row.
    """
    message = await _only_message(connection, conversation)
    if message is None or not is_yes(message["text"] or "", language=message["language"]):
        return None
    found = await _facts(connection, conversation, message["id"])
    if found is None or why_no_yes(_yes_facts(message, found)) is not None:
        return None
    await _store(connection, message, found["action_id"])
    return ToRing(
        action_id=found["action_id"], digest=found["digest"], expires_at=found["expires_at"]
    )


async def _only_message(connection: Connection, conversation: UUID) -> asyncpg.Record | None:
    """The unhandled message with the language of the account that asked, if it is the only one and
    no turn is open."""
    rows = await connection.fetch(
        """
        SELECT i.id, i.kind, i.text, i.quoted_id, i.forwarded, i.sent_at, i.received_at,
            i.phone_number_id, i.user_id, i.wa_id, a.language
        FROM inbox i
        JOIN conversations c ON c.id = i.conversation_id
        JOIN accounts a ON a.id = coalesce((SELECT p.account_id FROM actions p
            WHERE p.conversation_id = $1 AND p.status = 'pending'), c.account_id)
        WHERE i.conversation_id = $1 AND i.done_at IS NULL AND i.turn_id IS NULL
            AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.conversation_id = $1
                AND t.closed_at IS NULL)
        LIMIT 2
        """,
        conversation,
    )
    return rows[0] if len(rows) == 1 else None


async def _facts(
    connection: Connection, conversation: UUID, message: UUID
) -> asyncpg.Record | None:
    """The pending action, how far its prompt came, and whether anything else went either way since
    the prompt was written. Whatever may have gone out counts as sent (`copies`), and so does a
    pause: a human may have asked something else, where we do not see it."""
    return await connection.fetchrow(
        """
        SELECT a.id AS action_id, a.digest, a.expires_at, a.confirm, p.status, p.delivered_at,
            EXISTS (SELECT 1 FROM outbox o WHERE o.conversation_id = $1 AND o.key <> p.key
                AND o.copies > 0
                AND (o.fenced_at >= p.created_at OR o.delivered_at > p.delivered_at)
            ) OR EXISTS (SELECT 1 FROM pauses h WHERE h.conversation_id = $1
                AND coalesce(h.ended_at, h.until) > p.created_at) AS sent_between,
            EXISTS (SELECT 1 FROM inbox i WHERE i.conversation_id = $1 AND i.id <> $2
                AND i.received_at >= p.created_at) AS received_between
        FROM actions a JOIN outbox p ON p.action_id = a.id AND p.purpose = 'prompt'
        WHERE a.conversation_id = $1 AND a.status = 'pending'
        FOR KEY SHARE OF a
        """,
        conversation,
        message,
    )


def _yes_facts(message: asyncpg.Record, found: asyncpg.Record) -> YesFacts:
    return YesFacts(
        language=message["language"],
        kind=InboundKind(message["kind"]),
        text=message["text"],
        quoted=message["quoted_id"] is not None,
        forwarded=message["forwarded"],
        sent_at=message["sent_at"],
        policy=found["confirm"],
        delivered=found["status"] in {"delivered", "read", "played"},
        delivered_at=found["delivered_at"],
        sent_between=found["sent_between"],
        received_between=found["received_between"],
    )


async def _store(connection: Connection, message: asyncpg.Record, action: str) -> None:
    """The decision, received when its message was; the message is done, and no turn's."""
    await connection.execute(
        f"""
        INSERT INTO decisions (id, action_id, inbox_id, verdict, source, phone_number_id, user_id,
            wa_id, received_at, ring_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
            clock_timestamp() + interval '{FIRST_RING_S} seconds')
        """,
        uuid.uuid4(),
        action,
        message["id"],
        Verdict.CONFIRM.value,
        Source.TYPED.value,
        message["phone_number_id"],
        message["user_id"],
        message["wa_id"],
        message["received_at"],
    )
    await connection.execute(
        "UPDATE inbox SET done_at = clock_timestamp(), ring_at = NULL, reason = 'typed_yes'"
        " WHERE id = $1",
        message["id"],
    )


async def remind(connection: Connection, turn: Turn) -> ToRing | None:
    """Write the one reminder to use the buttons, if a message of the turn is nearly a yes to an
    action that was pending before it came; None if there is nothing new to send.

    The caller's transaction holds the conversation's row.
    """
    near = [
        message.received_at
        for message in turn.messages
        if is_near_yes_of(InboundKind(message.kind), message.text, language=turn.who.language)
    ]
    if not near:
        return None
    action_id = await actions.pending_of(connection, turn.conversation_id)
    if action_id is None:
        return None
    action = await actions.get(connection, action_id)
    if action.created_at > max(near):
        return None  # this very turn proposed it: *take* runs again
    text = texts_for(turn.who.language).press_the_button()
    message: dict[str, Any] = {"type": "text", "text": text}
    fresh = await outbox.enqueue(
        connection,
        conversation=turn.conversation_id,
        action=action_id,
        message=NewMessage(key=f"action:{action_id}:reminder", purpose="reminder", message=message),
    )
    if not fresh:
        return None
    await actions.add_sent_text(connection, action, what="reminder", text=text)
    return ToRing(action_id=action_id, digest=action.digest, expires_at=action.expires_at)
