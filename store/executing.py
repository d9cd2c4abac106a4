"""Attempts, the fence, and outcomes: where "never twice" is enforced (design §3.4-3.6).

An attempt that opens revokes earlier ones. The fence is one transaction on the action's row, the
last statement before the wire: still executing, attempt still mine, still fresh, no earlier send
but NOT_SENT. What was not proved not sent may have been sent; the outcome goes into the send's row
always, even if the action was closed meanwhile.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.actions import CloseReason, Refusal, Status
from domain.canonical import JsonValue
from domain.outcomes import GatewayResult, LookupResult, Outcome, Presence
from domain.texts import Texts
from store import actions, audit, feedback, outbox, resending
from store.actions import Action
from store.connection import Connection
from store.next_step import (
    DIRECT_FRESH,
    FRESH,
    LOOK_FIRST_S,
    LOOK_LONGEST_S,
    TELL_AFTER_LOOKS,
    fresh_for,
)
from store.outbox import NewMessage
from store.ringing import FIRST_RING_S

Record = Callable[[dict[str, JsonValue]], Awaitable[None]]
"""Mirrors a proved effect in the tool's own tables, in the transaction that records it."""


class Written(StrEnum):
    """What recording an outcome made of the action."""

    EXECUTED = "executed"
    FAILED = "failed"
    OPEN = "open"  # still executing: not sent, in progress, or unknown
    CONTRADICTION = "contradiction"  # closed meanwhile, yet the provider says that it acted


@dataclass(frozen=True, kw_only=True)
class Success:
    """The result to keep and the messages to the person."""

    result: dict[str, JsonValue]
    texts: list[str]


async def open_attempt(connection: Connection, action_id: str, *, lock_s: float) -> int | None:
    """Open the next attempt, which revokes earlier ones; its number, or None if none may start.

    `lock_s`: for how long a direct tool's action may not be taken over by another attempt. The row
    is locked by a statement of its own: one that waited for a fence would judge by its old snapshot
    and not see the send that the fence wrote.
    """
    async with connection.transaction():
        await connection.execute("SELECT 1 FROM actions WHERE id = $1 FOR UPDATE", action_id)
        attempt: int | None = await connection.fetchval(
            f"""
            UPDATE actions a SET attempt = attempt + 1, attempt_at = clock_timestamp(),
                locked_until = clock_timestamp() + $3 * interval '1 second'
            WHERE id = $1 AND status = 'executing'
              AND frozen_at IS NULL
              AND (EXISTS ({resending.OPEN})
                OR (clock_timestamp() < executing_since
                    + CASE confirm WHEN 'direct' THEN $4::interval ELSE $2::interval END
                  AND (confirm <> 'direct' OR attempt = 0 OR locked_until < clock_timestamp())
                  AND NOT EXISTS (SELECT 1 FROM sends s WHERE s.action_id = a.id
                                  AND s.outcome IS DISTINCT FROM 'not_sent')))
            RETURNING attempt
            """,
            action_id,
            FRESH,
            lock_s,
            DIRECT_FRESH,
        )
        if attempt is not None:
            await audit.append(connection, action_id, "claimed", {"attempt": attempt})
        return attempt


async def fence(connection: Connection, action_id: str, *, attempt: int) -> int | None:
    """The last statement before the wire: the number of the send that may go now, or None.

    None proves nothing about earlier sends: a lost fence is an unknown, not a failure. A send
    without an outcome is in flight, and a plain comparison's null would be passed over.
    """
    async with connection.transaction():
        action, now = await actions.lock(connection, action_id)
        if action.status is not Status.EXECUTING or action.attempt != attempt or action.frozen_at:
            return None
        n = await _fenced(connection, action, now)
        n = n or await resending.use_up(connection, action_id, attempt=attempt)
        if n is not None:
            await audit.append(connection, action_id, "fenced", {"send": n, "attempt": attempt})
        return n


async def _fenced(connection: Connection, action: Action, now: datetime) -> int | None:
    """The send of a fresh action of which nothing has left us."""
    since = action.executing_since
    if since is None or now >= since + fresh_for(action.confirm):
        return None
    n: int | None = await connection.fetchval(
        """
        INSERT INTO sends (action_id, n, attempt, fenced_at)
        SELECT $1, coalesce(max(n), 0) + 1, $2, clock_timestamp() FROM sends WHERE action_id = $1
        HAVING coalesce(bool_and(outcome IS NOT DISTINCT FROM 'not_sent'), true) RETURNING n
        """,
        action.id,
        action.attempt,
    )
    return n


async def record_outcome(
    connection: Connection,
    action_id: str,
    *,
    send: int,
    outcome: GatewayResult,
    texts: Texts,
    success: Callable[[Action], Success],
    mirror: Callable[[Action, Connection], Record],
) -> Written:
    """Write what a send proved, and what follows for the action. A repeat changes nothing."""
    await _write_send(connection, action_id, send, outcome)
    async with connection.transaction():
        action, _now = await actions.lock(connection, action_id)
        if outcome.outcome is Outcome.CREATED:
            return await _effect_proved(
                connection, action, success=success(action), mirror=mirror(action, connection)
            )
        if outcome.outcome is Outcome.REJECTED and action.status is Status.EXECUTING:
            return await _rejected(connection, action, send, outcome, texts)
        return Written.OPEN if action.status is Status.EXECUTING else Written(_closed(action))


async def _ring_soon(connection: Connection, action_id: str) -> None:
    """A stalled attempt proved late that nothing left: the action may act again while it is fresh,
    and its workflow may be waiting for a look that is minutes away, or after a day for nothing."""
    await connection.execute(
        f"""
        UPDATE actions SET rings = 0, ring_at =
            least(ring_at, clock_timestamp() + interval '{FIRST_RING_S} seconds')
        WHERE id = $1 AND status = 'executing'
        """,
        action_id,
    )


def _closed(action: Action) -> str:
    return "executed" if action.status is Status.EXECUTED else "failed"


async def _write_send(
    connection: Connection, action_id: str, send: int, outcome: GatewayResult
) -> None:
    async with connection.transaction():
        await connection.execute("SELECT 1 FROM actions WHERE id = $1 FOR UPDATE", action_id)
        fresh = await connection.fetchval(
            """
            UPDATE sends SET outcome = $3, outcome_at = clock_timestamp(), provider_ref = $4,
                reason = left($5, 1000), data = $6, evidence = $7
            WHERE action_id = $1 AND n = $2 AND outcome IS NULL RETURNING n
            """,
            action_id,
            send,
            outcome.outcome.value,
            outcome.provider_ref,
            outcome.reason,
            outcome.data,
            outcome.evidence,
        )
        if fresh is not None:
            await audit.append(
                connection,
                action_id,
                "outcome",
                {"send": send, "outcome": outcome.outcome.value, "evidence": outcome.evidence},
            )
        if fresh is not None and outcome.outcome is Outcome.NOT_SENT:
            await _ring_soon(connection, action_id)


async def _effect_proved(
    connection: Connection, action: Action, *, success: Success, mirror: Record
) -> Written:
    """Executing → executed, with feedback. A closed action that turns out to have acted is a
    contradiction: said loudly, never hidden by changing the past."""
    if action.status is Status.EXECUTED:
        return Written.EXECUTED
    if action.status is not Status.EXECUTING:
        await audit.append(
            connection, action.id, "contradiction", {"closed_as": action.status.value}
        )
        return Written.CONTRADICTION
    await actions.change(
        connection, action, Status.EXECUTED, evidence={"proved": True}, result=success.result
    )
    await mirror_result(connection, action, success, mirror)
    await feedback.tell(connection, action, texts=success.texts)
    return Written.EXECUTED


async def mirror_result(
    connection: Connection, action: Action, success: Success, mirror: Record
) -> None:
    """The tool's own rows must never undo the record of an effect that happened."""
    try:
        async with connection.transaction():
            await mirror(success.result)
    except Exception as error:
        await audit.append(connection, action.id, "mirror_failed", {"error": type(error).__name__})


async def _rejected(
    connection: Connection, action: Action, send: int, outcome: GatewayResult, texts: Texts
) -> Written:
    """Closed as failed only if no other send is in doubt: after one UNKNOWN no later error means
    "not done" (design §5)."""
    doubtful = await connection.fetchval(
        "SELECT count(*) FROM sends WHERE action_id = $1 AND n <> $2"
        " AND outcome IS DISTINCT FROM 'not_sent'",
        action.id,
        send,
    )
    if doubtful:
        await connection.execute(
            "UPDATE sends SET outcome = 'unknown' WHERE action_id = $1 AND n = $2", action.id, send
        )
        return Written.OPEN
    await feedback.close_failed(
        connection, action, CloseReason.REJECTED, texts=texts, detail=outcome.reason
    )
    return Written.FAILED


async def close_unsent(
    connection: Connection,
    action_id: str,
    reason: CloseReason,
    *,
    texts: Texts,
    detail: str | None = None,
) -> bool:
    """Close as failed because nothing was or will be sent; True if this call did it.

    "Nothing was sent" is made true, never read: under the row's lock no send but NOT_SENT exists,
    and no fence passes afterwards. Of a frozen action no row proves that. Where a send is in doubt,
    what stands against the first send stands against an operator's further one too.
    """
    async with connection.transaction():
        action, _now = await actions.lock(connection, action_id)
        doubtful = await connection.fetchval(
            "SELECT count(*) FROM sends WHERE action_id = $1 AND outcome IS DISTINCT FROM"
            " 'not_sent'",
            action_id,
        )
        if doubtful:
            await resending.end(
                connection, action_id, why=Refusal.NO_LONGER_POSSIBLE, all_open=True
            )
        if action.status is not Status.EXECUTING or doubtful or action.frozen_at:
            return False
        await feedback.close_failed(connection, action, reason, texts=texts, detail=detail)
        return True


async def lock_for_effect(connection: Connection, action_id: str, *, attempt: int) -> Action | None:
    """For an effect in our own PostgreSQL: lock the action in the caller's transaction, in which
    the
    effect and its record happen together; None if this attempt may not act any more."""
    action, now = await actions.lock(connection, action_id)
    since = action.executing_since
    if action.status is not Status.EXECUTING or action.attempt != attempt or since is None:
        return None
    fresh = now < since + fresh_for(action.confirm)
    return action if fresh and action.frozen_at is None else None


async def effect_done(connection: Connection, action: Action, success: Success) -> None:
    """Record the effect in the transaction in which it happened."""
    await actions.change(
        connection,
        action,
        Status.EXECUTED,
        evidence={"attempt": action.attempt, "in_transaction": True},
        result=success.result,
    )
    await feedback.tell(connection, action, texts=success.texts)


# ---------------------------------------------------------------- looking an unknown up


async def doubtful_send(connection: Connection, action_id: str) -> int | None:
    """The number of the send whose outcome is in doubt, the latest if there are several."""
    n: int | None = await connection.fetchval(
        "SELECT max(n) FROM sends WHERE action_id = $1 AND outcome IS DISTINCT FROM 'not_sent'",
        action_id,
    )
    return n


async def record_look(
    connection: Connection,
    action_id: str,
    *,
    look: LookupResult,
    send: int | None,
    texts: Texts,
    success: Callable[[Action], Success],
    mirror: Callable[[Action, Connection], Record],
) -> Written:
    """Write what a look-up saw and what follows: found, equal and final → executed; the provider's
    own record of a failure → failed; anything else stays executing, and the next look comes later.

    `send`: the latest send in doubt when the look began (`doubtful_send`). A failure says nothing
    of a send that an operator ordered meanwhile, so it ends nothing then.
    """
    async with connection.transaction():
        action, _now = await actions.lock(connection, action_id)
        await audit.append(connection, action_id, "looked", seen(look))
        if look.presence is Presence.FOUND and look.equal and look.final:
            return await _effect_proved(
                connection, action, success=success(action), mirror=mirror(action, connection)
            )
        if action.status is not Status.EXECUTING:
            return Written(_closed(action))
        failed = look.presence is Presence.ABSENT and look.final
        if failed and await doubtful_send(connection, action_id) == send:
            await feedback.close_failed(connection, action, CloseReason.REJECTED, texts=texts)
            return Written.FAILED
        await _look_again(connection, action, look, texts)
        return Written.OPEN


def seen(look: LookupResult) -> dict[str, Any]:
    """A look-up as evidence."""
    return {
        "presence": look.presence.value,
        "final": look.final,
        "equal": look.equal,
        "differences": list(look.differences),
        "evidence": look.evidence,
    }


def last_look(action: Action, look: LookupResult) -> dict[str, Any]:
    """What the action's row keeps: this look, and what the last one that found something found, for
    the text to the person if an operator settles it."""
    found: dict[str, Any] | None = (action.last_look or {}).get("found")
    if look.presence is Presence.FOUND:
        found = {**look.data, "provider_ref": look.provider_ref}
    return {
        "presence": look.presence.value,
        "equal": look.equal,
        "differences": list(look.differences),
        "found": found,
    }


async def _look_again(
    connection: Connection, action: Action, look: LookupResult, texts: Texts
) -> None:
    looks = action.looks + 1
    wait = min(LOOK_FIRST_S * 2.0 ** (looks - 1), LOOK_LONGEST_S)
    await connection.execute(
        "UPDATE actions SET looks = $2, look_at = clock_timestamp() + $3 * interval '1 second',"
        " last_look = $4 WHERE id = $1",
        action.id,
        looks,
        wait,
        last_look(action, look),
    )
    if looks < TELL_AFTER_LOOKS or action.verifying_told_at is not None:
        return
    await connection.execute(
        "UPDATE actions SET verifying_told_at = clock_timestamp() WHERE id = $1", action.id
    )
    say = texts.processing if look.presence is Presence.FOUND and look.equal else texts.verifying
    await _tell_verifying(connection, action, say(summary=action.summary, action_id=action.id))


async def _tell_verifying(connection: Connection, action: Action, text: str) -> None:
    message = NewMessage(
        key=f"action:{action.id}:verifying",
        purpose="verifying",
        message={"type": "text", "text": text},
    )
    await outbox.enqueue(
        connection, conversation=action.conversation_id, action=action.id, message=message
    )
    await actions.add_sent_text(connection, action, what="verifying", text=text)
