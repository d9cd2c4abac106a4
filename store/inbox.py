"""What came in: the durable receipt that the webhook answers for.

One transaction a webhook: the signed bytes, then each item in a savepoint of its own, so that a bad
item is a quarantined row and not a lost batch. Items are unique per (business number, key): batches
may be re-cut when Meta delivers them again. A click becomes a decision here, under a key-share lock
on its action, so that *decide* can never pass over it (design §3, locks).
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from domain.actions import Source
from domain.inbound import PERSON_KINDS, InboundItem, InboundKind, StatusUpdate, Webhook
from domain.pausing import PAUSE
from domain.people import dialled_forms
from store import identity, outbox, pauses
from store.connection import Connection
from store.pauses import Cause
from store.ringing import FIRST_RING_S, Bell, Ring

ParseButton = Callable[[str], tuple[str, str] | None]
"""The channel's reader of button ids: (`confirm` or `cancel`, action id), or None if not ours."""


@dataclass(frozen=True, kw_only=True)
class _Rules:
    """`served`: account by business number."""

    served: dict[str, str]
    parse_button: ParseButton
    pause: timedelta


FIRST_KINDS = {InboundKind.ECHO, InboundKind.IDENTITY_CHANGED}
"""Stored before the rest of their batch: they hold conversations, and a click holds its action.
Everybody else locks in that order."""


async def receive(
    connection: Connection,
    *,
    body: bytes,
    webhook: Webhook,
    parse_button: ParseButton,
    pause: timedelta = PAUSE,
) -> list[Ring]:
    """Store a verified webhook and return what to ring. One transaction; raises what asyncpg
    raises when the database is not there, and then nothing is stored. `pause`: how long the agent
    is quiet after a human wrote from another device."""
    rings: dict[tuple[str, Bell], Ring] = {}
    async with connection.transaction():
        webhook_id = await connection.fetchval(
            "INSERT INTO webhooks (id, received_at, body, items, statuses)"
            " VALUES (gen_random_uuid(), clock_timestamp(), $1, $2, $3) RETURNING id",
            body,
            len(webhook.items),
            len(webhook.statuses),
        )
        served = await _served_numbers(connection)
        rules = _Rules(served=served, parse_button=parse_button, pause=pause)
        for item in sorted(webhook.items, key=lambda one: one.kind not in FIRST_KINDS):
            for ring in await _receive_item(connection, webhook_id, item, rules):
                rings.setdefault((ring.target, ring.bell), ring)
        for status in sorted(webhook.statuses, key=lambda one: (one.wamid, one.at)):
            for ring in await _receive_status(connection, webhook_id, status):
                rings.setdefault((ring.target, ring.bell), ring)
    return list(rings.values())


async def _served_numbers(connection: Connection) -> dict[str, str]:
    rows = await connection.fetch("SELECT phone_number_id, account_id FROM business_numbers")
    return {row["phone_number_id"]: row["account_id"] for row in rows}


async def _receive_item(
    connection: Connection, webhook_id: UUID, item: InboundItem, rules: _Rules
) -> list[Ring]:
    try:
        async with connection.transaction():
            return await _store_item(connection, webhook_id, item, rules)
    except (
        asyncpg.DataError,
        asyncpg.IntegrityConstraintViolationError,
        asyncpg.RaiseError,
        ValueError,
    ) as error:
        await _quarantine(connection, webhook_id, item, reason=type(error).__name__)
        return []


async def _store_item(
    connection: Connection, webhook_id: UUID, item: InboundItem, rules: _Rules
) -> list[Ring]:
    account = rules.served.get(item.phone_number_id or "")
    ignored = _why_ignored(item, account)
    about = await _conversations(connection, item, account, make=ignored is None)
    click = None
    if item.kind is InboundKind.BUTTON and ignored is None:
        click = rules.parse_button(item.button_id or "")
        ignored = "foreign_button" if click is None else None
    waits = ignored is None and click is None
    inbox_id = await _insert(
        connection,
        webhook_id,
        item,
        conversation=about[0] if about else None,
        reason=ignored or ("click" if click else None),
        waits=waits,
    )
    if inbox_id is None:
        return []  # delivered again: this very item is stored already
    if click is not None:
        return await _store_click(connection, inbox_id, item, *click)
    if item.kind is InboundKind.IDENTITY_CHANGED:
        await identity.changed(connection, item, inbox_id=inbox_id, conversations=about)
        return [ring for one in about for ring in await _wake_open_action(connection, one)]
    if item.kind is InboundKind.ECHO:
        await _pause(connection, item, about, rules.pause)
        return []
    if waits and about:
        return [Ring(Bell.MESSAGE, conversation_id=about[0], row_id=str(inbox_id))]
    return []


async def _conversations(
    connection: Connection, item: InboundItem, account: str | None, *, make: bool
) -> list[UUID]:
    """Which conversations the item is about: of what a person does, one at most."""
    if account is None:
        return []
    if item.kind is InboundKind.IDENTITY_CHANGED:
        return await identity.touched(connection, item)
    if item.kind is InboundKind.ECHO:
        return await _addressed(connection, item, account)
    if not item.from_person and not item.beside:
        return []
    found = await _conversation(connection, item, account, make=make and item.from_person)
    return [found] if found is not None else []


async def _addressed(connection: Connection, item: InboundItem, account: str) -> list[UUID]:
    """The conversations of whom the business's own people wrote to: by his user id, else all of
    the number that they dialled. One is made for somebody new, so that he is theirs when he
    answers. Nobody for a message of our own that comes back."""
    to = item.recipient
    if to is None or not to.known or await outbox.is_ours(connection, wamid=item.key):
        return []
    rows = await connection.fetch(
        "SELECT id FROM conversations WHERE phone_number_id = $1 AND closed_at IS NULL"
        " AND (user_id = $2 OR ($2::text IS NULL AND wa_id = ANY($3::text[]))) ORDER BY created_at",
        item.phone_number_id,
        to.user_id,
        dialled_forms(to.wa_id) if to.wa_id else [],
    )
    if rows:
        return [row["id"] for row in rows]
    found = await _conversation(
        connection, item.model_copy(update={"sender": to}), account, make=True
    )
    assert found is not None
    return [found]


async def _pause(
    connection: Connection, item: InboundItem, conversations: list[UUID], lasts: timedelta
) -> None:
    for one in conversations:
        await pauses.begin(connection, one, cause=Cause.ECHO, lasts=lasts, began=item.sent_at)


def _why_ignored(item: InboundItem, account: str | None) -> str | None:
    if item.kind is InboundKind.QUARANTINED:
        return f"quarantined: {item.reason}"[:200]
    if account is None:
        return "number_not_served"
    if item.group_id:
        return "group"
    if item.kind not in PERSON_KINDS:
        return f"not_input: {item.kind.value}"
    if item.sender is None or not item.sender.known:
        return "no_sender"
    if item.kind is InboundKind.BUTTON and item.forwarded:
        return "forwarded_button"
    return None


async def _conversation(
    connection: Connection, item: InboundItem, account: str, *, make: bool
) -> UUID | None:
    """The person's conversation on this number, by user id first, by phone only where no user id is
    known. A phone-only conversation is bound to the user id that it first shows (design §6)."""
    assert item.sender is not None
    user_id, wa_id = item.sender.user_id, item.sender.wa_id
    found: UUID | None = None
    if user_id is not None:
        found = await connection.fetchval(
            "SELECT id FROM conversations WHERE phone_number_id = $1 AND user_id = $2"
            " AND closed_at IS NULL",
            item.phone_number_id,
            user_id,
        )
        if found is None and wa_id is not None:
            found = await connection.fetchval(
                "UPDATE conversations SET user_id = $2 WHERE phone_number_id = $1 AND wa_id = $3"
                " AND user_id IS NULL AND closed_at IS NULL RETURNING id",
                item.phone_number_id,
                user_id,
                wa_id,
            )
    else:
        found = await connection.fetchval(
            "SELECT id FROM conversations WHERE phone_number_id = $1 AND wa_id = $2"
            " AND user_id IS NULL AND closed_at IS NULL",
            item.phone_number_id,
            wa_id,
        )
    if found is not None or not make:
        return found
    return await _make_conversation(connection, item, account)


async def _make_conversation(connection: Connection, item: InboundItem, account: str) -> UUID:
    assert item.sender is not None
    made: UUID | None = await connection.fetchval(
        "INSERT INTO conversations (id, account_id, phone_number_id, user_id, wa_id)"
        " VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING id",
        uuid.uuid4(),
        account,
        item.phone_number_id,
        item.sender.user_id,
        item.sender.wa_id,
    )
    if made is not None:
        return made
    again = await _conversation(connection, item, account, make=False)
    if again is None:
        raise ValueError("the conversation was made and closed at the same moment")
    return again


async def _insert(
    connection: Connection,
    webhook_id: UUID,
    item: InboundItem,
    *,
    conversation: UUID | None,
    reason: str | None,
    waits: bool,
) -> UUID | None:
    sender = item.sender
    inserted: UUID | None = await connection.fetchval(
        f"""
        INSERT INTO inbox (id, webhook_id, phone_number_id, key, kind, conversation_id, user_id,
            wa_id, name, sent_at, received_at, text, button_id, quoted_id, forwarded, raw, reason,
            done_at, ring_at)
        VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp(), $10, $11,
            $12, $13, $14, $15,
            CASE WHEN $16 THEN NULL ELSE clock_timestamp() END,
            CASE WHEN $16 THEN clock_timestamp() + interval '{FIRST_RING_S} seconds' END)
        ON CONFLICT (phone_number_id, key) DO NOTHING RETURNING id
        """,
        webhook_id,
        item.phone_number_id or "",
        item.key,
        item.kind.value,
        conversation,
        sender.user_id if sender else None,
        sender.wa_id if sender else None,
        sender.name if sender else None,
        item.sent_at,
        item.text,
        item.button_id,
        item.quoted_id,
        item.forwarded,
        item.raw,
        reason,
        waits,
    )
    return inserted


async def _store_click(
    connection: Connection, inbox_id: UUID, item: InboundItem, verdict: str, action_id: str
) -> list[Ring]:
    """A decision row, under a key-share lock on the action; `received_at` is read after the lock.

    An id that names no action leaves no decision: the item itself is the record, and the sender
    hears nothing (design §6).
    """
    action = await connection.fetchrow(
        "SELECT id, digest, expires_at FROM actions WHERE id = $1 FOR KEY SHARE", action_id
    )
    if action is None:
        await connection.execute(
            "UPDATE inbox SET reason = 'unknown_action' WHERE id = $1", inbox_id
        )
        return []
    assert item.sender is not None
    await connection.execute(
        f"""
        INSERT INTO decisions (id, action_id, inbox_id, verdict, source, phone_number_id, user_id,
            wa_id, received_at, ring_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(),
            clock_timestamp() + interval '{FIRST_RING_S} seconds')
        """,
        uuid.uuid4(),
        action_id,
        inbox_id,
        verdict,
        Source.BUTTON.value,
        item.phone_number_id,
        item.sender.user_id,
        item.sender.wa_id,
    )
    return [_ring_action(Bell(verdict), action, row_id=str(inbox_id))]


def _ring_action(bell: Bell, action: asyncpg.Record, *, row_id: str) -> Ring:
    digest: str = action["digest"]
    expires_at: datetime = action["expires_at"]
    return Ring(bell, action_id=action["id"], digest=digest, expires_at=expires_at, row_id=row_id)


async def _wake_open_action(connection: Connection, conversation: UUID) -> list[Ring]:
    rows = await connection.fetch(
        "SELECT id, digest, expires_at FROM actions WHERE conversation_id = $1"
        " AND status = 'pending' FOR KEY SHARE",
        conversation,
    )
    return [_ring_action(Bell.WAKE, row, row_id="") for row in rows]


async def _receive_status(
    connection: Connection, webhook_id: UUID, status: StatusUpdate
) -> list[Ring]:
    try:
        async with connection.transaction():
            return await outbox.apply_status(connection, status)
    except (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError) as error:
        await _quarantine_raw(
            connection,
            webhook_id,
            phone_number_id=status.phone_number_id or "",
            raw=status.raw,
            reason=f"status: {type(error).__name__}",
        )
        return []


async def _quarantine(
    connection: Connection, webhook_id: UUID, item: InboundItem, *, reason: str
) -> None:
    await _quarantine_raw(
        connection,
        webhook_id,
        phone_number_id=item.phone_number_id or "",
        raw=item.raw,
        reason=reason,
    )


async def _quarantine_raw(
    connection: Connection, webhook_id: UUID, *, phone_number_id: str, raw: bytes, reason: str
) -> None:
    await connection.execute(
        """
        INSERT INTO inbox (id, webhook_id, phone_number_id, key, kind, received_at, raw, reason,
            done_at)
        VALUES (gen_random_uuid(), $1, $2, 'sha256:' || encode(sha256($3), 'hex'),
            'quarantined', clock_timestamp(), $3, left($4, 200), clock_timestamp())
        ON CONFLICT (phone_number_id, key) DO NOTHING
        """,
        webhook_id,
        ascii(phone_number_id.replace("\x00", ""))[1:-1][:64],  # it may be what is bad of it
        raw,
        f"quarantined: {reason}",
    )
