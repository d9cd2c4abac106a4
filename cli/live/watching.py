"""What the model did since the last look, and what it cost, from the stored answers."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from cli import database
from cli.live.spending import Spending, usd_of
from cli.stack.parties import DATABASE
from llm import prices
from llm.prices import NO_TOKENS, Tokens
from store import tracing
from store.connection import Connection
from store.tracing import ModelCall, Proposal


@dataclass(frozen=True, kw_only=True)
class Did:
    """What the model did in the meantime, in its order. `proposals`: what came of it."""

    calls: list[ModelCall]
    proposals: list[Proposal]

    @property
    def turns(self) -> int:
        """How many turns its calls belong to."""
        return len({call.turn_id for call in self.calls})

    @property
    def tokens(self) -> Tokens:
        """Of all its calls together."""
        return sum((prices.tokens_of(call.usage) for call in self.calls), NO_TOKENS)

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """What it answered, block by block."""
        return [block for call in self.calls for block in call.content]


class ModelWatch:
    """Looks at the stack's database."""

    def __init__(self, dsn: str, spending: Spending) -> None:
        self._environment = {DATABASE: dsn}
        self._spending = spending
        self._counted: set[tuple[UUID, int]] = set()

    def check(self) -> None:
        """Raise LimitReachedError if the calls stored by now reach the limit."""
        self._spending.check(with_usd=usd_of(self._new(self._calls())))

    def take(self) -> Did:
        """What is new, counted. The limit is not looked at: it is told before it stops a run."""

        async def find(connection: Connection) -> Did:
            new = self._new(await tracing.calls(connection))
            turns = dict.fromkeys(call.turn_id for call in new)
            reports = [await tracing.turn_report(connection, turn) for turn in turns]
            numbers = {(call.turn_id, call.step) for call in new}
            return Did(
                calls=[
                    call
                    for report in reports
                    for call in report.calls
                    if (call.turn_id, call.step) in numbers
                ],
                proposals=[one for report in reports for one in report.proposals],
            )

        did = database.ask(self._environment, find)
        for call in did.calls:
            self._counted.add((call.turn_id, call.step))
            self._spending.add(call.model, call.usage)
        return did

    def _calls(self) -> list[ModelCall]:
        async def find(connection: Connection) -> list[ModelCall]:
            return await tracing.calls(connection)

        return database.ask(self._environment, find)

    def _new(self, calls: list[ModelCall]) -> list[ModelCall]:
        return [call for call in calls if (call.turn_id, call.step) not in self._counted]
