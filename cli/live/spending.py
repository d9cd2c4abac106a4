"""What the run has cost until now, and the line that it does not cross.

Counted is every call whose answer is known, by the usage in it. A call that is under way is not
known yet, so the run stops after the call that reaches the limit, not before it.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from llm import prices
from llm.prices import NO_TOKENS, Tokens
from store.tracing import ModelCall


class LimitReachedError(Exception):
    """The run has cost as much as it may."""


class Spending:
    """Adds up calls in US dollars by the price list."""

    def __init__(self, limit_usd: Decimal) -> None:
        self.limit_usd = limit_usd
        self.calls = 0
        self.tokens = NO_TOKENS
        self.usd = Decimal(0)

    def add(self, model: str, usage: Mapping[str, int]) -> tuple[Tokens, Decimal]:
        """Count one call and return what it was. Raises LimitReachedError for a model without a
        price: what cannot be counted is not continued."""
        tokens = prices.tokens_of(usage)
        cost = prices.cost_usd(model, tokens)
        self.calls += 1
        self.tokens += tokens
        if cost is None:
            raise LimitReachedError(
                f"the answer names the model {model!r}, for which no list price is known"
            )
        self.usd += cost
        return tokens, cost

    def check(self, *, with_usd: Decimal = Decimal(0)) -> None:
        """Raise LimitReachedError if what was counted, and `with_usd` on top, reach the limit."""
        spent = self.usd + with_usd
        if spent >= self.limit_usd:
            raise LimitReachedError(
                f"USD {spent:.6f} are spent, the limit is {self.limit_usd} (AVAL_LIVE_LIMIT_USD)"
            )


def usd_of(calls: Iterable[ModelCall]) -> Decimal:
    """What these calls cost. Raises LimitReachedError for a model without a price."""
    own = Spending(Decimal("Infinity"))
    for call in calls:
        own.add(call.model, call.usage)
    return own.usd
