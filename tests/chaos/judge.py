"""What became of a batch: what the far sides saw, held against the rows.

Effects are counted at the provider (bookings in the agenda, whose rows are the effect itself),
clicks and messages at the phones. The rows are asked only what they claim.
"""

from collections import Counter
from typing import Any

from domain.actions import Status
from simulators.whatsapp.models import ChatMessage
from tests.chaos.operators import Done
from tests.chaos.people import Run
from tests.chaos.points import How, Point, Reached
from tests.chaos.seen import Seen, see
from tests.chaos.verdict import Verdict
from tests.chaos.world import World


async def judge(world: World, runs: list[Run], *, reached: list[Reached], quiet: str) -> Verdict:
    """The verdict on these runs. `quiet` says what still moved when waiting ended, if anything."""
    seen = await see(world, runs)
    verdict = Verdict(runs=len(runs), proposals=len(seen.actions))
    verdict.kills.update(one.point for one in reached if one.how is How.KILL)
    verdict.stops.update(one.point for one in reached if one.how is How.STOP)
    for action in seen.actions:
        judge_action(verdict, seen, action)
    for business, count in seen.refunds.items():
        if count > 1:
            verdict.blame("duplicates", "", f"{count} refunds {business!r}")
    for send in seen.unclaimed:
        verdict.blame("sends without claim", send["action_id"], f"send {send['n']}")
    if quiet:
        verdict.blame("stuck but not listed", "", quiet)
    for chat in seen.chats.values():
        verdict.doubled += _doubled(chat)
    verdict.recovery_s = _recovery(seen, reached)
    return verdict


def judge_action(verdict: Verdict, seen: Seen, action: dict[str, Any]) -> None:
    """Hold an action's row against what was seen of it; adds to the verdict."""
    action_id, status = action["id"], Status(action["status"])
    chat = seen.chats[action["person"]]
    confirmed = bool(_pressed(chat, f"pa:confirm:{action_id}"))
    told = _told(chat, action_id)
    effects = seen.effects[action_id]
    verdict.ends[f"{status}/{action['reason']}" if action["reason"] else str(status)] += 1
    verdict.confirmations += confirmed
    verdict.effects += effects
    verdict.resent += seen.resent[action_id]
    if effects and not confirmed:
        verdict.blame("effects without valid decision", action_id, "nobody confirmed")
    if effects and action_id in seen.overruled:
        verdict.blame("effects without valid decision", action_id, "a stored Cancel was there")
    if effects > 1:
        verdict.blame("duplicates", action_id, f"{effects} effects")
    if effects and status not in {Status.EXECUTING, Status.EXECUTED}:
        verdict.blame('false "failed"', action_id, f"{status}, yet {effects} effects")
    if seen.requests[action_id] > seen.sends[action_id]:
        detail = f"{seen.requests[action_id]} requests by {seen.sends[action_id]} sends"
        verdict.blame("sends without claim", action_id, detail)
    if status is Status.EXECUTED and not effects:
        verdict.blame("executed without effect", action_id, "the provider has none")
    if status is Status.EXECUTED:
        verdict.untold += not _fed_back(chat, action_id)
    elif confirmed and not told:
        detail = f"{status} {action['reason']}: {'; '.join(seen.messages[action_id])}"
        verdict.blame("confirmed but neither executed nor told", action_id, detail)
    if status is Status.EXECUTING:
        verdict.verifying += 1
        if action_id not in seen.listed or action["ring_at"] is None:
            verdict.blame("stuck but not listed", action_id, "no list, or no bell")


def judge_operators(verdict: Verdict, done: Done) -> None:
    """Add what operators did. What they must never be allowed is a violation by itself."""
    verdict.operators.update(done.did)
    verdict.refused.update(done.refused)
    verdict.broken_off.update(done.broken)
    for action_id, what in done.wrongly:
        verdict.blame("operators' words wrongly allowed", action_id, what)


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
        and not (one.callback_data or "").endswith((":prompt", ":reminder"))
    ]


def _fed_back(chat: list[ChatMessage], action_id: str) -> bool:
    key = f"action:{action_id}:feedback"
    return any((one.callback_data or "").startswith(key) for one in _told(chat, action_id))


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
