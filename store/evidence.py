"""The evidence of many actions at once, for proof against the past: chains, digests, heads.

A chain proves that nothing in its middle was changed; only a copy of its head outside the database
proves that its tail was not cut off, or the whole not written anew (`aval audit anchor`).
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from store import actions, audit
from store.connection import Connection

BATCH = 500


@dataclass(frozen=True, kw_only=True)
class Head:
    """The last link of an action's chain."""

    action_id: str
    n: int
    hash: str


@dataclass(frozen=True, kw_only=True)
class Broken:
    """What does not hold: a link (`n`), or the digest of the frozen columns (`n` is None)."""

    action_id: str
    n: int | None


async def heads(connection: Connection, *, since: datetime | None = None) -> list[Head]:
    """The heads of all chains, or of those with a link since then (UTC), by action."""
    rows = await connection.fetch(
        """
        SELECT DISTINCT ON (action_id) action_id, n, hash FROM audit_events
        WHERE $1::timestamptz IS NULL
           OR action_id IN (SELECT action_id FROM audit_events WHERE at >= $1)
        ORDER BY action_id, n DESC
        """,
        since,
    )
    return [Head(**dict(row)) for row in rows]


async def ids(connection: Connection, *, since: datetime | None = None) -> AsyncIterator[list[str]]:
    """The ids of all actions, or of those proposed since then (UTC), some at a time."""
    last = ""
    while True:
        rows = await connection.fetch(
            "SELECT id FROM actions WHERE id > $1 AND ($2::timestamptz IS NULL OR created_at >= $2)"
            f" ORDER BY id LIMIT {BATCH}",
            last,
            since,
        )
        if not rows:
            return
        last = rows[-1]["id"]
        yield [row["id"] for row in rows]


async def broken(connection: Connection, action_ids: Sequence[str]) -> list[Broken]:
    """What does not hold in these actions: links out of order or changed, chains without a
    beginning, frozen columns that are not those of the digest."""
    found = [
        Broken(action_id=action_id, n=n)
        for action_id, n in await audit.broken_chains(connection, action_ids)
    ]
    for action_id in action_ids:
        action = await actions.get(connection, action_id)
        if action.recomputed_digest() != action.digest:
            found.append(Broken(action_id=action_id, n=None))
    return found


async def missing(connection: Connection, anchored: Sequence[Head]) -> list[Head]:
    """Those of the anchored heads that are no links of the database any more."""
    rows = await connection.fetch(
        """
        SELECT a.action_id, a.n, a.hash FROM unnest($1::text[], $2::int[], $3::text[])
            AS a(action_id, n, hash)
        WHERE NOT EXISTS (SELECT 1 FROM audit_events e
            WHERE e.action_id = a.action_id AND e.n = a.n AND e.hash = a.hash)
        ORDER BY 1, 2
        """,
        [one.action_id for one in anchored],
        [one.n for one in anchored],
        [one.hash for one in anchored],
    )
    return [Head(**dict(row)) for row in rows]


@dataclass(frozen=True, kw_only=True)
class SignedItem:
    """The webhook item of a decision as Meta sent it, and the hash of the signed body that it came
    in; the body itself may hold other people's messages."""

    received_at: datetime
    raw: bytes
    webhook_sha256: str


@dataclass(frozen=True, kw_only=True)
class Event:
    """A link of the chain with all that it says."""

    n: int
    at: datetime
    event: str
    detail: dict[str, object]
    hash: str


async def events(connection: Connection, action_id: str) -> list[Event]:
    """The whole chain of an action, in its order."""
    rows = await connection.fetch(
        "SELECT n, at, event, detail, hash FROM audit_events WHERE action_id = $1 ORDER BY n",
        action_id,
    )
    return [Event(**dict(row)) for row in rows]


async def signed_items(connection: Connection, action_id: str) -> list[SignedItem]:
    """The items that the followed or refused decisions of the action's own person came in."""
    rows = await connection.fetch(
        """
        SELECT i.received_at, i.raw, encode(sha256(w.body), 'hex') AS webhook_sha256
        FROM decisions d JOIN inbox i ON i.id = d.inbox_id JOIN webhooks w ON w.id = i.webhook_id
        JOIN actions a ON a.id = d.action_id
        WHERE d.action_id = $1
          AND (d.user_id, d.wa_id) IS NOT DISTINCT FROM (a.user_id, a.wa_id)
        ORDER BY d.seq
        """,
        action_id,
    )
    return [SignedItem(**dict(row)) for row in rows]


async def prompts(connection: Connection, action_id: str) -> list[str]:
    """The texts of the prompts, as they were sent."""
    rows = await connection.fetch(
        "SELECT message ->> 'text' AS text FROM outbox WHERE action_id = $1 AND purpose = 'prompt'"
        " ORDER BY seq",
        action_id,
    )
    return [row["text"] for row in rows]
