"""The sweeper: a loop in every worker that rings for every row that is not done.

So nothing depends on a signal arriving, a workflow surviving or Temporal's retention. Several
sweepers share the rows by SKIP LOCKED.
"""

import asyncio
import logging
from dataclasses import replace
from datetime import datetime

import asyncpg
from temporalio.client import Client

from store import ringing
from store.connection import Pool
from store.ringing import Ring
from workflows.ringing import listens, ring_all

log = logging.getLogger(__name__)

SWEEP_EVERY_S = 1.0  # four indexed statements, 3 ms; a lost bell is heard within six seconds


async def sweep_once(pool: Pool, client: Client) -> int:
    """Ring for what is due; how many rings were made. None while nobody can hear them: they would
    only push their rows on, and after an outage a click would be rung for ten minutes too late."""
    if not await listens(client):
        return 0
    async with pool.acquire() as connection:
        rings = await ringing.sweep(connection)
        known = await ringing.describe(connection, [r.action_id for r in rings if r.action_id])
    full = [_described(ring, known) for ring in rings]
    await ring_all(client, full)
    return len(full)


def _described(ring: Ring, known: dict[str, tuple[str, datetime]]) -> Ring:
    if ring.action_id is None or ring.action_id not in known:
        return ring
    digest, expires_at = known[ring.action_id]
    return replace(ring, digest=digest, expires_at=expires_at)


async def sweep_for_ever(pool: Pool, client: Client) -> None:
    """Sweep until cancelled; a database or Temporal that is away is waited for. No other fault may
    end it either: nobody would notice, and every lost bell would stay lost."""
    while True:
        try:
            await sweep_once(pool, client)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
            log.warning("sweep failed, again in a moment: %s", type(error).__name__)
        except Exception as error:
            log.error("a fault in the sweep: %s", type(error).__name__)
        await asyncio.sleep(SWEEP_EVERY_S)
