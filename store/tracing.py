"""Turns as they happened, and every call of a model, from the rows alone.

A model's answer is stored before it is used, one row a call, so what is summed here is what was
paid: a retried activity finds its row and adds none.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.errors import OperatorError
from domain.history import ToolResult, ToolResults
from store.connection import Connection


@dataclass(frozen=True, kw_only=True)
class ListedTurn:
    """A turn in a list. `person`: the last four characters of an id. `claims`: what its reply
    claimed and no fact supported; None: no reply of the model was checked."""

    id: UUID
    account: str
    time_zone: str
    person: str
    opened_at: datetime
    closed_at: datetime | None
    outcome: str | None
    messages: int
    calls: int
    claims: list[dict[str, Any]] | None
    claims_replaced: bool


@dataclass(frozen=True, kw_only=True)
class TurnMessage:
    """A message of the person. `text`: None for kinds without one."""

    kind: str
    text: str | None
    sent_at: datetime | None
    received_at: datetime


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One answered call. `usage` as the provider counted; `content`: the blocks of its answer."""

    account: str
    turn_id: UUID
    step: int
    model: str
    stop_reason: str | None
    content: list[dict[str, Any]]
    usage: dict[str, int]
    request_id: str | None
    latency_ms: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """An action that the turn proposed."""

    id: str
    tool: str
    status: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class TurnSend:
    """A message to the person, of the turn or of its proposal."""

    key: str
    purpose: str
    state: str
    copies: int
    status: str | None
    created_at: datetime
    delivered_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class TurnReport:
    """Everything about one turn."""

    turn: ListedTurn
    messages: list[TurnMessage]
    calls: list[ModelCall]
    results: list[ToolResult]
    proposals: list[Proposal]
    sends: list[TurnSend]


_LISTED = """
    SELECT t.id, a.id AS account, a.time_zone, right(coalesce(c.user_id, c.wa_id), 4)
               AS person, t.opened_at, t.closed_at, t.outcome, t.claims, t.claims_replaced,
           (SELECT count(*) FROM inbox i WHERE i.turn_id = t.id) AS messages,
           (SELECT count(*) FROM model_answers m WHERE m.turn_id = t.id) AS calls
    FROM turns t JOIN conversations c ON c.id = t.conversation_id
    JOIN accounts a ON a.id = coalesce(t.account_id, c.account_id)
"""


async def list_turns(
    connection: Connection,
    *,
    since: datetime | None = None,
    account: str | None = None,
    person: str | None = None,
    limit: int = 50,
) -> list[ListedTurn]:
    """Turns opened since then (UTC), newest first; None does not narrow. `person`: a whole user id
    or phone, or the last characters of one."""
    rows = await connection.fetch(
        f"""{_LISTED}
        WHERE ($1::timestamptz IS NULL OR t.opened_at >= $1)
          AND ($2::text IS NULL OR a.id = $2)
          AND ($3::text IS NULL OR right(c.user_id, length($3)) = $3
               OR right(c.wa_id, length($3)) = $3)
        ORDER BY t.opened_at DESC, t.id LIMIT $4
        """,
        since,
        account,
        person,
        limit,
    )
    return [ListedTurn(**dict(row)) for row in rows]


async def resolve_turn(connection: Connection, prefix: str) -> UUID:
    """The turn whose id begins so (hexadecimal digits, with dashes or not). Raises OperatorError
    for none or several."""
    digits = prefix.replace("-", "")
    rows = await connection.fetch(
        "SELECT id FROM turns WHERE id BETWEEN $1 AND $2 LIMIT 2",
        UUID(digits.ljust(32, "0")),
        UUID(digits.ljust(32, "f")),
    )
    if not rows:
        raise OperatorError(f"there is no turn {prefix!r}; see `aval turns list`")
    if len(rows) > 1:
        raise OperatorError(f"several turns begin with {prefix!r}; give more of the id")
    found: UUID = rows[0]["id"]
    return found


async def turn_report(connection: Connection, turn: UUID) -> TurnReport:
    """Everything about a turn, of one moment. Raises LookupError if there is none."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        row = await connection.fetchrow(f"{_LISTED} WHERE t.id = $1", turn)
        if row is None:
            raise LookupError(f"there is no turn {turn}")
        return TurnReport(
            turn=ListedTurn(**dict(row)),
            messages=await _messages(connection, turn),
            calls=await calls(connection, turn=turn),
            results=await _results(connection, turn),
            proposals=await _proposals(connection, turn),
            sends=await _sends(connection, turn),
        )


async def calls(
    connection: Connection, *, turn: UUID | None = None, since: datetime | None = None
) -> list[ModelCall]:
    """The answered calls of a turn, or all since then (UTC), in their order."""
    rows = await connection.fetch(
        """
        SELECT coalesce(t.account_id, c.account_id) AS account, m.turn_id, m.step, m.model,
               m.stop_reason,
               CASE WHEN $1::uuid IS NULL THEN '[]' ELSE m.content END AS content,
               m.usage, m.request_id, m.latency_ms, m.created_at
        FROM model_answers m JOIN turns t ON t.id = m.turn_id
        JOIN conversations c ON c.id = t.conversation_id
        WHERE ($1::uuid IS NULL OR m.turn_id = $1)
          AND ($2::timestamptz IS NULL OR m.created_at >= $2)
        ORDER BY m.created_at, m.step
        """,
        turn,
        since,
    )
    return [ModelCall(**dict(row)) for row in rows]


async def _messages(connection: Connection, turn: UUID) -> list[TurnMessage]:
    rows = await connection.fetch(
        "SELECT kind, text, sent_at, received_at FROM inbox WHERE turn_id = $1"
        " ORDER BY coalesce(sent_at, received_at), seq",
        turn,
    )
    return [TurnMessage(**dict(row)) for row in rows]


async def _results(connection: Connection, turn: UUID) -> list[ToolResult]:
    rows = await connection.fetch(
        "SELECT content FROM history WHERE turn_id = $1 AND kind = 'tool_results' ORDER BY id", turn
    )
    return [result for row in rows for result in ToolResults.model_validate(row["content"]).results]


async def _proposals(connection: Connection, turn: UUID) -> list[Proposal]:
    rows = await connection.fetch(
        "SELECT id, tool, status, created_at FROM actions WHERE turn_id = $1 ORDER BY created_at",
        turn,
    )
    return [Proposal(**dict(row)) for row in rows]


async def _sends(connection: Connection, turn: UUID) -> list[TurnSend]:
    rows = await connection.fetch(
        """
        SELECT key, purpose, state, copies, status, created_at, delivered_at FROM outbox
        WHERE turn_id = $1 OR action_id IN (SELECT id FROM actions WHERE turn_id = $1)
        ORDER BY seq
        """,
        turn,
    )
    return [TurnSend(**dict(row)) for row in rows]
