"""What happened in a conversation, told without its history: by what the test itself made happen,
and by rows that know nothing of the model (actions, decisions, messages to the person).

Written from design §7: an entry of the open turn is placed at once, everything else at the turn's
boundary, each once and in the order in which it happened.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from store.connection import Connection

Item = tuple[str, ...]
"""`("person", text)`, `("call", id)`, `("result", id, what)`, `("said", text)`,
`("event", what, action)`."""

_LEDGER = """
SELECT
  (SELECT coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'status', a.status,
      'operator', EXISTS (SELECT 1 FROM decisions d WHERE d.action_id = a.id
          AND d.source = 'operator'),
      'followed', (SELECT jsonb_build_array(d.verdict, d.source) FROM decisions d
          WHERE d.action_id = a.id AND d.followed AND d.source <> 'operator'))
      ORDER BY a.created_at), '[]') FROM actions a WHERE a.conversation_id = $1) AS actions,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('key', o.key, 'purpose', o.purpose,
      'action', o.action_id, 'turn', o.turn_id, 'text', o.message ->> 'text') ORDER BY o.seq), '[]')
      FROM outbox o WHERE o.conversation_id = $1) AS messages
"""


@dataclass(frozen=True)
class Ledger:
    """The rows that know what happened, as of now."""

    actions: dict[str, dict[str, Any]] = field(default_factory=dict)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def statuses(self) -> dict[str, str]:
        """The status of every action, oldest first."""
        return {id_: row["status"] for id_, row in self.actions.items()}


async def read_ledger(db: Connection, conversation: UUID) -> Ledger:
    """The rows of a conversation."""
    row = await db.fetchrow(_LEDGER, conversation)
    assert row is not None
    return Ledger(
        actions={one["id"]: one for one in row["actions"]},
        messages={one["key"]: one for one in row["messages"]},
    )


@dataclass
class Happened:
    """`placed`: what the model must be shown, in order; `waiting`: what waits for the boundary."""

    placed: list[Item] = field(default_factory=list)
    waiting: list[Item] = field(default_factory=list)
    turn_open: bool = False

    def in_turn(self, *items: Item) -> None:
        """The open turn itself did this."""
        self.placed += items

    def beside(self, *items: Item) -> None:
        """This happened whatever turn was open."""
        (self.waiting if self.turn_open else self.placed).extend(items)

    def boundary(self) -> None:
        """The turn closed."""
        self.placed += self.waiting
        self.waiting, self.turn_open = [], False

    def learn(self, before: Ledger, now: Ledger, pair: Iterable[Item]) -> None:
        """Take in what changed between two looks. `pair`: the calls and results that the step wrote
        as the turn's own."""
        self.in_turn(*pair)
        for id_, action in now.actions.items():
            self.beside(*_events(before.actions.get(id_), action))
        for key, message in now.messages.items():
            if key not in before.messages:
                self._told(message)

    def _told(self, message: Mapping[str, Any]) -> None:
        own = message["turn"] is not None or message["purpose"] == "prompt"
        (self.in_turn if own else self.beside)(("said", message["text"]))


def _events(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> list[Item]:
    """What a person or an operator did to an action, or what time did, in one step."""
    if before is None or before["status"] == now["status"]:
        return []
    if before["status"] == "pending" and now["followed"] is not None:
        verdict, source = now["followed"]
        what = "typed" if source == "typed" else {"confirm": "confirmed"}.get(verdict, "cancelled")
        return [("event", what, now["id"])]
    if now["operator"] and now["status"] in {"executed", "failed"}:
        return [("event", f"operator {now['status']}", now["id"])]
    if now["status"] == "executed":
        return []
    closed = now["status"] if now["status"] in {"expired", "superseded"} else "not executed"
    return [("event", closed, now["id"])]


def result_kind(content: str) -> str:
    """What a tool result told the model, in one word."""
    data = json.loads(content)
    if data.get("status") == "pending":
        return f"pending {data['action_id']}"
    if "error" in data:
        return "error"
    if data.get("already_done") or data.get("already_in_progress"):
        return f"known {data['action_id']}"
    return "data"
