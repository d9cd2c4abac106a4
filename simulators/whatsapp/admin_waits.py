"""Long polls: tests wait for what a phone shows instead of sleeping."""

import asyncio
import time

from simulators.whatsapp.admin_models import Waited, WaitQuery
from simulators.whatsapp.engine import Simulator
from simulators.whatsapp.models import ChatMessage

_DRAIN_POLL_SECONDS = 0.02


async def wait_messages(simulator: Simulator, query: WaitQuery) -> Waited:
    """Return as soon as enough messages match, or with what matched when the time is up."""
    chats = simulator.chats
    person = chats.person(query.person)
    deadline = time.monotonic() + query.timeout_seconds
    while True:
        version = chats.version
        found = [m for m in chats.of(person.id) if _matches(m, query)]
        if len(found) >= query.count:
            return Waited(matched=True, messages=found)
        left = deadline - time.monotonic()
        if left <= 0 or simulator.closing:
            return Waited(matched=False, messages=found)
        await chats.wait_change(version, timeout_seconds=left)


async def wait_drained(simulator: Simulator, *, timeout_seconds: float) -> bool:
    """Wait until no webhook is under way (held ones count) and no status is still to come."""
    deadline = time.monotonic() + timeout_seconds
    while simulator.courier.undelivered or simulator.statuses.to_come:
        if time.monotonic() > deadline or simulator.closing:
            return False
        await asyncio.sleep(_DRAIN_POLL_SECONDS)
    return True


def _matches(message: ChatMessage, query: WaitQuery) -> bool:
    return (
        message.author == query.author
        and message.seq > query.after_seq
        and (query.type is None or message.type == query.type)
        and (query.status is None or message.status == query.status)
        and (query.contains is None or query.contains in message.text)
        and (
            query.callback_prefix is None
            or (message.callback_data or "").startswith(query.callback_prefix)
        )
    )
