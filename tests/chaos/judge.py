"""What became of a batch: what the far sides saw, held against the rows.

Effects are counted at the provider (bookings in the agenda, whose rows are the effect itself),
clicks and messages at the phones. The rows are asked only what they claim.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from domain.actions import Status
from simulators.whatsapp.models import ChatMessage
from store import reporting
from store.reporting import Wanted
from tests.chaos.people import Run
from tests.chaos.points import How, Point, Reached
from tests.chaos.world import World

GATED = (
    "effects without valid decision",
    "duplicates",
    "confirmed but neither executed nor told",
    "stuck but not listed",
    'false "failed"',
    "executed without effect",
    "sends without claim",
)
"""Each must be nought."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A promise that did not hold."""

    what: str
    action: str
    detail: str


@dataclass
class Verdict:
    """Figures of one batch, or of several added up."""

    runs: int = 0
    proposals: int = 0
    confirmations: int = 0
    effects: int = 0
    doubled: int = 0
    untold: int = 0
    verifying: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    stops: Counter[str] = field(default_factory=Counter)
    blows: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    recovery_s: list[float] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)

    def add(self, other: "Verdict") -> None:
        """Add another batch's figures."""
        for name in ("runs", "proposals", "confirmations", "effects", "doubled", "untold"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.verifying += other.verifying
        for mine, theirs in (
            (self.kills, other.kills),
            (self.stops, other.stops),
            (self.blows, other.blows),
            (self.ends, other.ends),
        ):
            mine.update(theirs)
        self.recovery_s += other.recovery_s
        self.violations += other.violations


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
    in_doubt: set[str]
    """Actions of which a word may have gone out and is not repeated (design §7): whether the person
    has it, nobody knows. Counted apart, since no second copy is what was chosen there."""


async def judge(world: World, runs: list[Run], *, reached: list[Reached], quiet: str) -> Verdict:
    """The verdict on these runs. `quiet` says what still moved when waiting ended, if anything."""
    seen = await _see(world, runs)
    verdict = Verdict(runs=len(runs), proposals=len(seen.actions))
    verdict.kills.update(one.point for one in reached if one.how is How.KILL)
    verdict.stops.update(one.point for one in reached if one.how is How.STOP)
    for action in seen.actions:
        _judge_action(verdict, seen, action)
    for business, count in seen.refunds.items():
        if count > 1:
            _blame(verdict, "duplicates", "", f"{count} refunds {business!r}")
    for send in seen.unclaimed:
        _blame(verdict, "sends without claim", send["action_id"], f"send {send['n']}")
    if quiet:
        _blame(verdict, "stuck but not listed", "", quiet)
    for chat in seen.chats.values():
        verdict.doubled += _doubled(chat)
    verdict.recovery_s = _recovery(seen, reached)
    return verdict


def _blame(verdict: Verdict, what: str, action: str, detail: str) -> None:
    assert what in GATED, what
    verdict.violations.append(Violation(what=what, action=action, detail=detail))


def _judge_action(verdict: Verdict, seen: Seen, action: dict[str, Any]) -> None:
    action_id, status = action["id"], Status(action["status"])
    chat = seen.chats[action["person"]]
    confirmed = bool(_pressed(chat, f"pa:confirm:{action_id}"))
    told = _told(chat, action_id)
    effects = seen.effects[action_id]
    verdict.ends[f"{status}/{action['reason']}" if action["reason"] else str(status)] += 1
    verdict.confirmations += confirmed
    verdict.effects += effects
    if effects and not confirmed:
        _blame(verdict, "effects without valid decision", action_id, "nobody confirmed")
    if effects and action_id in seen.overruled:
        _blame(verdict, "effects without valid decision", action_id, "a stored Cancel was there")
    if effects > 1:
        _blame(verdict, "duplicates", action_id, f"{effects} effects")
    if effects and status not in {Status.EXECUTING, Status.EXECUTED}:
        _blame(verdict, 'false "failed"', action_id, f"{status}, yet {effects} effects")
    if status is Status.EXECUTED and not effects:
        _blame(verdict, "executed without effect", action_id, "the provider has none")
    silent = confirmed and not told
    verdict.untold += silent and (bool(effects) or action_id in seen.in_doubt)
    if silent and not effects and action_id not in seen.in_doubt:
        detail = f"{status} {action['reason']}"
        _blame(verdict, "confirmed but neither executed nor told", action_id, detail)
    if status is Status.EXECUTING:
        verdict.verifying += 1
        if action_id not in seen.listed or action["ring_at"] is None:
            _blame(verdict, "stuck but not listed", action_id, "no list, or no bell")
        elif silent and action_id not in seen.in_doubt:
            _blame(verdict, "stuck but not listed", action_id, "the person was not told")


def _pressed(chat: list[ChatMessage], button: str) -> list[ChatMessage]:
    """Clicks that the product took (its webhook was answered with 200)."""
    return [
        one
        for one in chat
        if one.author == "person" and one.button_id == button and one.status != "sending"
    ]


def _told(chat: list[ChatMessage], action_id: str) -> list[ChatMessage]:
    return [
        one
        for one in chat
        if one.author == "business"
        and one.visible
        and (one.callback_data or "").startswith(f"action:{action_id}:")
        and not (one.callback_data or "").endswith(":prompt")
    ]


def _doubled(chat: list[ChatMessage]) -> int:
    copies = Counter(one.callback_data for one in chat if one.author == "business")
    return sum(count - 1 for count in copies.values())


def _recovery(seen: Seen, reached: list[Reached]) -> list[float]:
    """From each kill at a point after the click to the first word to the person."""
    person = {action["id"]: action["person"] for action in seen.actions}
    seconds = []
    for one in reached:
        action_id = one.what.removeprefix("action:").partition(":")[0]
        if one.how is not How.KILL or action_id not in person or one.point is Point.FED_BACK:
            continue
        later = [m.at for m in _told(seen.chats[person[action_id]], action_id) if m.at > one.at]
        if later:
            seconds.append(min(later) - one.at)
    return seconds


async def _see(world: World, runs: list[Run]) -> Seen:
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
        in_doubt={row["action_id"] for row in await world.pool.fetch(_IN_DOUBT, ids)},
        unclaimed=[dict(row) for row in await world.pool.fetch(_UNCLAIMED, ids)],
    )


_IN_DOUBT = """
    SELECT action_id FROM outbox WHERE action_id = ANY($1) AND purpose <> 'prompt'
        AND state = 'unknown' AND done_at IS NOT NULL
"""

_UNCLAIMED = """
    SELECT s.action_id, s.n FROM sends s WHERE s.action_id = ANY($1) AND (
        NOT EXISTS (SELECT 1 FROM audit_events e WHERE e.action_id = s.action_id
                    AND e.event = 'claimed' AND (e.detail->>'attempt')::int = s.attempt)
        OR EXISTS (SELECT 1 FROM sends o WHERE o.action_id = s.action_id AND o.n < s.n
                   AND (o.attempt = s.attempt OR o.outcome IS DISTINCT FROM 'not_sent')))
"""
"""Sends of an attempt that was not opened, second ones of an attempt, and those beside another that
may have acted."""


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
