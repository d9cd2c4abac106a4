"""The one transaction that makes a proposal: supersede the old, insert the new, with its history.

Nothing changes unless *prepare* succeeded before. The proposal is refused, and the model thinks
again, if the conversation's facts moved since it thought, or a decision for the open action is
stored (design §3.3). The action id derives from the turn, so a repeat finds its own row.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from domain.actions import Status
from domain.canonical import JsonValue
from domain.people import Who
from store import actions, audit, deciding, history, outbox, turns
from store.actions import Action
from store.connection import Connection
from store.outbox import NewMessage
from store.ringing import FIRST_RING_S


class Proposed(StrEnum):
    """What became of a proposal."""

    NEW = "new"  # or its own row from an earlier try
    STALE = "stale"  # the facts moved: think again
    EQUAL = "equal"  # an equal effect lives already
    ANSWERED = "answered"  # an earlier try told the model otherwise, and that stays


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Everything that is frozen, ready to be stored. Times are UTC. `step`: of the turn."""

    action_id: str
    turn: UUID
    step: int = 0
    conversation: UUID
    who: Who
    phone_number_id: str
    tool: str
    tool_version: int
    risk: str
    confirm: str
    effect: str
    payload: dict[str, JsonValue]
    payload_hash: str
    summary: str
    request: dict[str, JsonValue] | None
    digest: str
    business_key: str | None
    compensates: str | None
    expires_at: datetime
    facts_seq: int
    prompt: dict[str, Any] | None
    locked_for_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class TurnHistory:
    """The entries that the proposal adds to the history, by slot, in order. `calls`: the slot that
    is taken once the step's calls are answered, by whichever try."""

    entries: list[tuple[str, str, dict[str, JsonValue]]]
    calls: str | None = None


@dataclass(frozen=True, kw_only=True)
class ProposeResult:
    """`action`: the proposed action, or the equal one that lives already."""

    what: Proposed
    action: Action | None = None


async def now(connection: Connection) -> datetime:
    """PostgreSQL's clock, by which the deadline is set and judged."""
    at: datetime = await connection.fetchval("SELECT clock_timestamp()")
    return at


async def find_proposed(connection: Connection, *, turn: UUID, action_id: str) -> Action | None:
    """The row of an earlier try of this turn, if any."""
    action = await actions.find(connection, action_id)
    assert action is None or action.turn_id == turn, f"action {action_id!r} is of another turn"
    return action


async def proposed_at(
    connection: Connection, *, conversation: UUID, turn: UUID, step: int
) -> Action | None:
    """The action that an earlier try of this very step made, whatever *prepare* says now."""
    action_id = await connection.fetchval(
        "SELECT a.id FROM actions a JOIN audit_events e ON e.action_id = a.id AND e.n = 1"
        " WHERE a.conversation_id = $1 AND a.turn_id = $2 AND (e.detail ->> 'step')::int = $3",
        conversation,
        turn,
        step,
    )
    return await actions.find(connection, action_id) if action_id is not None else None


async def propose(
    connection: Connection, proposal: Proposal, written: TurnHistory
) -> ProposeResult:
    """Store the proposal in one transaction; see `Proposed` for what may come of it."""
    async with connection.transaction():
        await turns.lock_conversation(connection, proposal.conversation)
        own = await _own(connection, proposal)
        if own is not None:
            return ProposeResult(what=Proposed.NEW, action=own)
        if written.calls is not None and await history.has_slot(
            connection, conversation=proposal.conversation, slot=written.calls
        ):
            return ProposeResult(what=Proposed.ANSWERED)
        if await _facts_seq(connection, proposal.conversation) != proposal.facts_seq:
            return ProposeResult(what=Proposed.STALE)
        equal = await actions.live_equal(
            connection,
            business_key=proposal.business_key,
            account=proposal.who.account_id,
            tool=proposal.tool,
            payload_hash=proposal.payload_hash,
        )
        if equal is not None:
            return ProposeResult(what=Proposed.EQUAL, action=equal)
        if proposal.confirm != "direct" and not await _make_room(connection, proposal):
            return ProposeResult(what=Proposed.STALE)
        await _insert(connection, proposal)
        for slot, kind, content in written.entries:
            await history.append_turn_entry(
                connection,
                conversation=proposal.conversation,
                turn=proposal.turn,
                slot=slot,
                kind=kind,
                content=content,
            )
        return ProposeResult(
            what=Proposed.NEW, action=await actions.get(connection, proposal.action_id)
        )


async def _own(connection: Connection, proposal: Proposal) -> Action | None:
    found = await find_proposed(connection, turn=proposal.turn, action_id=proposal.action_id)
    return found or await proposed_at(
        connection, conversation=proposal.conversation, turn=proposal.turn, step=proposal.step
    )


async def _facts_seq(connection: Connection, conversation: UUID) -> int:
    seq: int = await connection.fetchval(
        "SELECT facts_seq FROM conversations WHERE id = $1", conversation
    )
    return seq


async def _make_room(connection: Connection, proposal: Proposal) -> bool:
    """Supersede the open action; False if a stored decision moved it instead."""
    open_action = await actions.pending_of(connection, proposal.conversation)
    if open_action is None:
        return True
    status = await deciding.supersede(connection, open_action, by=proposal.action_id)
    return status is Status.SUPERSEDED


async def _insert(connection: Connection, proposal: Proposal) -> None:
    direct = proposal.confirm == "direct"
    await connection.execute(
        f"""
        INSERT INTO actions (id, conversation_id, account_id, turn_id, tool, tool_version, risk,
            confirm, effect, payload, payload_hash, summary, request, digest, business_key,
            compensates, phone_number_id, user_id, wa_id, role, status, expires_at, created_at,
            executing_since, locked_until, ring_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
            $19, $20, $21, $22, clock_timestamp(),
            CASE WHEN $23 THEN clock_timestamp() END,
            CASE WHEN $23 THEN clock_timestamp() + $24 * interval '1 second' END,
            CASE WHEN $23 THEN clock_timestamp() + interval '{FIRST_RING_S} seconds'
                ELSE $22::timestamptz + interval '{FIRST_RING_S} seconds' END)
        """,
        proposal.action_id,
        proposal.conversation,
        proposal.who.account_id,
        proposal.turn,
        proposal.tool,
        proposal.tool_version,
        proposal.risk,
        proposal.confirm,
        proposal.effect,
        proposal.payload,
        proposal.payload_hash,
        proposal.summary,
        proposal.request,
        proposal.digest,
        proposal.business_key,
        proposal.compensates,
        proposal.phone_number_id,
        proposal.who.person.user_id,
        proposal.who.person.wa_id,
        proposal.who.role.value,
        (Status.EXECUTING if direct else Status.PENDING).value,
        proposal.expires_at,
        direct,
        proposal.locked_for_s,
    )
    await audit.append(
        connection,
        proposal.action_id,
        "proposed",
        {
            "digest": proposal.digest,
            "tool": proposal.tool,
            "confirm": proposal.confirm,
            "step": proposal.step,
        },
    )
    await connection.execute(
        "UPDATE conversations SET facts_seq = facts_seq + 1 WHERE id = $1", proposal.conversation
    )
    if proposal.prompt is not None:
        await outbox.enqueue(
            connection,
            conversation=proposal.conversation,
            action=proposal.action_id,
            message=NewMessage(
                key=f"action:{proposal.action_id}:prompt",
                purpose="prompt",
                message=proposal.prompt,
            ),
        )
