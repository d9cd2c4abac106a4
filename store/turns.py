"""Turns: which messages an answer is for, and what the model said, each stored before it is used.

A turn takes all unhandled messages in one statement; an open turn comes first, with exactly its own
messages, since *take* may run twice (design §3; facts/spike.md: a local activity can run again
after a kill, and messages added to a stored answer would make it wrong).
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from domain import ids
from domain.inbound import InboundKind
from domain.people import Person, Role, Who
from store import history
from store.connection import Connection

MOST_MESSAGES = 50  # a burst beyond this is cut; the rest makes the next turn
WORKING_S = 30  # a turn at work is not rung for this long
ECHO = InboundKind.ECHO.value


@dataclass(frozen=True, kw_only=True)
class TakenMessage:
    """A message of the turn; `text` is None for kinds that carry none, a voice message's transcript
    if it was heard."""

    inbox_id: UUID
    kind: str
    text: str | None
    quoted: bool
    forwarded: bool
    sent_at: datetime | None
    received_at: datetime


@dataclass(frozen=True, kw_only=True)
class Turn:
    """An open turn with its own messages and for whom it works. `shared`: its business number
    serves several accounts. `echoes`: what the business's own people wrote meanwhile."""

    id: UUID
    conversation_id: UUID
    phone_number_id: str
    who: Who
    account_name: str
    prompt_file: str | None
    settings: dict[str, Any]
    facts_seq: int
    messages: list[TakenMessage]
    shared: bool = False
    echoes: list[TakenMessage] = field(default_factory=list)


async def lock_conversation(connection: Connection, conversation: UUID) -> None:
    """Hold the conversation's row; NO KEY, so that the webhook's inserts never wait for it."""
    await connection.execute(
        "SELECT 1 FROM conversations WHERE id = $1 FOR NO KEY UPDATE", conversation
    )


async def open_of(connection: Connection, conversation: UUID) -> UUID | None:
    """The open turn of the conversation, if there is one."""
    turn: UUID | None = await connection.fetchval(
        "SELECT id FROM turns WHERE conversation_id = $1 AND closed_at IS NULL", conversation
    )
    return turn


async def take(
    connection: Connection, conversation: UUID, *, account: str | None = None
) -> UUID | None:
    """The open turn of the conversation, or a new one of all unhandled messages; None if there are
    none. Run it in a transaction of the caller, who then reads the turn. `account`: for which a new
    turn works; the number's own without it."""
    await lock_conversation(connection, conversation)
    open_turn = await open_of(connection, conversation)
    if open_turn is not None:
        return open_turn
    first: UUID | None = await connection.fetchval(
        "SELECT id FROM inbox WHERE conversation_id = $1 AND done_at IS NULL AND turn_id IS NULL"
        " ORDER BY coalesce(sent_at, received_at), seq LIMIT 1",
        conversation,
    )
    if first is None:
        return None
    turn = ids.turn_id(first)
    await connection.execute(
        "INSERT INTO turns (id, conversation_id, opened_at, account_id)"
        " VALUES ($1, $2, clock_timestamp(), $3)",
        turn,
        conversation,
        account,
    )
    await connection.execute(
        f"""
        UPDATE inbox SET turn_id = $2, ring_at = clock_timestamp() + interval '{WORKING_S} seconds'
        WHERE id IN (
            SELECT id FROM inbox WHERE conversation_id = $1 AND done_at IS NULL AND turn_id IS NULL
            ORDER BY coalesce(sent_at, received_at), seq LIMIT {MOST_MESSAGES})
        """,
        conversation,
        turn,
    )
    return turn


async def take_echoes(connection: Connection, conversation: UUID, turn: UUID) -> set[UUID]:
    """Give the turn what the business's own people wrote since the last one; the ids of those that
    it did not have yet."""
    rows = await connection.fetch(
        "UPDATE inbox SET turn_id = $2 WHERE conversation_id = $1 AND kind = 'echo'"
        " AND turn_id IS NULL RETURNING id",
        conversation,
        turn,
    )
    return {row["id"] for row in rows}


async def read(connection: Connection, turn: UUID) -> Turn:
    """The turn with its messages. Raises LookupError for an unknown id."""
    row = await connection.fetchrow(
        """
        SELECT t.id, t.conversation_id, c.phone_number_id, c.user_id, c.wa_id, c.facts_seq,
            a.id AS account_id, a.name, a.time_zone, a.language, a.prompt_file, a.settings,
            EXISTS (SELECT 1 FROM shared_numbers s WHERE s.phone_number_id = c.phone_number_id)
                AS shared
        FROM turns t JOIN conversations c ON c.id = t.conversation_id
        JOIN accounts a ON a.id = coalesce(t.account_id, c.account_id) WHERE t.id = $1
        """,
        turn,
    )
    if row is None:
        raise LookupError(f"no turn {turn!r}")
    person = Person(user_id=row["user_id"], wa_id=row["wa_id"])
    taken = await _taken(connection, turn)
    return Turn(
        id=row["id"],
        conversation_id=row["conversation_id"],
        phone_number_id=row["phone_number_id"],
        who=Who(
            account_id=row["account_id"],
            time_zone=row["time_zone"],
            language=row["language"],
            person=person,
            role=await role_of(connection, account_id=row["account_id"], person=person),
        ),
        account_name=row["name"],
        prompt_file=row["prompt_file"],
        settings=row["settings"],
        facts_seq=row["facts_seq"],
        messages=[one for one in taken if one.kind != ECHO],
        shared=row["shared"],
        echoes=[one for one in taken if one.kind == ECHO],
    )


async def _taken(connection: Connection, turn: UUID) -> list[TakenMessage]:
    rows = await connection.fetch(
        "SELECT id, kind, coalesce(t.text, i.text) AS text, quoted_id, forwarded, sent_at,"
        " received_at FROM inbox i LEFT JOIN transcripts t ON t.inbox_id = i.id"
        " WHERE turn_id = $1 ORDER BY coalesce(sent_at, received_at), seq",
        turn,
    )
    return [_message(row) for row in rows]


async def newest_message(connection: Connection, turn: UUID) -> tuple[str, str] | None:
    """Business number and channel id (never to be logged) of the turn's last message; None if it
    came without an id."""
    row = await connection.fetchrow(
        "SELECT phone_number_id, key FROM inbox WHERE turn_id = $1 AND key NOT LIKE 'sha256:%'"
        " AND kind <> 'echo'"
        " ORDER BY coalesce(sent_at, received_at) DESC, seq DESC LIMIT 1",
        turn,
    )
    return (row["phone_number_id"], row["key"]) if row else None


def _message(row: asyncpg.Record) -> TakenMessage:
    return TakenMessage(
        inbox_id=row["id"],
        kind=row["kind"],
        text=row["text"],
        quoted=row["quoted_id"] is not None,
        forwarded=row["forwarded"],
        sent_at=row["sent_at"],
        received_at=row["received_at"],
    )


async def role_of(connection: Connection, *, account_id: str, person: Person) -> Role:
    """The person's role in the account: by user id; by phone only for a member registered without a
    user id. So the same phone with another user id has no role until registered again."""
    role = await connection.fetchval(
        "SELECT role FROM members WHERE account_id = $1 AND active AND"
        " ((user_id IS NOT NULL AND user_id = $2) OR (user_id IS NULL AND wa_id = $3))"
        " ORDER BY user_id NULLS LAST LIMIT 1",
        account_id,
        person.user_id,
        person.wa_id,
    )
    return Role(role) if role is not None else Role.PUBLIC


@dataclass(frozen=True, kw_only=True)
class StoredAnswer:
    """What the model said at a step, as stored."""

    stop_reason: str | None
    content: list[dict[str, Any]]
    facts_seq: int


async def stored_answer(connection: Connection, *, turn: UUID, step: int) -> StoredAnswer | None:
    """The answer of (turn, step), if the model gave one already."""
    row = await connection.fetchrow(
        "SELECT stop_reason, content, facts_seq FROM model_answers WHERE turn_id = $1 AND step"
        " = $2",
        turn,
        step,
    )
    if row is None:
        return None
    return StoredAnswer(
        stop_reason=row["stop_reason"], content=row["content"], facts_seq=row["facts_seq"]
    )


async def store_answer(
    connection: Connection,
    *,
    turn: UUID,
    step: int,
    model: str,
    facts_seq: int,
    stop_reason: str | None,
    content: list[dict[str, Any]],
    usage: dict[str, Any],
    request_id: str | None,
    latency_ms: int,
) -> StoredAnswer:
    """Store it before it is used; whoever stored first wins, and that answer is returned."""
    await connection.execute(
        "INSERT INTO model_answers (turn_id, step, model, facts_seq, stop_reason, content, usage,"
        " request_id, latency_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
        " ON CONFLICT (turn_id, step) DO NOTHING",
        turn,
        step,
        model,
        facts_seq,
        stop_reason,
        content,
        usage,
        request_id,
        latency_ms,
    )
    stored = await stored_answer(connection, turn=turn, step=step)
    assert stored is not None
    return stored


async def store_read_results(
    connection: Connection, *, turn: UUID, step: int, results: list[dict[str, Any]]
) -> None:
    """Keep what the reads of an answer gave until its message is whole."""
    await connection.execute(
        "INSERT INTO read_results (turn_id, step, results) VALUES ($1, $2, $3)"
        " ON CONFLICT (turn_id, step) DO NOTHING",
        turn,
        step,
        results,
    )


async def read_results(connection: Connection, *, turn: UUID, step: int) -> list[dict[str, Any]]:
    """What `store_read_results` kept, or an empty list."""
    results: list[dict[str, Any]] | None = await connection.fetchval(
        "SELECT results FROM read_results WHERE turn_id = $1 AND step = $2", turn, step
    )
    return results or []


async def record_claims(
    connection: Connection, *, turn: UUID, claims: list[dict[str, Any]], replaced: bool
) -> None:
    """Keep what the turn's reply claimed without support, once it is checked; no word of it."""
    await connection.execute(
        "UPDATE turns SET claims = $2, claims_replaced = $3 WHERE id = $1", turn, claims, replaced
    )


async def close(connection: Connection, *, turn: UUID, outcome: str) -> bool:
    """Close the turn and its boundary; whether more messages wait. A repeat changes nothing."""
    async with connection.transaction():
        conversation: UUID = await connection.fetchval(
            "SELECT conversation_id FROM turns WHERE id = $1", turn
        )
        await lock_conversation(connection, conversation)
        closed = await connection.fetchval(
            "UPDATE turns SET closed_at = clock_timestamp(), outcome = $2"
            " WHERE id = $1 AND closed_at IS NULL RETURNING id",
            turn,
            outcome,
        )
        if closed is not None:
            await connection.execute(
                "UPDATE inbox SET done_at = clock_timestamp(), ring_at = NULL, reason = 'turn'"
                " WHERE turn_id = $1 AND done_at IS NULL",
                turn,
            )
            await history.place_waiting(connection, conversation)
        return await _more_waiting(connection, conversation)


async def _more_waiting(connection: Connection, conversation: UUID) -> bool:
    waiting = await connection.fetchval(
        "SELECT 1 FROM inbox WHERE conversation_id = $1 AND done_at IS NULL AND turn_id IS NULL"
        " LIMIT 1",
        conversation,
    )
    return waiting is not None
