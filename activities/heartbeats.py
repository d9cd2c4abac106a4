"""A beat each second from every regular activity, so that a dead worker is noticed within four.

The trap: without beats a worker killed in the middle of a send is missed only when the activity's
whole time is over, a minute later, and the person waits for a feedback that nobody writes. A false
alarm meets the fences, so safety does not hang on it (design §9).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

BEAT_S = 1.0


async def _beat() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(BEAT_S)


@asynccontextmanager
async def heartbeating() -> AsyncIterator[None]:
    """Beat in the background while the block runs."""
    beats = asyncio.create_task(_beat())
    try:
        yield
    finally:
        beats.cancel()
        with suppress(asyncio.CancelledError):
            await beats


class _Inbound(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002  SDK's name
        if activity.info().heartbeat_timeout is None:  # a local one: the workflow's worker is ours
            return await self.next.execute_activity(input)
        async with heartbeating():
            return await self.next.execute_activity(input)


class Heartbeats(Interceptor):
    """Beats for every activity that has a heartbeat timeout."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002  SDK's name
        """Wrap the activity."""
        return _Inbound(super().intercept_activity(next))
