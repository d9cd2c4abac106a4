"""Whether an operation that a provider is about to carry out is ours: answered from the ledger.

The trap: a provider without keys does whatever bears our API key, a buggy sender's second transfer
and a thief's too. So an operation passes only if exactly one action asked for it and no other
operation passed for that action; the first answer is bound to the operation's id, in one
transaction, and a redelivery is told the same (facts: payments §11).
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from domain.actions import Status
from domain.outcomes import Outcome
from store import actions, audit
from store.actions import Action
from store.connection import Connection

Differs = Callable[[Action], str | None]
"""Why the operation is not what the action's frozen request asks for, None if it is."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What a provider says that it is about to do. Ids are already checked for their form.

    `action_id`: our key on it, None if it bears none. `is_the_ref`: whether its id is what a send's
    answer names as `provider_ref`. `content`: all that it says of itself, for its fingerprint.
    """

    account_id: str
    operation_id: str
    action_id: str | None
    is_the_ref: bool
    content: tuple[str | int | None, ...]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the content: what it says holds personal data and is not stored."""
        return hashlib.sha256(json.dumps(self.content).encode("ascii")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the provider is told. `reason` None: it may go."""

    reason: str | None
    repeated: bool = False

    @property
    def approved(self) -> bool:
        """Whether the operation may go."""
        return self.reason is None


async def decide(connection: Connection, asked: Operation, *, differs: Differs) -> Answer:
    """Answer, and bind the answer to the operation's id, in one transaction.

    Lock order as everywhere: conversation → action, then the operation's own row.
    """
    async with connection.transaction():
        action = await _locked(connection, asked)
        earlier = await _earlier(connection, asked)
        if earlier is None:
            reason = await _refusal(connection, asked, action, differs)
            if await _bound(connection, asked, action, reason):
                await _evidence(connection, asked, action, reason)
                return Answer(reason=reason)
            # The same operation was bound beside us under another key: its answer stands.
            earlier = await _earlier(connection, asked)
            assert earlier is not None
        if earlier.reason == _ANOTHER_CONTENT:
            await _evidence(connection, asked, action, earlier.reason)
        return earlier


_ANOTHER_CONTENT = "the operation said something else before"


async def _locked(connection: Connection, asked: Operation) -> Action | None:
    """The action that bears the key, locked; another account's is none."""
    if asked.action_id is None:
        return None
    owner = await connection.fetchval(
        "SELECT account_id FROM actions WHERE id = $1", asked.action_id
    )
    if owner != asked.account_id:
        return None
    action, _now = await actions.lock(connection, asked.action_id)
    return action


async def _earlier(connection: Connection, asked: Operation) -> Answer | None:
    """The answer that the operation's id is bound to, counted once more."""
    row = await connection.fetchrow(
        """
        UPDATE withdrawals SET asked = asked + 1, asked_at = clock_timestamp()
        WHERE account_id = $1 AND operation_id = $2 RETURNING fingerprint, reason
        """,
        asked.account_id,
        asked.operation_id,
    )
    if row is None:
        return None
    same = row["fingerprint"] == asked.fingerprint
    return Answer(reason=row["reason"] if same else _ANOTHER_CONTENT, repeated=True)


async def _refusal(
    connection: Connection, asked: Operation, action: Action | None, differs: Differs
) -> str | None:
    if action is None:
        return "no action asked for it"
    if action.status not in (Status.EXECUTING, Status.EXECUTED):
        return f"the action is {action.status.value}"
    if action.frozen_at is not None:
        return "the action is held since a restore"
    if action.recomputed_digest() != action.digest:
        return "the action's frozen columns do not hold"
    return (
        differs(action)
        or await _not_sent(connection, asked)
        or await _another_passed(connection, asked)
    )


async def _not_sent(connection: Connection, asked: Operation) -> str | None:
    """Only what a send of ours may have made; a send that named its operation, that one alone."""
    rows = await connection.fetch(
        "SELECT outcome, provider_ref FROM sends WHERE action_id = $1", asked.action_id
    )
    harmless = {Outcome.NOT_SENT.value, Outcome.REJECTED.value}
    sends = [row for row in rows if row["outcome"] not in harmless]
    if not sends:
        return "nothing was sent for the action"
    refs = {row["provider_ref"] for row in sends} - {None}
    if asked.is_the_ref and refs and asked.operation_id not in refs:
        return "the action's send made another operation"
    return None


async def _another_passed(connection: Connection, asked: Operation) -> str | None:
    passed = await connection.fetchval(
        "SELECT operation_id FROM withdrawals WHERE action_id = $1 AND approved", asked.action_id
    )
    return None if passed is None else "another operation passed for the action"


async def _bound(
    connection: Connection, asked: Operation, action: Action | None, reason: str | None
) -> bool:
    """Whether this call bound the answer to the operation's id."""
    bound = await connection.fetchval(
        """
        INSERT INTO withdrawals (account_id, operation_id, action_id, fingerprint, approved,
            reason, decided_at, asked_at)
        VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp(), clock_timestamp())
        ON CONFLICT (account_id, operation_id) DO NOTHING RETURNING true
        """,
        asked.account_id,
        asked.operation_id,
        action.id if action is not None else None,
        asked.fingerprint,
        reason is None,
        reason,
    )
    return bool(bound)


async def _evidence(
    connection: Connection, asked: Operation, action: Action | None, reason: str | None
) -> None:
    if action is None:
        return
    detail: dict[str, object] = {"operation": asked.operation_id}
    if reason is not None:
        detail["reason"] = reason
    event = "withdrawal_approved" if reason is None else "withdrawal_refused"
    await audit.append(connection, action.id, event, detail)
