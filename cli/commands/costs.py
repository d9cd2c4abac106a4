"""`aval costs`: what the model's calls came to, by account and model."""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cli import database, output
from cli.arguments import moment
from llm import prices
from store import tracing
from store.connection import Connection
from store.tracing import ModelCall

if TYPE_CHECKING:
    from cli.main import Commands


@dataclass
class Sum:
    """What one model cost one account. `cost_usd`: None without a price for the model."""

    account: str
    model: str
    turns: set[object] = field(default_factory=set)
    calls: int = 0
    tokens: prices.Tokens = prices.NO_TOKENS
    cost_usd: Decimal | None = Decimal(0)

    def add(self, call: ModelCall) -> None:
        """Count one call."""
        tokens = prices.tokens_of(call.usage)
        cost = prices.cost_usd(call.model, tokens)
        self.turns.add(call.turn_id)
        self.calls += 1
        self.tokens += tokens
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost


def add(commands: "Commands") -> None:
    """Declare the command."""
    parser = commands.add("costs", run, "tokens and list prices, by account and model")
    parser.add_argument("--since", type=moment, help="2026-03-01, or 24h (ago)")
    parser.add_argument("--json", action="store_true", help="one array, costs in US dollars")


def run(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print the sums."""

    async def find(connection: Connection) -> list[ModelCall]:
        return await tracing.calls(connection, since=arguments.since)

    sums = sum_up(database.ask(environment, find))
    if arguments.json:
        print(output.as_json([_object(one) for one in sums]))
        return 0
    head = ("ACCOUNT", "MODEL", "TURNS", "CALLS", "TOKENS IN", "CACHED", "TOKENS OUT", "USD")
    print(output.table(head, [_row(one) for one in sums]))
    return 0


def sum_up(calls: Iterable[ModelCall]) -> list[Sum]:
    """One sum for each account and model, in their order."""
    sums: dict[tuple[str, str], Sum] = {}
    for call in calls:
        key = (call.account, call.model)
        sums.setdefault(key, Sum(*key)).add(call)
    return [sums[key] for key in sorted(sums)]


def _row(one: Sum) -> tuple[object, ...]:
    return (
        one.account,
        one.model,
        len(one.turns),
        one.calls,
        one.tokens.prompt,
        f"{one.tokens.cached_share:.0%}",
        one.tokens.out,
        "no price" if one.cost_usd is None else f"{one.cost_usd:.4f}",
    )


def _object(one: Sum) -> dict[str, Any]:
    return {
        "account": one.account,
        "model": one.model,
        "turns": len(one.turns),
        "calls": one.calls,
        "tokens": {**output.fields(one.tokens), "cached_share": one.tokens.cached_share},
        "cost_usd": None if one.cost_usd is None else f"{one.cost_usd:.6f}",
    }
