"""The one door out of `pending`: SQL only, retried freely.

Lock the action's row, *then* read its decisions, *then* write (design §3.3). The webhook takes a
key-share lock on the action before it stores a decision, so a decision is either seen here or
stored after the change and answered by the next call.
"""

from datetime import datetime
from uuid import UUID

import asyncpg

from domain.actions import CloseReason, Refusal, Source, Status, Verdict
from domain.deciding import (
    Judgement,
    PendingFacts,
    StoredDecision,
    is_right,
    judge,
    why_wrong,
)
from domain.people import Person, Role
from domain.texts import Texts, texts_for
from store import actions, audit, feedback, outbox
from store.actions import Action
from store.connection import Connection
from store.next_step import Next, next_step
from store.outbox import NewMessage
from store.ringing import FIRST_RING_S


async def decide(connection: Connection, action_id: str) -> Next:
    """Apply the stored decisions and the clock to the action; answer what was not followed.

    Raises LookupError for an unknown action.
    """
    try:
        return await _decide(connection, action_id)
    except asyncpg.UniqueViolationError:
        # An equal effect of another conversation won the same moment; now it is committed and seen.
        return await _decide(connection, action_id)


async def _decide(connection: Connection, action_id: str) -> Next:
    async with connection.transaction():
        action, now = await actions.lock(connection, action_id)
        texts = texts_for(await actions.language_of(connection, action))
        decisions = await _unanswered(connection, action_id)
        status = action.status
        if status is Status.PENDING:
            status = await _judge_pending(connection, action, now, decisions, texts)
        else:
            await _answer_late(connection, action, decisions, texts)
        return await next_step(connection, action_id, status, texts)


async def _unanswered(connection: Connection, action_id: str) -> list[StoredDecision]:
    rows = await connection.fetch(
        f"""
        SELECT d.id, verdict, d.phone_number_id, d.user_id, d.wa_id, d.received_at,
            {_FOREIGN_PROMPT} AS foreign_prompt
        FROM decisions d LEFT JOIN inbox i ON i.id = d.inbox_id
        WHERE action_id = $1 AND answered_at IS NULL AND source <> $2 ORDER BY d.seq FOR UPDATE OF d
        """,
        action_id,
        Source.OPERATOR.value,
    )
    return [
        StoredDecision(
            id=row["id"],
            verdict=Verdict(row["verdict"]),
            person=Person(user_id=row["user_id"], wa_id=row["wa_id"]),
            phone_number_id=row["phone_number_id"],
            received_at=row["received_at"],
            foreign_prompt=bool(row["foreign_prompt"]),
        )
        for row in rows
    ]


_FOREIGN_PROMPT = """
    (i.quoted_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM outbox_wamids w
        WHERE w.wamid = i.quoted_id AND w.key = 'action:' || d.action_id || ':prompt')
     AND (EXISTS (SELECT 1 FROM outbox_wamids w WHERE w.wamid = i.quoted_id)
        OR EXISTS (SELECT 1 FROM outbox o WHERE o.key = 'action:' || d.action_id || ':prompt'
            AND o.copies <= (SELECT count(*) FROM outbox_wamids w WHERE w.key = o.key))))
"""
"""The click names a message that is not the action's prompt: another one of ours, or anything while
the ids of all the prompt's copies are known. A copy in doubt has an id that nobody told us yet."""


async def _bound(connection: Connection, action: Action) -> Person:
    """Whom the action was frozen for, with the user id that his phone showed since, if it knew
    none: the same phone with another user id is somebody else (facts/whatsapp.md §5.4)."""
    if action.person.user_id:
        return action.person
    user_id = await connection.fetchval(
        "SELECT user_id FROM conversations WHERE id = $1", action.conversation_id
    )
    return Person(user_id=user_id, wa_id=action.person.wa_id)


# ---------------------------------------------------------------- pending


async def _judge_pending(
    connection: Connection,
    action: Action,
    now: datetime,
    decisions: list[StoredDecision],
    texts: Texts,
) -> Status:
    facts = await _facts(connection, action, now, any_decision=bool(decisions))
    judgement = judge(facts, decisions)
    await _refuse(connection, action, judgement)
    if judgement.after is None:
        return Status.PENDING
    await _leave_pending(connection, action, judgement, texts)
    await _tell_judged(connection, action, judgement, decisions, texts)
    return judgement.after


async def _facts(
    connection: Connection, action: Action, now: datetime, *, any_decision: bool
) -> PendingFacts:
    base = PendingFacts(
        person=await _bound(connection, action),
        phone_number_id=action.phone_number_id,
        expires_at=action.expires_at,
        now=now,
        identity_changed=await _identity_changed(connection, action),
        prompt_failed=await _prompt_failed(connection, action.id),
    )
    if not any_decision:
        return base
    return _with(
        base,
        digest_ok=action.recomputed_digest() == action.digest,
        role_ok=await _role_ok(connection, action),
        equal_effect_live=await actions.live_equal(
            connection,
            business_key=action.business_key,
            account=action.account_id,
            tool=action.tool,
            payload_hash=action.payload_hash,
        )
        is not None,
    )


def _with(facts: PendingFacts, **changes: bool) -> PendingFacts:
    return PendingFacts(**{**facts.__dict__, **changes})


async def _identity_changed(connection: Connection, action: Action) -> bool:
    """Since the person asked, not only since he was shown the prompt: it would go to the new
    one."""
    found = await connection.fetchval(
        """
        SELECT 1 FROM identity_changes WHERE conversation_id = $1
            AND received_at >= least($3::timestamptz,
                (SELECT min(received_at) FROM inbox asked WHERE asked.turn_id = $2))
        LIMIT 1
        """,
        action.conversation_id,
        action.turn_id,
        action.created_at,
    )
    return found is not None


async def _prompt_failed(connection: Connection, action_id: str) -> bool:
    """Only if every copy certainly failed: dropped, or reported failed by WhatsApp."""
    failed = await connection.fetchval(
        "SELECT 1 FROM outbox WHERE action_id = $1 AND purpose = 'prompt'"
        " AND (state = 'dropped' OR status = 'failed')",
        action_id,
    )
    return failed is not None


async def _role_ok(connection: Connection, action: Action) -> bool:
    """A member must still be one, with the frozen role or a higher one; public stays public."""
    if action.role is Role.PUBLIC:
        return True
    role = await connection.fetchval(
        "SELECT role FROM members WHERE account_id = $1 AND active AND"
        " ((user_id IS NOT NULL AND user_id = $2) OR (user_id IS NULL AND wa_id = $3))"
        " ORDER BY user_id NULLS LAST LIMIT 1",
        action.account_id,
        action.person.user_id,
        action.person.wa_id,
    )
    return role is not None and Role(role) in {action.role, Role.OWNER}


async def _leave_pending(
    connection: Connection, action: Action, judgement: Judgement, texts: Texts
) -> None:
    assert judgement.after is not None
    followed = judgement.followed
    delivered = await connection.fetchrow(
        "SELECT wamid IS NOT NULL AS accepted, delivered_at FROM outbox"
        " WHERE action_id = $1 AND purpose = 'prompt'",
        action.id,
    )
    await actions.change(
        connection,
        action,
        judgement.after,
        evidence={
            "reason": judgement.reason,
            "decision": str(followed.id) if followed else None,
            "signed_item": await _signed_item(connection, followed.id) if followed else None,
            "prompt_accepted": delivered["accepted"] if delivered else None,
            "prompt_delivered_at": _iso(delivered["delivered_at"]) if delivered else None,
        },
        reason=judgement.reason,
        decision=followed.id if followed else None,
        ring_in_s=FIRST_RING_S if judgement.after is Status.EXECUTING else None,
    )
    if followed is not None:
        await _answered(connection, followed.id, followed=True, refusal=None)
        source = await connection.fetchval(
            "SELECT source FROM decisions WHERE id = $1", followed.id
        )
        await actions.add_event(
            connection,
            action,
            what="decision",
            text=_decision_event(texts, action.id, followed.verdict, source),
        )
    if judgement.after in {Status.EXPIRED, Status.FAILED, Status.CANCELLED} and not followed:
        await actions.add_event(
            connection,
            action,
            what="closed",
            text=feedback.closed_event(texts, action.id, judgement.after, judgement.reason),
        )


def _decision_event(texts: Texts, action_id: str, verdict: Verdict, source: str) -> str:
    if verdict is Verdict.CANCEL:
        return texts.event_cancelled(action_id)
    if source == Source.TYPED.value:
        return texts.event_typed_yes(action_id)
    return texts.event_confirmed(action_id)


async def _signed_item(connection: Connection, decision: UUID) -> str | None:
    """The decider's own item as Meta signed it within its webhook, as JSON text."""
    raw: bytes | None = await connection.fetchval(
        "SELECT i.raw FROM decisions d JOIN inbox i ON i.id = d.inbox_id WHERE d.id = $1", decision
    )
    return raw.decode("ascii", "backslashreplace") if raw is not None else None


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


async def _refuse(connection: Connection, action: Action, judgement: Judgement) -> None:
    for decision, refusal in judgement.refused.items():
        await _answered(connection, decision, followed=False, refusal=refusal)
        await audit.append(
            connection,
            action.id,
            "decision_refused",
            {"decision": str(decision), "refusal": refusal.value},
        )


async def _answered(
    connection: Connection, decision: UUID, *, followed: bool, refusal: Refusal | None
) -> None:
    await connection.execute(
        "UPDATE decisions SET answered_at = clock_timestamp(), ring_at = NULL, followed = $2,"
        " refusal = $3 WHERE id = $1",
        decision,
        followed,
        refusal.value if refusal else None,
    )


async def _tell_judged(
    connection: Connection,
    action: Action,
    judgement: Judgement,
    decisions: list[StoredDecision],
    texts: Texts,
) -> None:
    """One feedback for a close; an expiry is told only to who pressed too late."""
    assert judgement.after is not None
    if judgement.after is Status.EXECUTING or judgement.reason is None:
        return
    late = [one for one in decisions if judgement.refused.get(one.id) is Refusal.LATE]
    if judgement.reason is CloseReason.EXPIRED:
        if late:
            await _answer(connection, action, judgement.after, late[0].verdict, texts)
        return
    text = texts.closed(judgement.reason)
    if text is not None:
        await feedback.tell(connection, action, texts=[text])


async def _answer_late(
    connection: Connection, action: Action, decisions: list[StoredDecision], texts: Texts
) -> None:
    """Decisions that came when the action had left `pending`: one short answer per outcome for the
    right person, silence for anyone else (design §6)."""
    person = await _bound(connection, action)
    for one in decisions:
        right = is_right(one, person=person, phone_number_id=action.phone_number_id)
        if right and action.status is Status.EXECUTING:
            if one.verdict is Verdict.CANCEL and action.verifying_told_at is None:
                continue  # its outcome is moments away: told with it
            if one.verdict is Verdict.CANCEL or action.verifying_told_at is not None:
                await _answer(connection, action, action.status, one.verdict, texts)
        elif right:
            await _answer(connection, action, action.status, one.verdict, texts)
        refusal = Refusal.LATE if right else why_wrong(one)
        await _refuse(connection, action, Judgement(refused={one.id: refusal}))


async def _answer(
    connection: Connection, action: Action, status: Status, verdict: Verdict, texts: Texts
) -> None:
    say = texts.late_cancel if verdict is Verdict.CANCEL else texts.late_confirm
    text = say(status, summary=action.summary, action_id=action.id)
    if action.reason == CloseReason.RESTORED:
        text = texts.closed(CloseReason.RESTORED) or text  # "nothing was done" may not be true
    key = f"action:{action.id}:late:{status.value}:{verdict.value}"
    fresh = await outbox.enqueue(
        connection,
        conversation=action.conversation_id,
        action=action.id,
        message=NewMessage(key=key, purpose="receipt", message={"type": "text", "text": text}),
    )
    if fresh:
        await actions.add_sent_text(
            connection, action, what=f"late:{status.value}:{verdict.value}", text=text
        )


async def supersede(connection: Connection, action_id: str, *, by: str) -> Status:
    """Close the open action for a newer proposal, through the same door: a stored decision is not
    passed over. Returns the status that it has now; SUPERSEDED if it was replaced.

    The caller's transaction holds the conversation's row.
    """
    action, now = await actions.lock(connection, action_id)
    if action.status is not Status.PENDING:
        return action.status
    decisions = await _unanswered(connection, action_id)
    texts = texts_for(await actions.language_of(connection, action))
    status = await _judge_pending(connection, action, now, decisions, texts)
    if status is not Status.PENDING:
        return status
    await actions.change(
        connection,
        action,
        Status.SUPERSEDED,
        evidence={"reason": CloseReason.SUPERSEDED.value, "by": by},
        reason=CloseReason.SUPERSEDED.value,
    )
    await actions.add_event(
        connection,
        action,
        what="closed",
        text=texts.event_superseded(action.id),
    )
    return Status.SUPERSEDED


async def close_restored(connection: Connection, action_id: str, *, operator: str) -> bool:
    """Close a pending action because the database came back from a backup, through the same door;
    whether it was pending.

    No stored decision is followed: it may have been followed before, in what the backup forgot. The
    person is told nothing now, since nobody knows what he was told; a later press gets a text that
    claims nothing.
    """
    async with connection.transaction():
        action, _now = await actions.lock(connection, action_id)
        if action.status is not Status.PENDING:
            return False
        for one in await _unanswered(connection, action_id):
            await _refuse(connection, action, Judgement(refused={one.id: Refusal.RESTORED}))
        await actions.change(
            connection,
            action,
            Status.EXPIRED,
            evidence={"reason": CloseReason.RESTORED.value, "operator": operator},
            reason=CloseReason.RESTORED.value,
        )
        return True
