"""What came in: the durable receipt that the webhook answers for.

One transaction a webhook: the signed bytes, then each item in a savepoint of its own, so that a bad
item is a quarantined row and not a lost batch. Items are unique per (business number, key): batches
may be re-cut when Meta delivers them again. A click becomes a decision here, under a key-share lock
on its action, so that *decide* can never pass over it (design §3, locks).
"""

import uuid
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import asyncpg

from domain.actions import Source
from domain.inbound import PERSON_KINDS, InboundItem, InboundKind, StatusUpdate, Webhook
from store import outbox
from store.connection import Connection
from store.ringing import FIRST_RING_S, Bell, Ring

ParseButton = Callable[[str], tuple[str, str] | None]
"""The channel's reader of button ids: (`confirm` or `cancel`, action id), or None if not ours."""


async def receive(
    connection: Connection, *, body: bytes, webhook: Webhook, parse_button: ParseButton
) -> list[Ring]:
    """Store a verified webhook and return what to ring. One transaction; raises what asyncpg
    raises when the database is not there, and then nothing is stored."""
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
        for item in webhook.items:
            for ring in await _receive_item(connection, webhook_id, item, served, parse_button):
                rings.setdefault((ring.target, ring.bell), ring)
        for status in sorted(webhook.statuses, key=lambda one: (one.wamid, one.at)):
            for ring in await _receive_status(connection, webhook_id, status):
                rings.setdefault((ring.target, ring.bell), ring)
    return list(rings.values())


async def _served_numbers(connection: Connection) -> dict[str, str]:
    rows = await connection.fetch("SELECT phone_number_id, account_id FROM business_numbers")
    return {row["phone_number_id"]: row["account_id"] for row in rows}


async def _receive_item(
    connection: Connection,
    webhook_id: UUID,
    item: InboundItem,
    served: dict[str, str],
    parse_button: ParseButton,
) -> list[Ring]:
    try:
        async with connection.transaction():
            return await _store_item(connection, webhook_id, item, served, parse_button)
    except (
        asyncpg.DataError,
        asyncpg.IntegrityConstraintViolationError,
        asyncpg.RaiseError,
        ValueError,
    ) as error:
        await _quarantine(connection, webhook_id, item, reason=type(error).__name__)
        return []


async def _store_item(
    connection: Connection,
    webhook_id: UUID,
    item: InboundItem,
    served: dict[str, str],
    parse_button: ParseButton,
) -> list[Ring]:
    account = served.get(item.phone_number_id or "")
    ignored = _why_ignored(item, account)
    conversation = None
    if account is not None and item.kind is InboundKind.IDENTITY_CHANGED:
        conversation = await _changed_conversation(connection, item)
    elif account is not None and item.from_person:
        conversation = await _conversation(connection, item, account, make=ignored is None)
    elif account is not None and item.beside:
        conversation = await _conversation(connection, item, account, make=False)
    click = None
    if item.kind is InboundKind.BUTTON and ignored is None:
        click = parse_button(item.button_id or "")
        ignored = "foreign_button" if click is None else None
    waits = ignored is None and click is None
    inbox_id = await _insert(
        connection,
        webhook_id,
        item,
        conversation=conversation,
        reason=ignored or ("click" if click else None),
        waits=waits,
    )
    if inbox_id is None:
        return []  # delivered again: this very item is stored already
    if click is not None:
        return await _store_click(connection, inbox_id, item, *click)
    if item.kind is InboundKind.IDENTITY_CHANGED and conversation is not None:
        return await _wake_open_action(connection, conversation)
    if waits and conversation is not None:
        return [Ring(Bell.MESSAGE, conversation_id=conversation, row_id=str(inbox_id))]
    return []


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


async def _changed_conversation(connection: Connection, item: InboundItem) -> UUID | None:
    """The conversation of whoever became somebody else to us, by any id that he had before: his
    user id first, then the conversation that the phone had last."""
    change, sender = item.identity, item.sender
    known = [change.previous_user_id if change else None, sender.user_id if sender else None]
    phones = [change.previous_wa_id if change else None, sender.wa_id if sender else None]
    found: UUID | None = await connection.fetchval(
        "SELECT id FROM conversations WHERE phone_number_id = $1 AND closed_at IS NULL"
        " AND (user_id = ANY($2::text[]) OR wa_id = ANY($3::text[]))"
        " ORDER BY coalesce(user_id = ANY($2::text[]), false) DESC, created_at DESC LIMIT 1",
        item.phone_number_id,
        [one for one in known if one],
        [one for one in phones if one],
    )
    return found


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
