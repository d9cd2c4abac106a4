"""Evidence: append-only, hash-chained per action, in the transaction of the change (design §8)."""

from store.connection import Connection


async def append(
    connection: Connection, action_id: str, event: str, detail: dict[str, object]
) -> None:
    """Add a link to the action's chain. The caller's transaction holds the action's row."""
    await connection.execute("SELECT append_audit($1, $2, $3)", action_id, event, detail)


async def broken_links(connection: Connection, action_id: str) -> list[int]:
    """The numbers of the links whose hash, order or predecessor is not right; empty if sound."""
    rows = await connection.fetch(
        """
        SELECT n FROM (
            SELECT n, hash, prev_hash, row_number() OVER w AS expected,
                   coalesce(lag(hash) OVER w, repeat('0', 64)) AS before,
                   audit_hash(action_id, n, at, event, detail, prev_hash) AS recomputed
            FROM audit_events WHERE action_id = $1 WINDOW w AS (ORDER BY n)) chain
        WHERE n <> expected OR prev_hash <> before OR hash <> recomputed ORDER BY n
        """,
        action_id,
    )
    return [row["n"] for row in rows]
