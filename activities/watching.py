"""What the model says to be done is compared with the ledger when its reply is stored.

Counted always: as a metric, as a line in the log (ids alone) and as evidence in the turn's row. The
reply is replaced by the true state only where the deployment chose it (AVAL_REPLACE_CLAIMS): the
rules are wrong now and then, and a right sentence that is taken away is a harm too.
"""

import logging
from dataclasses import dataclass

from prometheus_client import Counter

from activities.deps import Deps
from domain.actions import Status
from domain.claims import Claim, ClaimKind, KnownAction, unsupported
from domain.texts import texts_for
from store import actions, history, turns
from store.actions import Action
from store.connection import Connection
from store.turns import Turn
from tools.contract import ReadTool
from tools.registry import Registry, UnknownToolError

log = logging.getLogger(__name__)

FACTS_SHOWN = 5  # the last decided actions that a call carries, besides the open ones
ENTRIES_READ = 40  # of the history: how long an answer of a read tool may be repeated as known

_REPLIES = Counter("aval_replies_checked", "Replies of the model that were read for claims.")
_CLAIMS = Counter(
    "aval_unsupported_claims",
    "Claims of something done, in replies of the model, that the ledger did not know.",
    ["kind"],
)
for _kind in ClaimKind:
    _CLAIMS.labels(_kind.value)  # shown as 0 before the first, so that a rate sees the first


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What was found in a reply. `instead`: what the person is told in its place, if anything."""

    claims: list[Claim]
    instead: str | None = None


async def watch(deps: Deps, connection: Connection, turn: Turn, text: str) -> Watched:
    """Read a reply that is about to be stored, and keep what nothing supports.

    The caller's transaction holds the conversation, and the facts have not moved since the call.
    """
    known = await actions.recent(connection, turn.conversation_id, limit=FACTS_SHOWN)
    answered = await history.tools_answered(connection, turn.conversation_id, limit=ENTRIES_READ)
    read = [name for name, done in answered if done or _is_read(deps.registry, name)]
    claims = unsupported(text, known=[_known(action) for action in known], read=read)
    instead = _true_state(known, turn.who.language) if claims and deps.replace_claims else None
    await turns.record_claims(
        connection,
        turn=turn.id,
        claims=[{"kind": one.kind.value, "about": sorted(one.about)} for one in claims],
        replaced=instead is not None,
    )
    return Watched(claims=claims, instead=instead)


def count(turn: Turn, watched: Watched) -> None:
    """Show it, once the reply is committed."""
    _REPLIES.inc()
    for one in watched.claims:
        _CLAIMS.labels(one.kind.value).inc()
    if watched.claims:
        log.warning(
            "unsupported claim",
            extra={
                "turn_id": str(turn.id),
                "kinds": [one.kind.value for one in watched.claims],
                "replaced": watched.instead is not None,
            },
        )


def _is_read(registry: Registry, name: str) -> bool:
    try:
        return isinstance(registry.get(name), ReadTool)
    except UnknownToolError:
        return False


def _known(action: Action) -> KnownAction:
    amount = {**action.payload, **(action.result or {})}.get("amount_cents")
    return KnownAction(
        tool=action.tool,
        status=action.status,
        amount_cents=amount if isinstance(amount, int) else None,
    )


def _true_state(known: list[Action], language: str) -> str:
    """What the ledger knows of the newest action, in the words for a late Confirm."""
    texts = texts_for(language)
    if not known:
        return texts.nothing_known()
    newest = known[0]
    if newest.status is Status.EXECUTING and newest.verifying_told_at is not None:
        return texts.verifying(summary=newest.summary, action_id=newest.id)
    return texts.late_confirm(newest.status, summary=newest.summary, action_id=newest.id)
