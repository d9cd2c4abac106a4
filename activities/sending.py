"""*prompt* and *announce*: messages leave, each once a copy, under the outbox's fence.

WhatsApp has no idempotency key, so the returned row of the claim is the right to send one copy. A
message that certainly did not go out is tried again by Temporal for a while, then by the sweeper;
one that may have gone out waits for its status.
"""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.deps import Deps
from activities.messages import Unsent
from channels.whatsapp.outcome import SendOutcome, SendResult
from domain.outbound import OUTBOUND_MESSAGE, PromptMessage, Recipient, TextMessage
from domain.texts import texts_for
from store import outbox
from store.outbox import DueMessage

log = logging.getLogger(__name__)

FENCE_TO_WIRE_S = 2.0
"""More between fence and wire means a stalled process: the copy is given back, not sent (§3.4)."""

RETRY_S = 2.0  # where WhatsApp names no delay
TEMPORAL_TRIES_S = 95.0  # Temporal tries for 90 s (workflows/options.py); then the sweeper rings


class TooLateForTheWireError(Exception):
    """The process stalled between the fence and the wire; nothing was sent."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.1f} s between fence and wire, {FENCE_TO_WIRE_S} s allowed")


class WireDeadline:
    """Refuses the wire when more than two seconds have passed since just before the fence."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    def check(self) -> None:
        """Raise TooLateForTheWireError if it is too late."""
        passed = time.monotonic() - self._since
        if passed > FENCE_TO_WIRE_S:
            raise TooLateForTheWireError(passed)


class Announce:
    """Sends what is due of an action, or of a conversation's turns. Also registered as *prompt*."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="announce")
    async def run(self, whose: Unsent) -> bool:
        """Send all that is due, in order; whether any was refused for good. Raises ApplicationError
        with a delay while a message certainly did not go out and may go again."""
        async with self._deps.pool.acquire() as connection:
            keys = await outbox.due(
                connection, action=whose.action_id, conversation=whose.conversation_id
            )
        return await send_all(self._deps, keys)

    @activity.defn(name="prompt")
    async def prompt(self, whose: Unsent) -> bool:
        """The same for the prompt, under its own name in the operator's view."""
        return await self.run(whose)


async def send_all(deps: Deps, keys: Sequence[str]) -> bool:
    """Send each row once, in order; whether any was refused for good. Stops at the first that has
    to wait, to keep the order."""
    refused = False
    for key in keys:
        deadline = WireDeadline()
        async with deps.pool.acquire() as connection:
            due = await outbox.claim(connection, key)
        if due is None:
            continue
        result = await deps.whatsapp.send(
            phone_number_id=due.phone_number_id,
            recipient=Recipient(user_id=due.user_id, wa_id=due.wa_id),
            message=_message(due),
            callback_data=due.key,
            before_wire=deadline.check,
        )
        await _record(deps, due, result)
        refused = refused or result.outcome is SendOutcome.NOT_SENT_FINAL
        if result.outcome is SendOutcome.NOT_SENT_RETRY:
            raise ApplicationError(
                f"not sent: {result.detail}",
                type="whatsapp_not_sent",
                next_retry_delay=timedelta(seconds=result.retry_after or RETRY_S),
            )
    return refused


def _message(due: DueMessage) -> TextMessage | PromptMessage:
    """The stored message; a repeated receipt says which action it is of, true when read twice."""
    message = OUTBOUND_MESSAGE.validate_python(due.message)
    if due.repeated and due.action_id and isinstance(message, TextMessage):
        text = texts_for(due.language).with_reference(message.text, action_id=due.action_id)
        return TextMessage(text=text)
    return message


async def _record(deps: Deps, due: DueMessage, result: SendResult) -> None:
    async with deps.pool.acquire() as connection:
        match result.outcome:
            case SendOutcome.ACCEPTED:
                await outbox.accepted(connection, due.key, wamid=result.wamid or due.key)
            case SendOutcome.NOT_SENT_RETRY:
                await outbox.not_sent(
                    connection,
                    due.key,
                    ring_in_s=max(result.retry_after or 0.0, TEMPORAL_TRIES_S),
                    reason=result.detail,
                )
            case SendOutcome.NOT_SENT_FINAL:
                log.error(
                    "message refused by WhatsApp",
                    extra={"key": due.key, "code": result.error_code, "why": str(result.reason)},
                )
                await outbox.refused(
                    connection, due.key, error_code=result.error_code, reason=result.detail
                )
            case SendOutcome.UNKNOWN:
                log.warning("message in doubt", extra={"key": due.key, "why": result.detail})
                await outbox.unknown(connection, due.key, reason=result.detail)
