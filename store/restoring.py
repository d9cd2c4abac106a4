"""After a restore: a backup forgets what was clicked, sent and told after it was taken.

The trap: a worker that starts on such a database sends again what it sent already. So nothing that
was open may go on by itself: what is pending is closed, what may have been sent is frozen until a
look-up or an operator settles it (design §9; docs/operating.md).
"""

from dataclasses import dataclass, field

from domain.actions import Refusal, Status
from store import actions, audit, deciding, operators, resending
from store.connection import Connection
from store.operators import Operator


@dataclass(frozen=True, kw_only=True)
class Restored:
    """Ids of the actions: closed while pending; failed, since their effect would stand in this
    database; frozen."""

    closed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    frozen: list[str] = field(default_factory=list)


async def others_connected(connection: Connection) -> int:
    """How many other sessions of Aval are on this database."""
    count: int = await connection.fetchval(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'aval' AND pid <> pg_backend_pid()"
    )
    return count


async def hold_all(connection: Connection, *, operator: str) -> Restored:
    """Close, fail or freeze every open action, each in its own transaction. A repeat finds only
    what is left, and leaves what is frozen as it is."""
    held = Restored()
    rows = await connection.fetch(
        "SELECT id FROM actions WHERE status IN ('pending', 'executing') ORDER BY created_at, id"
    )
    for row in rows:
        if await deciding.close_restored(connection, row["id"], operator=operator):
            held.closed.append(row["id"])
        else:
            await _hold(connection, row["id"], operator, held)
    return held


async def _hold(connection: Connection, action_id: str, operator: str, held: Restored) -> None:
    async with connection.transaction():
        action, _now = await actions.lock(connection, action_id)
        if action.status is not Status.EXECUTING or action.frozen_at is not None:
            return
        if action.effect == "database":
            by = Operator(name=operator, evidence="restored: its effect is not in this database")
            await operators.fail_by_word(connection, action, by)
            held.failed.append(action_id)
            return
        await connection.execute(
            "UPDATE actions SET frozen_at = clock_timestamp(), look_at = NULL, rings = 0,"
            " ring_at = clock_timestamp() WHERE id = $1",
            action_id,
        )
        await resending.end(connection, action_id, why=Refusal.RESTORED, all_open=True)
        await audit.append(connection, action_id, "frozen", {"operator": operator})
        held.frozen.append(action_id)
