"""An operator's word on a stuck action: a decision row, applied under the action's lock.

It works with Temporal down and the workflow gone: `executed` and `failed` are rows and messages to
send, `resend` is a right that the fence uses up (store/resending.py). The rules are
domain/settling.py's; here the facts are gathered and what they say is written.
"""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.actions import CloseReason, Source, Status, Verdict
from domain.canonical import JsonValue
from domain.errors import OperatorError
from domain.outcomes import LookupResult, Outcome, Presence
from domain.settling import FirstWord, Look, ProviderRules, Ruling, StuckFacts, Trip, Wish, rule
from domain.texts import texts_for
from store import actions, audit, executing, feedback
from store.actions import Action
from store.connection import Connection
from store.executing import Success
from store.ringing import FIRST_RING_S

Told = Callable[[Action, dict[str, Any]], Success]
"""Result and texts of an executed action, from what the provider last showed of it, if it did."""

Mirror = Callable[[Action, Connection], Callable[[dict[str, JsonValue]], Awaitable[None]]]


class NotAllowedError(OperatorError):
    """The rules refuse an operator's word; the message says why, and when it may be said."""


@dataclass(frozen=True, kw_only=True)
class Operator:
    """Who says it, on what evidence."""

    name: str
    evidence: str | None = None


async def weigh(
    connection: Connection, action_id: str, wish: Wish, *, rules: ProviderRules | None
) -> Ruling:
    """What the rules say of the wish now; changes nothing. Raises LookupError for an unknown
    action."""
    async with connection.transaction(readonly=True):
        action = await actions.get(connection, action_id)
        now = await connection.fetchval("SELECT clock_timestamp()")
        return rule(await _facts(connection, action, now, rules), wish)


async def settle(
    connection: Connection,
    action_id: str,
    wish: Wish,
    *,
    by: Operator,
    rules: ProviderRules | None,
    told: Told,
    mirror: Mirror,
) -> Action:
    """Follow an operator's word, once; the action as it is then.

    Raises NotAllowedError if the rules refuse it, LookupError for an unknown action.
    """
    async with connection.transaction():
        action, now = await actions.lock(connection, action_id)
        ruling = rule(await _facts(connection, action, now, rules), wish)
        if ruling.refused is not None:
            raise NotAllowedError(f"action {action_id!r}: {ruling.refused}")
        word = await _store(connection, action, wish, by, valid_until=ruling.valid_until)
        if wish.verdict is Verdict.RESEND:
            await audit.append(connection, action_id, "resend", {**word, "send": wish.as_send})
            await _ring_soon(connection, action_id)
        elif wish.verdict is Verdict.EXECUTED:
            await _executed(connection, action, word, told, mirror)
        else:
            await _failed(connection, action, word)
        return await actions.get(connection, action_id)


async def _facts(
    connection: Connection, action: Action, now: datetime, rules: ProviderRules | None
) -> StuckFacts:
    confirmed_at = await connection.fetchval(
        "SELECT min(received_at) FROM decisions WHERE action_id = $1 AND verdict = 'confirm'"
        " AND followed",
        action.id,
    )
    return StuckFacts(
        status=action.status,
        in_database=action.effect == "database",
        confirmed_at=confirmed_at or action.executing_since or action.created_at,
        now=now,
        sends=await _sends(connection, action.id),
        looks=await _looks(connection, action.id),
        rules=rules,
        frozen_at=action.frozen_at,
        words=await _words(connection, action.id),
    )


async def _sends(connection: Connection, action_id: str) -> list[Trip]:
    rows = await connection.fetch(
        "SELECT n, fenced_at, outcome FROM sends WHERE action_id = $1 ORDER BY n", action_id
    )
    return [
        Trip(
            n=row["n"],
            fenced_at=row["fenced_at"],
            outcome=Outcome(row["outcome"]) if row["outcome"] else None,
        )
        for row in rows
    ]


async def _looks(connection: Connection, action_id: str) -> list[Look]:
    rows = await connection.fetch(
        "SELECT at, detail ->> 'presence' AS presence FROM audit_events"
        " WHERE action_id = $1 AND event = 'looked' ORDER BY n",
        action_id,
    )
    return [Look(at=row["at"], presence=Presence(row["presence"])) for row in rows]


async def _words(connection: Connection, action_id: str) -> list[FirstWord]:
    rows = await connection.fetch(
        "SELECT operator, verdict, received_at AS at, as_send FROM decisions"
        " WHERE action_id = $1 AND source = 'operator' AND followed IS DISTINCT FROM false"
        " ORDER BY seq",
        action_id,
    )
    return [FirstWord(**{**dict(row), "verdict": Verdict(row["verdict"])}) for row in rows]


async def _store(
    connection: Connection,
    action: Action,
    wish: Wish,
    by: Operator,
    *,
    valid_until: datetime | None = None,
) -> dict[str, JsonValue]:
    """Store the decision row; the same as evidence. A resend waits for the fence that uses it up;
    the others are done."""
    decision = uuid.uuid4()
    await connection.execute(
        """
        INSERT INTO decisions (id, action_id, verdict, source, operator, evidence, as_send,
            valid_until, received_at, answered_at, followed, ring_at)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, now,
            CASE WHEN $8::timestamptz IS NULL THEN now END,
            CASE WHEN $8::timestamptz IS NULL THEN true END,
            CASE WHEN $8::timestamptz IS NOT NULL THEN now END
        FROM (SELECT clock_timestamp() AS now) clock
        """,
        decision,
        action.id,
        wish.verdict.value,
        Source.OPERATOR.value,
        by.name,
        by.evidence,
        wish.as_send,
        valid_until,
    )
    return {
        "decision": str(decision),
        "operator": by.name,
        "verdict": wish.verdict.value,
        "evidence": by.evidence,
    }


async def _ring_soon(connection: Connection, action_id: str) -> None:
    """The workflow may be waiting for a look that is minutes away, or be at its end."""
    await connection.execute(
        f"UPDATE actions SET rings = 0, ring_at = clock_timestamp()"
        f" + interval '{FIRST_RING_S} seconds' WHERE id = $1",
        action_id,
    )


async def _executed(
    connection: Connection,
    action: Action,
    word: dict[str, JsonValue],
    told: Told,
    mirror: Mirror,
) -> None:
    success = told(action, await _shown(connection, action))
    await actions.change(connection, action, Status.EXECUTED, evidence=word, result=success.result)
    await executing.mirror_result(connection, action, success, mirror(action, connection))
    await _tell(connection, action, Verdict.EXECUTED, success.texts)


async def _shown(connection: Connection, action: Action) -> dict[str, Any]:
    """What the provider last showed of the effect: by a look that found something, else by the
    answer to a send; empty if it never did."""
    found: dict[str, Any] | None = (action.last_look or {}).get("found")
    if found is not None:
        return found
    row = await connection.fetchrow(
        "SELECT data, provider_ref FROM sends WHERE action_id = $1 AND provider_ref IS NOT NULL"
        " ORDER BY n DESC LIMIT 1",
        action.id,
    )
    return {**(row["data"] or {}), "provider_ref": row["provider_ref"]} if row else {}


async def fail_by_word(connection: Connection, action: Action, by: Operator) -> None:
    """Close the locked, executing action as failed on an operator's word that no rule has to allow,
    and tell the person, in the caller's transaction."""
    await _failed(
        connection, action, await _store(connection, action, Wish(verdict=Verdict.FAILED), by)
    )


async def _failed(connection: Connection, action: Action, word: dict[str, JsonValue]) -> None:
    texts = texts_for(await actions.language_of(connection, action))
    reason = CloseReason.SETTLED_BY_OPERATOR
    await actions.change(connection, action, Status.FAILED, evidence=word, reason=reason.value)
    text = texts.closed(reason)
    await _tell(connection, action, Verdict.FAILED, [text] if text is not None else [])


async def _tell(connection: Connection, action: Action, verdict: Verdict, said: list[str]) -> None:
    texts = texts_for(await actions.language_of(connection, action))
    await actions.add_event(
        connection,
        action,
        what="closed",
        text=texts.event_operator(action.id, verdict=verdict),
    )
    await feedback.tell(connection, action, texts=said)


async def write_look(
    connection: Connection, action_id: str, look: LookupResult, *, operator: str | None
) -> bool:
    """Write an operator's look-up as evidence; it moves nothing. Whether it contradicts what the
    action was closed as: something under its key, although it ended without effect."""
    async with connection.transaction():
        action, _now = await actions.lock(connection, action_id)
        await audit.append(
            connection, action_id, "looked", {**executing.seen(look), "operator": operator}
        )
        if action.status is Status.EXECUTING:
            await connection.execute(
                "UPDATE actions SET last_look = $2 WHERE id = $1",
                action_id,
                executing.last_look(action, look),
            )
        ended = action.status not in {Status.PENDING, Status.EXECUTING, Status.EXECUTED}
        contradicts = ended and look.presence is Presence.FOUND
        if contradicts:
            await audit.append(
                connection,
                action_id,
                "contradiction",
                {"closed_as": action.status.value, "operator": operator},
            )
        return contradicts
