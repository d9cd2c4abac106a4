"""What the workflow of an action does next, read from its rows under its lock.

The workflow is a clock and a pair of hands: it asks here after each step, so it may be terminated,
reset or started anew at any moment and goes on where the rows are (design §3).
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

import asyncpg

from domain.actions import CloseReason, Refusal, Status
from domain.texts import Texts
from store import actions, feedback, outbox, resending
from store.connection import Connection
from store.ringing import FIRST_RING_S

FRESH = timedelta(seconds=120)
"""How long after *decide* a send may still begin: the person confirmed a world of just now."""

DIRECT_FRESH = timedelta(minutes=10)
"""The same for a direct tool's action, which nobody had to decide: it has to outlast the lock of an
attempt that died (two minutes or more), or nobody could ever take over."""

LOOK_FIRST_S, LOOK_LONGEST_S = 5, 900  # doubling; an outcome usually shows within seconds
LOOK_FOR = timedelta(hours=24)  # then only an operator can settle it
TELL_AFTER_LOOKS = 2  # the first look comes at once: most unknowns are settled by it


class Do(StrEnum):
    """What the workflow of an action does next."""

    WAIT = "wait"  # pending: for a bell, or until the deadline
    EXECUTE = "execute"
    SETTLE = "settle"  # look the unknown outcome up
    REST = "rest"  # stuck: nothing a machine may do; an operator's decision rings
    END = "end"


@dataclass(frozen=True, kw_only=True)
class Next:
    """`wait_s`: seconds to wait before doing it (for WAIT: until the deadline). `unsent`: messages
    of the action wait to be sent."""

    status: Status
    do: Do
    wait_s: float = 0.0
    unsent: bool = False


def fresh_for(confirm: str) -> timedelta:
    """How long an action with this policy may begin to act, from `executing_since` on."""
    return DIRECT_FRESH if confirm == "direct" else FRESH


async def next_step(connection: Connection, action_id: str, status: Status, texts: Texts) -> Next:
    """What to do now with the locked action, which has this status; also when to ring for it."""
    unsent = bool(await outbox.due(connection, action=action_id))
    if status is Status.PENDING:
        left: float = await connection.fetchval(
            "SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 FROM actions"
            " WHERE id = $1",
            action_id,
        )
        await _ring_in(connection, action_id, left + FIRST_RING_S)
        return Next(status=status, do=Do.WAIT, wait_s=max(left, 0.0), unsent=unsent)
    if status is Status.EXECUTING:
        await resending.end(connection, action_id, why=Refusal.LATE, all_open=False)
        return await _next_executing(connection, action_id, texts, unsent=unsent)
    await resending.end(connection, action_id, why=Refusal.OVERRULED, all_open=True)
    await connection.execute(
        "UPDATE actions SET ring_at = NULL WHERE id = $1 AND ring_at IS NOT NULL", action_id
    )
    return Next(status=status, do=Do.END, unsent=unsent)


async def _ring_in(connection: Connection, action_id: str, seconds: float | None) -> None:
    await connection.execute(
        "UPDATE actions SET rings = 0, ring_at = clock_timestamp() + $2 * interval '1 second'"
        " WHERE id = $1",
        action_id,
        seconds,
    )


async def _next_executing(
    connection: Connection, action_id: str, texts: Texts, *, unsent: bool
) -> Next:
    row = await connection.fetchrow(
        """
        SELECT clock_timestamp() - executing_since AS age, frozen_at, confirm,
            clock_timestamp() - greatest(executing_since, frozen_at) AS looked_for,
            extract(epoch FROM look_at - clock_timestamp())::float8 AS look_in,
            CASE WHEN confirm = 'direct' AND attempt > 0
                THEN extract(epoch FROM locked_until - clock_timestamp())::float8 END AS locked_for,
            (SELECT count(*) FROM sends s WHERE s.action_id = a.id
                AND s.outcome IS DISTINCT FROM 'not_sent') AS doubtful,
            attempt, extract(epoch FROM clock_timestamp() - attempt_at)::float8 AS since_attempt
        FROM actions a WHERE id = $1
        """,
        action_id,
    )
    assert row is not None
    if row["frozen_at"] is None and await resending.is_open(connection, action_id):
        return await _next_send(connection, action_id, row, unsent=unsent)
    if row["doubtful"] or row["frozen_at"]:
        return await _next_doubtful(connection, action_id, row, unsent=unsent)
    if row["age"] >= fresh_for(row["confirm"]):
        await _close_not_sent(connection, action_id, texts)
        return Next(status=Status.FAILED, do=Do.END, unsent=True)
    return await _next_send(connection, action_id, row, unsent=unsent)


async def _next_send(
    connection: Connection, action_id: str, row: asyncpg.Record, *, unsent: bool
) -> Next:
    wait = max(_pause(row), row["locked_for"] or 0.0, 0.0)
    await _ring_in(connection, action_id, wait + FIRST_RING_S)
    return Next(status=Status.EXECUTING, do=Do.EXECUTE, wait_s=wait, unsent=unsent)


def _pause(row: asyncpg.Record) -> float:
    """After the n-th attempt that sent nothing, 2^(n-1) seconds from its start, at most 20: the
    provider or the database may be starting."""
    if not row["attempt"]:
        return 0.0
    pause: float = min(2.0 ** (row["attempt"] - 1), 20.0) - row["since_attempt"]
    return pause


async def _next_doubtful(
    connection: Connection, action_id: str, row: asyncpg.Record, *, unsent: bool
) -> Next:
    if row["looked_for"] >= LOOK_FOR:
        await _ring_in(connection, action_id, None)
        return Next(status=Status.EXECUTING, do=Do.REST, unsent=unsent)
    wait = max(row["look_in"] or 0.0, 0.0)
    await _ring_in(connection, action_id, wait + FIRST_RING_S)
    return Next(status=Status.EXECUTING, do=Do.SETTLE, wait_s=wait, unsent=unsent)


async def _close_not_sent(connection: Connection, action_id: str, texts: Texts) -> None:
    """ "Nothing was sent" is made true, never read: the row is locked and holds no doubtful send,
    so
    no fence passes afterwards (design §3.5)."""
    action = await actions.get(connection, action_id)
    await feedback.close_failed(connection, action, CloseReason.NOT_SENT, texts=texts)
