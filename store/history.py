"""The conversation as the model will read it: append-only, each entry once, placed at a boundary.

An entry of the open turn is placed at once; anything else that happens while a turn is open (a
click, a feedback) waits without a position and is placed when the turn closes. So a tool_use and
its result are never parted, and the prefix that the model's cache knows never changes (design §7).
Every function here expects the caller's transaction to hold the conversation's row.
"""

from uuid import UUID

from domain.canonical import JsonValue
from store.connection import Connection

Content = dict[str, JsonValue]


async def append_turn_entry(
    connection: Connection,
    *,
    conversation: UUID,
    turn: UUID,
    slot: str,
    kind: str,
    content: Content,
) -> None:
    """Place an entry of the open turn now. A repeat of the same slot changes nothing."""
    new = await connection.fetchval(
        "INSERT INTO history (conversation_id, slot, kind, turn_id, content)"
        " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (conversation_id, slot) DO NOTHING RETURNING id",
        conversation,
        slot,
        kind,
        turn,
        content,
    )
    if new is not None:
        await _place(connection, conversation, turn)


async def append_event(
    connection: Connection,
    *,
    conversation: UUID,
    action: str,
    slot: str,
    kind: str,
    content: Content,
) -> None:
    """Add an entry that no turn made; placed now, or at the boundary of the open turn."""
    await connection.execute(
        "INSERT INTO history (conversation_id, slot, kind, action_id, content)"
        " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (conversation_id, slot) DO NOTHING",
        conversation,
        slot,
        kind,
        action,
        content,
    )
    open_turn = await connection.fetchval(
        "SELECT 1 FROM turns WHERE conversation_id = $1 AND closed_at IS NULL", conversation
    )
    if open_turn is None:
        await place_waiting(connection, conversation)


async def place_waiting(connection: Connection, conversation: UUID) -> None:
    """Place, in the order in which they happened, the entries that waited for the boundary."""
    await _place(connection, conversation, None)


async def _place(connection: Connection, conversation: UUID, turn: UUID | None) -> None:
    await connection.execute(
        """
        WITH waiting AS (
            SELECT id, row_number() OVER (ORDER BY id) AS nth FROM history
            WHERE conversation_id = $1 AND position IS NULL AND turn_id IS NOT DISTINCT FROM $2),
        moved AS (
            UPDATE conversations
            SET next_position = next_position + (SELECT count(*) FROM waiting)
            WHERE id = $1 RETURNING next_position - (SELECT count(*) FROM waiting) AS base)
        UPDATE history h SET position = moved.base + waiting.nth - 1
        FROM waiting, moved WHERE h.id = waiting.id
        """,
        conversation,
        turn,
    )


async def read(
    connection: Connection, conversation: UUID, *, limit: int
) -> list[dict[str, object]]:
    """The newest placed entries in order: dicts of position, kind and content.

    All of them up to `limit`, then between half of it and all: the first moves on by half of the
    limit at once. One that moved at each turn would void the model's cache at each turn.
    """
    step = limit // 2
    rows = await connection.fetch(
        "SELECT position, kind, content FROM history WHERE conversation_id = $1 AND position >="
        " (SELECT greatest(next_position / $2 - 1, 0) * $2 FROM conversations WHERE id = $1)"
        " ORDER BY position",
        conversation,
        step,
    )
    return [dict(row) for row in rows]


async def tools_answered(
    connection: Connection, conversation: UUID, *, limit: int
) -> list[tuple[str, bool]]:
    """The tools whose calls stand answered without error among the last `limit` entries; with each,
    whether it was told that the effect is there already."""
    rows = await connection.fetch(
        """
        WITH last AS (SELECT kind, content FROM history
            WHERE conversation_id = $1 AND position IS NOT NULL ORDER BY position DESC LIMIT $2),
        calls AS (SELECT call ->> 'id' AS id, call ->> 'name' AS name FROM last
            CROSS JOIN jsonb_array_elements(content -> 'blocks') call
            WHERE kind = 'assistant_blocks' AND call ->> 'type' = 'tool_use'),
        results AS (SELECT result ->> 'tool_use_id' AS id, result -> 'content' AS content FROM last
            CROSS JOIN jsonb_array_elements(content -> 'results') result
            WHERE kind = 'tool_results' AND NOT coalesce((result ->> 'is_error')::boolean, false))
        SELECT DISTINCT name, coalesce(content -> 'already_done' = 'true'::jsonb, false) AS done
        FROM calls JOIN results USING (id)
        """,
        conversation,
        limit,
    )
    return [(row["name"], row["done"]) for row in rows]


async def has_slot(connection: Connection, *, conversation: UUID, slot: str) -> bool:
    """Whether the entry was written already."""
    found = await connection.fetchval(
        "SELECT 1 FROM history WHERE conversation_id = $1 AND slot = $2", conversation, slot
    )
    return found is not None
