"""What a person and the model's history are told when an action leaves a state: once, by template.

Each message and each line has a key of its own, so that whoever comes second says nothing.
"""

from typing import Any

from domain.actions import CloseReason, Status
from domain.texts import Texts
from store import actions, outbox
from store.actions import Action
from store.connection import Connection
from store.outbox import NewMessage


async def tell(connection: Connection, action: Action, *, texts: list[str]) -> None:
    """The feedback of the action, once: its messages in order, and the same in the history."""
    for n, text in enumerate(texts):
        what = "feedback" if n == 0 else f"feedback{n}"
        fresh = await outbox.enqueue(
            connection,
            conversation=action.conversation_id,
            action=action.id,
            message=NewMessage(
                key=f"action:{action.id}:{what}",
                purpose="receipt",
                message={"type": "text", "text": text},
            ),
        )
        if fresh:
            await actions.add_sent_text(connection, action, what=what, text=text)


def closed_event(
    texts: Texts,
    action_id: str,
    status: Status,
    reason: CloseReason | None,
    *,
    detail: str | None = None,
) -> str:
    """The line for the model's history about an action that ended without its effect."""
    if status is Status.EXPIRED:
        return texts.event_expired(action_id)
    return texts.event_failed(
        action_id, reason=detail or (reason.value if reason else status.value)
    )


async def close_failed(
    connection: Connection,
    action: Action,
    reason: CloseReason,
    *,
    texts: Texts,
    detail: str | None = None,
    evidence: dict[str, Any] | None = None,
) -> None:
    """Close the locked, executing action as failed and tell the person, in the caller's
    transaction."""
    await actions.change(
        connection,
        action,
        Status.FAILED,
        evidence={"reason": reason.value, "detail": detail, **(evidence or {})},
        reason=reason.value,
        detail=detail,
    )
    await actions.add_event(
        connection,
        action,
        what="closed",
        text=closed_event(texts, action.id, Status.FAILED, reason, detail=detail),
    )
    text = texts.closed(reason, detail=detail)
    if text is not None:
        await tell(connection, action, texts=[text])
