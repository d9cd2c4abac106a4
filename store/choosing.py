"""For which account a turn works: the number's own, the one that the person is a member of, or,
for a member of several, the one that he chose.

A number may serve the members of further accounts (`shared_numbers`). Who is a member of several is
asked by template and answered by exact words alone (domain/choosing.py); his messages wait in the
inbox meanwhile, and the choice itself is no turn's, so that no model ever reads it. Everybody else
is with the number's own account. The caller's transaction holds the conversation's row.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from domain.choosing import picked, plain
from domain.texts import Texts, texts_for
from store import outbox
from store.connection import Connection
from store.outbox import NewMessage


@dataclass(frozen=True, kw_only=True)
class Choice:
    """`account`: for which the next turn works; None: the person was asked, and nothing is to be
    taken."""

    account: str | None


@dataclass(frozen=True, kw_only=True)
class _Talk:
    """A conversation with its new texts, newest first, and the accounts among which to choose."""

    row: asyncpg.Record
    texts: Texts
    names: dict[str, str]
    messages: list[asyncpg.Record]


async def account_of_next_turn(connection: Connection, conversation: UUID) -> Choice:
    """For which account the unhandled messages are, asking the person if only he can say."""
    row = await _conversation(connection, conversation)
    if not row["shared"]:
        return Choice(account=row["account_id"])
    names = await _memberships(connection, row)
    if len(names) < 2:
        return Choice(account=next(iter(names), row["account_id"]))
    messages = await _new_texts(connection, conversation)
    talk = _Talk(row=row, texts=texts_for(row["language"]), names=names, messages=messages)
    chosen = await _choice(connection, talk)
    if chosen is not None:
        return Choice(account=chosen)
    await _ask(connection, talk)
    return Choice(account=None)


async def _conversation(connection: Connection, conversation: UUID) -> asyncpg.Record:
    row = await connection.fetchrow(
        """
        SELECT c.*, a.language, EXISTS (SELECT 1 FROM shared_numbers s
            WHERE s.phone_number_id = c.phone_number_id) AS shared
        FROM conversations c JOIN accounts a ON a.id = c.account_id WHERE c.id = $1
        """,
        conversation,
    )
    assert row is not None, f"no conversation {conversation!r}"
    return row


async def _memberships(connection: Connection, row: asyncpg.Record) -> dict[str, str]:
    """The accounts of this number that the person is a member of, with their names, in order."""
    rows = await connection.fetch(
        """
        SELECT a.id, a.name FROM accounts a
        WHERE (a.id = $1 OR a.id IN (SELECT account_id FROM shared_numbers
                WHERE phone_number_id = $2))
            AND EXISTS (SELECT 1 FROM members m WHERE m.account_id = a.id AND m.active
                AND (m.user_id = $3 OR (m.user_id IS NULL AND m.wa_id = $4)))
        ORDER BY a.name, a.id
        """,
        row["account_id"],
        row["phone_number_id"],
        row["user_id"],
        row["wa_id"],
    )
    return {one["id"]: one["name"] for one in rows}


async def _new_texts(connection: Connection, conversation: UUID) -> list[asyncpg.Record]:
    return await connection.fetch(
        "SELECT id, kind, text, forwarded, received_at FROM inbox WHERE conversation_id = $1"
        " AND done_at IS NULL AND turn_id IS NULL ORDER BY seq DESC",
        conversation,
    )


async def _choice(connection: Connection, talk: _Talk) -> str | None:
    """The account that holds now; None: he has to be asked."""
    said = [one for one in talk.messages if one["kind"] == "text" and not one["forwarded"]]
    again = plain(talk.texts.change_account_words())
    if said and plain(said[0]["text"] or "") == again:
        await _done(connection, said[0]["id"], "change_of_account")
        await _remember(connection, talk, account=None)
        return None
    asked = talk.row["asked_accounts"]
    if asked is None:
        chosen = talk.row["chosen_account"]
        return chosen if chosen in talk.names else None
    for one in said:
        if one["received_at"] >= talk.row["asked_at"]:
            account = await _answered(connection, talk, one, asked)
            if account is not None:
                return account
    return None


async def _answered(
    connection: Connection, talk: _Talk, message: asyncpg.Record, asked: list[str]
) -> str | None:
    """The account that the message means, if it is an answer and he is still a member there."""
    place = picked(message["text"] or "", [talk.names.get(one, "") for one in asked])
    account = asked[place] if place is not None else None
    if account not in talk.names:
        return None
    await _done(connection, message["id"], "choice_of_account")
    await _remember(connection, talk, account=account)
    if len(talk.messages) == 1:
        await _say(
            connection,
            talk,
            message["id"],
            "chosen",
            talk.texts.account_chosen(talk.names[account]),
        )
    return account


async def _ask(connection: Connection, talk: _Talk) -> None:
    """Ask once for each new message; what waits is not rung for, since only his answer helps."""
    if not talk.messages:
        return
    newest: UUID = talk.messages[0]["id"]
    fresh = await _say(
        connection, talk, newest, "which", talk.texts.which_account(list(talk.names.values()))
    )
    if fresh:
        await connection.execute(
            "UPDATE conversations SET asked_accounts = $2, asked_at = clock_timestamp()"
            " WHERE id = $1",
            talk.row["id"],
            list(talk.names),
        )
    await connection.execute(
        "UPDATE inbox SET ring_at = NULL WHERE conversation_id = $1 AND done_at IS NULL"
        " AND turn_id IS NULL",
        talk.row["id"],
    )


async def _remember(connection: Connection, talk: _Talk, *, account: str | None) -> None:
    await connection.execute(
        "UPDATE conversations SET chosen_account = $2, asked_accounts = NULL, asked_at = NULL"
        " WHERE id = $1",
        talk.row["id"],
        account,
    )


async def _done(connection: Connection, message: UUID, reason: str) -> None:
    await connection.execute(
        "UPDATE inbox SET done_at = clock_timestamp(), ring_at = NULL, reason = $2 WHERE id = $1",
        message,
        reason,
    )


async def _say(connection: Connection, talk: _Talk, message: UUID, what: str, text: str) -> bool:
    body: dict[str, Any] = {"type": "text", "text": text}
    conversation: UUID = talk.row["id"]
    return await outbox.enqueue(
        connection,
        conversation=conversation,
        message=NewMessage(
            key=f"conversation:{conversation}:{what}:{message}", purpose="notice", message=body
        ),
    )
