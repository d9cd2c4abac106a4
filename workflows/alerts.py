"""The loop that tells operators what is stuck: in every worker, and in the API for the time when no
worker lives.

A loop of its own, apart from the sweep, so that a receiver that hangs delays no bell. A worker
beats in it, so that a beat means that alerts are given.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg

from store import alerts
from store.alerts import Alert
from store.connection import Pool
from workflows import metrics
from workflows.alert_post import AlertPost, NotDeliveredError, fields

log = logging.getLogger(__name__)

LOOK_EVERY_S = 5.0  # an alert is about minutes; six beats fit into the time of a living worker
MOST_A_ROUND = 5  # one a second: a provider that is down must not make a storm of alerts


class Alerter:
    """Gives due alerts. `worker_id` is None in the API, which alerts only if no worker lives;
    without `post` an alert is a log line and a metric."""

    def __init__(self, pool: Pool, *, post: AlertPost | None, worker_id: str | None) -> None:
        self._pool, self._post, self._worker_id = pool, post, worker_id

    async def look_once(self) -> int:
        """One round: beat, show what is stuck, give what is due; how many alerts were tried."""
        async with self._pool.acquire() as connection:
            if self._worker_id is not None:
                await alerts.beat(connection, self._worker_id)
            metrics.show_stuck(await alerts.stuck(connection))
            if self._worker_id is None and await alerts.worker_lives(connection):
                return 0
            due = await alerts.take_due(connection, most=MOST_A_ROUND)
        await asyncio.gather(*(self._give(alert) for alert in due))
        return len(due)

    async def _give(self, alert: Alert) -> None:
        if not alert.said:
            log.error("alert", extra=fields(alert))
            metrics.count_alert(alert.kind)
        try:
            if self._post is not None:
                await self._post.send(alert)
        except NotDeliveredError as error:
            log.warning(
                "alert not delivered, again in a minute: %s",
                error,
                extra={"kind": alert.kind.value, "action_id": alert.action_id},
            )
            async with self._pool.acquire() as connection:
                await alerts.failed(connection, alert)
            return
        async with self._pool.acquire() as connection:
            await alerts.delivered(connection, alert)

    async def look_for_ever(self) -> None:
        """Look until cancelled; no fault may end it, for nobody would notice."""
        while True:
            try:
                await self.look_once()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
                metrics.show_stuck(None)
                log.warning("looking for alerts failed: %s", type(error).__name__)
            except Exception as error:
                metrics.show_stuck(None)
                log.error("a fault in the alerts: %s", type(error).__name__)
            await asyncio.sleep(LOOK_EVERY_S)


@asynccontextmanager
async def alerting(pool: Pool, *, url: str | None, worker: bool) -> AsyncIterator[None]:
    """Alert while the block runs; `url`: where to POST, if anywhere; `worker`: or else the API."""
    async with AsyncExitStack() as stack:
        post = await stack.enter_async_context(AlertPost(url)) if url is not None else None
        alerter = Alerter(pool, post=post, worker_id=uuid.uuid4().hex if worker else None)
        task = asyncio.create_task(alerter.look_for_ever())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
