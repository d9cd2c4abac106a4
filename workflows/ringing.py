"""Ringing: signal-with-start, the same for webhook and sweeper, same id, default policies, so that
a
dead or missing workflow starts again. A ring that fails is no loss: the row's `ring_at` brings it
again (design §3)."""

import asyncio
import logging
from collections.abc import Sequence

from temporalio.client import Client
from temporalio.service import RPCError

from activities.messages import ActionRef, ConversationRef
from domain import ids
from store.ringing import Ring
from workflows import options
from workflows.pending_action import PendingActionWorkflow
from workflows.turn import TurnWorkflow

log = logging.getLogger(__name__)

RING_TIMEOUT_S = 1.0
"""Ours, by `asyncio.timeout`: the SDK retries inside, and its own timeout of 1 s took 9.5 s with
Temporal down (facts/spike.md). Not by `asyncio.wait_for`: before Python 3.12 it swallows a
cancellation that comes together with the answer, and a sweeper that was told to stop went on."""


RINGS_AT_ONCE = 50
"""200 at once leave half of them unheard within the second on a small server; 50 take 0.4 s."""


async def ring_all(client: Client, rings: Sequence[Ring]) -> int:
    """Ring each, some at once; how many were heard. Never raises for a Temporal that is away, and
    then stops after the first who were not heard."""
    heard = 0
    for first in range(0, len(rings), RINGS_AT_ONCE):
        some = rings[first : first + RINGS_AT_ONCE]
        ears = sum(await asyncio.gather(*(_ring(client, ring) for ring in some)))
        if not ears:
            break
        heard += ears
    return heard


async def listens(client: Client) -> bool:
    """Whether Temporal answers now."""
    try:
        async with asyncio.timeout(RING_TIMEOUT_S):
            return await client.service_client.check_health()
    except (TimeoutError, RPCError, RuntimeError) as error:
        log.warning("Temporal does not answer: %s", type(error).__name__)
        return False


async def _ring(client: Client, ring: Ring) -> bool:
    try:
        async with asyncio.timeout(RING_TIMEOUT_S):
            await _signal_with_start(client, ring)
    except (TimeoutError, RPCError, RuntimeError) as error:
        # RuntimeError is what a lazy client raises when it cannot connect.
        log.warning("a bell was not heard: %s", type(error).__name__, extra={"bell": ring.bell})
        return False
    return True


async def _signal_with_start(client: Client, ring: Ring) -> None:
    if ring.action_id is not None:
        await client.start_workflow(
            PendingActionWorkflow.run,
            ActionRef(action_id=ring.action_id, digest=ring.digest, expires_at=ring.expires_at),
            id=ids.action_workflow_id(ring.action_id),
            task_queue=options.CONVERSATIONS,
            task_timeout=options.TASK_TIMEOUT,
            start_signal=ring.bell.value,
            start_signal_args=[ring.row_id],
        )
        return
    assert ring.conversation_id is not None, f"a ring needs a target: {ring!r}"
    await client.start_workflow(
        TurnWorkflow.run,
        ConversationRef(conversation_id=ring.conversation_id),
        id=ids.turn_workflow_id(ring.conversation_id),
        task_queue=options.CONVERSATIONS,
        task_timeout=options.TASK_TIMEOUT,
        start_signal=ring.bell.value,
        start_signal_args=[ring.row_id],
    )
