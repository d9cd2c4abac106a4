"""Evidence: append-only, hash-chained per action, in the transaction of the change (design §8)."""

from collections.abc import Sequence

from store.connection import Connection


async def append(
    connection: Connection, action_id: str, event: str, detail: dict[str, object]
) -> None:
    """Add a link to the action's chain. The caller's transaction holds the action's row."""
    await connection.execute("SELECT append_audit($1, $2, $3)", action_id, event, detail)


async def broken_links(connection: Connection, action_id: str) -> list[int]:
    """The numbers of the links of one action that do not hold; empty if its chain is sound."""
    return [n for _, n in await broken_chains(connection, [action_id])]


async def broken_chains(connection: Connection, action_ids: Sequence[str]) -> list[tuple[str, int]]:
    """Action and number of each link whose hash, order or predecessor is not right, and of the
    first link where there is none; empty if all is sound."""
    rows = await connection.fetch(
        """
        SELECT action_id, n FROM (
            SELECT action_id, n, hash, prev_hash, row_number() OVER w AS expected,
                   coalesce(lag(hash) OVER w, repeat('0', 64)) AS before,
                   audit_hash(action_id, n, at, event, detail, prev_hash) AS recomputed
            FROM audit_events WHERE action_id = ANY($1)
            WINDOW w AS (PARTITION BY action_id ORDER BY n)) chain
        WHERE n <> expected OR prev_hash <> before OR hash <> recomputed
        UNION ALL
        SELECT id, 1 FROM actions a WHERE id = ANY($1)
            AND NOT EXISTS (SELECT 1 FROM audit_events e WHERE e.action_id = a.id)
        ORDER BY 1, 2
        """,
        list(action_ids),
    )
    return [(row["action_id"], row["n"]) for row in rows]
