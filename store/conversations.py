"""Conversations as operators see them: who talks, what waits, and whom a human has to himself."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.errors import OperatorError
from store.connection import Connection


@dataclass(frozen=True, kw_only=True)
class ListedConversation:
    """A conversation in a list. `person`: the last four characters of an id. `waiting`: messages
    that nobody handled yet. `cause`, `by`, `since`, `until`: of the pause that lasts, if one
    does."""

    id: UUID
    account: str
    time_zone: str
    person: str
    last_at: datetime | None
    waiting: int
    cause: str | None
    by: str | None
    since: datetime | None
    until: datetime | None


async def list_conversations(
    connection: Connection,
    *,
    account: str | None = None,
    person: str | None = None,
    paused: bool = False,
    limit: int = 50,
) -> list[ListedConversation]:
    """The paused ones first, then by their last message. `person`: a whole user id or phone, or
    the last characters of one; `paused`: these alone."""
    rows = await connection.fetch(
        """
        SELECT c.id, c.account_id AS account, a.time_zone,
            right(coalesce(c.user_id, c.wa_id), 4) AS person,
            (SELECT max(received_at) FROM inbox i WHERE i.conversation_id = c.id) AS last_at,
            (SELECT count(*) FROM inbox i WHERE i.conversation_id = c.id AND i.done_at IS NULL)
                AS waiting,
            p.cause, p.operator AS by, p.since, p.until
        FROM conversations c JOIN accounts a ON a.id = c.account_id
        LEFT JOIN pauses p ON p.conversation_id = c.id AND p.ended_at IS NULL
            AND p.until > clock_timestamp()
        WHERE c.closed_at IS NULL AND ($1::text IS NULL OR c.account_id = $1)
            AND ($2::text IS NULL OR right(c.user_id, length($2)) = $2
                OR right(c.wa_id, length($2)) = $2)
            AND (NOT $3 OR p.until IS NOT NULL)
        ORDER BY p.until IS NULL, last_at DESC NULLS LAST, c.id LIMIT $4
        """,
        account,
        person,
        paused,
        limit,
    )
    return [ListedConversation(**dict(row)) for row in rows]


async def resolve_conversation(connection: Connection, prefix: str) -> UUID:
    """The conversation whose id begins so (hexadecimal digits, with dashes or not). Raises
    OperatorError for none or several."""
    digits = prefix.replace("-", "")
    rows = await connection.fetch(
        "SELECT id FROM conversations WHERE id BETWEEN $1 AND $2 LIMIT 2",
        UUID(digits.ljust(32, "0")),
        UUID(digits.ljust(32, "f")),
    )
    if not rows:
        raise OperatorError(f"there is no conversation {prefix!r}; see `aval conversations list`")
    if len(rows) > 1:
        raise OperatorError(f"several conversations begin with {prefix!r}; give more of the id")
    found: UUID = rows[0]["id"]
    return found
