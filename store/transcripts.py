"""What was heard in voice messages: each once, before it is used."""

from uuid import UUID

from store.connection import Connection


async def unheard(connection: Connection, turn: UUID) -> list[tuple[UUID, bytes]]:
    """Inbox id and signed item of each audio of the turn that was not tried yet, in order."""
    rows = await connection.fetch(
        "SELECT id, raw FROM inbox i WHERE turn_id = $1 AND kind = 'audio'"
        " AND NOT EXISTS (SELECT 1 FROM transcripts t WHERE t.inbox_id = i.id) ORDER BY seq",
        turn,
    )
    return [(row["id"], row["raw"]) for row in rows]


async def keep(
    connection: Connection, inbox_id: UUID, *, text: str | None, reason: str | None = None
) -> None:
    """Store the words, or why there are none; whoever comes second changes nothing."""
    await connection.execute(
        "INSERT INTO transcripts (inbox_id, text, reason, at)"
        " VALUES ($1, $2, left($3, 200), clock_timestamp()) ON CONFLICT DO NOTHING",
        inbox_id,
        text,
        reason,
    )
