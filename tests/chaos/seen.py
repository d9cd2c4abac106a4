"""What the far sides saw of a batch, and what the rows claim."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from domain.actions import Status
from simulators.whatsapp.models import ChatMessage
from store import reporting
from store.reporting import Wanted
from tests.chaos.people import Run
from tests.chaos.world import World


@dataclass(frozen=True, kw_only=True)
class Seen:
    """All that is known of a batch."""

    actions: list[dict[str, Any]]
    chats: dict[str, list[ChatMessage]]
    effects: Counter[str]
    refunds: Counter[str]
    overruled: set[str]
    listed: set[str]
    unclaimed: list[dict[str, Any]]
    requests: Counter[str]
    """What reached the provider to have an effect, by key, whether it acted or not."""
    messages: dict[str, list[str]]
    """What was to be said of each action and what became of it: the reason of a silence."""
    sends: Counter[str]
    resent: Counter[str]


async def see(world: World, runs: list[Run]) -> Seen:
    """Ask the far sides, then the rows."""
    names = {world.persons[name]: name for run in runs for name in (*run.persons, run.stranger)}
    rows = await world.pool.fetch(
        "SELECT id, user_id, status, reason, ring_at, tool FROM actions WHERE user_id = ANY($1)"
        " ORDER BY created_at",
        list(names),
    )
    actions = [{**dict(row), "person": names[row["user_id"]]} for row in rows]
    ids = [action["id"] for action in actions]
    provider = await world.payments.effects()
    mine = [one for one in provider if one["key"] in set(ids)]
    effects = Counter(str(one["key"]) for one in mine)
    effects.update(
        row["action_id"]
        for row in await world.pool.fetch(
            "SELECT action_id FROM bookings WHERE action_id = ANY($1)", ids
        )
    )
    async with world.pool.acquire() as connection:
        listed = await reporting.list_actions(
            connection, Wanted(status=Status.EXECUTING, limit=10_000)
        )
    return Seen(
        actions=actions,
        chats={name: await world.whatsapp.messages(name) for name in names.values()},
        effects=effects,
        refunds=Counter(str(one["business"]) for one in mine if one["operation"] == "refund"),
        overruled=await _overruled(world, ids),
        listed={one.id for one in listed},
        unclaimed=[dict(row) for row in await world.pool.fetch(_UNCLAIMED, ids)],
        requests=Counter(
            str(one["key"]) for one in await world.payments.journal() if one["method"] != "GET"
        ),
        messages=await _messages(world, ids),
        sends=await _count(world, "SELECT action_id FROM sends WHERE action_id = ANY($1)", ids),
        resent=await _count(world, _RESENT, ids),
    )


async def _messages(world: World, ids: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {action_id: [] for action_id in ids}
    for row in await world.pool.fetch(_MESSAGES, ids):
        found[row["action_id"]].append(
            f"{row['purpose']} {row['state']}/{row['status']}, {row['copies']} copies,"
            f" {row['reason']}"
        )
    return found


_MESSAGES = """
    SELECT action_id, purpose, state, status, copies, reason FROM outbox
    WHERE action_id = ANY($1) ORDER BY seq
"""


async def _count(world: World, query: str, ids: list[str]) -> Counter[str]:
    return Counter(row["action_id"] for row in await world.pool.fetch(query, ids))


_RESENT = """
    SELECT s.action_id FROM sends s WHERE s.action_id = ANY($1) AND EXISTS (
        SELECT 1 FROM decisions d WHERE d.action_id = s.action_id AND d.verdict = 'resend'
            AND d.as_send = s.n AND d.followed)
"""

_UNCLAIMED = """
    SELECT s.action_id, s.n FROM sends s WHERE s.action_id = ANY($1) AND (
        NOT EXISTS (SELECT 1 FROM audit_events e WHERE e.action_id = s.action_id
                    AND e.event = 'claimed' AND (e.detail->>'attempt')::int = s.attempt)
        OR EXISTS (SELECT 1 FROM sends o WHERE o.action_id = s.action_id AND o.n < s.n
                   AND (o.attempt = s.attempt OR (o.outcome IS DISTINCT FROM 'not_sent'
                        AND NOT EXISTS (SELECT 1 FROM decisions d
                            WHERE d.action_id = s.action_id AND d.verdict = 'resend'
                              AND d.as_send = s.n AND d.followed)))))
"""
"""Sends of an attempt that was not opened, second ones of an attempt, and those beside another that
may have acted without an operator's word for exactly this number."""


async def _overruled(world: World, ids: list[str]) -> set[str]:
    """Actions whose right person's Cancel was stored before their decision was followed."""
    rows = await world.pool.fetch(
        """
        SELECT a.id FROM actions a JOIN decisions d ON d.action_id = a.id
        WHERE a.id = ANY($1) AND d.verdict = 'cancel' AND d.user_id = a.user_id
          AND a.executing_since IS NOT NULL AND d.received_at < a.executing_since
        """,
        ids,
    )
    return {row["id"] for row in rows}
