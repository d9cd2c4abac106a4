"""The read receipt with the typing sign: once a burst, beside the first call of the model.

It is a courtesy and must cost nothing: no activity of its own, no retry, no wait for it, and
nothing that fails in it reaches the turn.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from temporalio import activity

from activities.deps import Deps
from store import turns

log = logging.getLogger(__name__)


@asynccontextmanager
async def typing(deps: Deps, turn: UUID, *, step: int) -> AsyncIterator[None]:
    """Shows the person, while the body runs, that he is read and answered: only on the first try of
    a turn's first step. The attempt ends with the body: a sign that comes after the answer would
    stand for 25 s."""
    if step > 0 or (activity.in_activity() and activity.info().attempt > 1):
        yield
        return
    showing = asyncio.create_task(_show(deps, turn))
    try:
        yield
    finally:
        showing.cancel()
        await asyncio.wait([showing])
        if not showing.cancelled() and (error := showing.exception()) is not None:
            log.debug("no read receipt: %s", type(error).__name__)


async def _show(deps: Deps, turn: UUID) -> None:
    """One receipt for the newest message; it marks the earlier ones too (facts/whatsapp.md
    §3.4)."""
    async with deps.pool.acquire() as connection:
        newest = await turns.newest_message(connection, turn)
    if newest is None:
        return
    number, wamid = newest
    result = await deps.whatsapp.mark_read(phone_number_id=number, wamid=wamid, typing=True)
    log.debug("read receipt: %s", result.outcome, extra={"code": result.error_code})
