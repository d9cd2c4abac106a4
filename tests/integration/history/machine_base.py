"""An example: the product's steps on one connection, and after each the comparison of what the
model would be shown with what happened."""

import asyncio
import uuid
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar, cast

from hypothesis.stateful import RuleBasedStateMachine

from activities.deps import Deps
from channels.whatsapp.buttons import parse_button_id
from domain.history import Entry, UserLine, UserText
from domain.inbound import InboundItem, InboundKind, Sender, Webhook
from llm.render import render
from llm.trim import trim
from simulators.claude.errors import ApiError
from simulators.claude.history_rules import check_messages
from simulators.claude.models import MODELS
from store import history, inbox
from store.connection import Connection
from tests.integration.history import shown
from tests.integration.history.far_claude import FarClaude
from tests.integration.history.ground import (
    MARIA,
    NUMBER,
    REFUSED,
    BrokenPromiseError,
    moment,
    set_clock,
)
from tests.integration.history.happened import Happened, Item, Ledger, read_ledger
from tests.integration.history.one_connection import Doors
from tests.integration.history.tools_of_tests import MakeCharge

T = TypeVar("T")
NEXT_QUESTION = UserText(lines=(UserLine(text="?", at="2026-03-11T12:00:00-03:00"),))


@dataclass
class HistoryBench:
    """What the examples of a test share."""

    loop: asyncio.AbstractEventLoop
    connection: Connection
    doors: Doors
    claude: FarClaude
    charge: MakeCharge
    deps: Deps
    examples: int = 0
    visited: dict[str, int] = field(default_factory=dict)

    def run(self, work: Awaitable[T]) -> T:
        """Run one step to its end."""
        return self.loop.run_until_complete(work)


class BaseMachine(RuleBasedStateMachine):
    """A machine without rules. `bench` is set by the test that runs it."""

    bench: ClassVar[HistoryBench]

    def __init__(self) -> None:
        super().__init__()
        self.db = self.bench.connection
        self.bench.examples += 1
        self.bench.charge.refuses = False
        self.bench.doors.dies_at = None
        self._example = cast(Any, self.db).transaction()
        self.bench.run(self._example.start())
        self.now = 0
        self.happened = Happened()
        self.ledger = Ledger()
        self.shown: list[Item] = []
        self.unhandled: list[str] = []
        self.numbers = iter(range(10_000))
        self.receive(InboundKind.TEXT, text="oi")
        self.unhandled.append("oi")
        self.conversation: uuid.UUID = self.bench.run(
            self.db.fetchval("SELECT id FROM conversations WHERE user_id = $1", MARIA.user_id)
        )

    def teardown(self) -> None:
        """Forget the example."""
        self.bench.run(self._example.rollback())

    # -- steps

    def receive(self, kind: InboundKind, **fields: Any) -> None:
        """Something of the person comes in, a second later than all before."""
        self.tick(1)
        item = InboundItem(
            kind=kind,
            phone_number_id=NUMBER,
            key=f"wamid.{uuid.uuid4().hex}",
            sender=Sender(user_id=MARIA.user_id, wa_id=MARIA.wa_id, name=None),
            sent_at=moment(self.now),
            raw=b"{}",
            **fields,
        )
        webhook = Webhook(items=[item], statuses=[])
        self.bench.run(
            inbox.receive(self.db, body=b"{}", webhook=webhook, parse_button=parse_button_id)
        )

    def tick(self, seconds: int) -> None:
        """Time passes."""
        self.now += seconds
        self.bench.run(set_clock(self.db, self.now))

    def count(self, name: str) -> None:
        """For the report at the end."""
        self.bench.visited[name] = self.bench.visited.get(name, 0) + 1

    def promise(self, name: str, *, kept: bool, detail: object) -> None:
        """A promise of the history; the example ends where one is broken."""
        if not kept:
            raise BrokenPromiseError(name, detail)

    def learn(self, name: str, pair: Iterable[Item] = (), *, closes: bool = False) -> None:
        """A step was taken: take in what happened, and look at what the model would be shown."""
        self.count(name)
        before, self.ledger = self.ledger, self.bench.run(read_ledger(self.db, self.conversation))
        self.happened.learn(before, self.ledger, pair)
        if closes:
            self.happened.boundary()
        self._check()

    def _check(self) -> None:
        messages = self._messages()
        self.accepted(messages)
        now = shown.items(messages)[: len(self.happened.placed)]
        self.promise(
            "each thing that happened is shown once and in order",
            kept=shown.items(messages) == [*self.happened.placed, ("person", "?")],
            detail=(shown.items(messages), self.happened.placed),
        )
        self.promise(
            "what was shown is never changed",
            kept=now[: len(self.shown)] == self.shown,
            detail=(self.shown, now),
        )
        self.shown = now

    def accepted(self, messages: list[dict[str, Any]]) -> None:
        """The far side's own rules find nothing."""
        try:
            check_messages(messages, MODELS[self.bench.deps.claude.model])
        except ApiError as error:
            self.promise(REFUSED, kept=False, detail=error)

    def _messages(self) -> list[dict[str, Any]]:
        """What a call would carry if the person asked something now."""
        rows = self.bench.run(history.read(self.db, self.conversation, limit=600))
        entries = [Entry.model_validate(row) for row in rows]
        asked = Entry.of(len(entries), NEXT_QUESTION)
        return render(
            trim([*entries, asked]),
            facts="",
            now_local="now",
            capability=self.bench.deps.claude.capability,
        )
