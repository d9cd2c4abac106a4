"""What a call cost, from the usage that the model's provider counted.

List prices in US dollars per million tokens, as published in October 2026; a discount or a price
that changed is not known here, so a sum says what the list says. A model without a row has no
price: nought would be a wrong one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

MILLION = Decimal(1_000_000)
LONG_PROMPT_TOKENS = 100_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars per million tokens. `long_prompt`: the factor on all of them for a prompt of more
    than 100,000 tokens."""

    tokens_in: Decimal
    tokens_out: Decimal
    cache_read: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal
    long_prompt: int = 1


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The tokens of one call or of several: `fresh` were read as new, `cached` from the cache,
    `written` went into it (for five minutes or an hour); `out` is the answer."""

    fresh: int
    cached: int
    written_5m: int
    written_1h: int
    out: int

    @property
    def prompt(self) -> int:
        """All tokens of the prompt."""
        return self.fresh + self.cached + self.written_5m + self.written_1h

    @property
    def cached_share(self) -> float:
        """The part of the prompt that came from the cache, 0 to 1."""
        return self.cached / self.prompt if self.prompt else 0.0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            fresh=self.fresh + other.fresh,
            cached=self.cached + other.cached,
            written_5m=self.written_5m + other.written_5m,
            written_1h=self.written_1h + other.written_1h,
            out=self.out + other.out,
        )


NO_TOKENS = Tokens(fresh=0, cached=0, written_5m=0, written_1h=0, out=0)


def _price(tokens_in: str, tokens_out: str, cache_read: str, *, long_prompt: int = 1) -> Price:
    """Writing costs 1.25 times the input for five minutes and twice for an hour, with every
    model."""
    base = Decimal(tokens_in)
    return Price(
        tokens_in=base,
        tokens_out=Decimal(tokens_out),
        cache_read=Decimal(cache_read),
        cache_write_5m=base * Decimal("1.25"),
        cache_write_1h=base * 2,
        long_prompt=long_prompt,
    )


_TABLE = {
    "claude-haiku-5-5": _price("0.10", "0.50", "0.01", long_prompt=5),
    "claude-sonnet-5-5": _price("2", "10", "0.10"),
    "claude-haiku-4-5": _price("1", "5", "0.10"),
}


def price_of(model: str) -> Price | None:
    """The list price of a model, also where its id carries a date; None if it has no row."""
    return next(
        (
            price
            for name, price in _TABLE.items()
            if model == name or (model.startswith(f"{name}-") and model[len(name) + 1 :].isdigit())
        ),
        None,
    )


def tokens_of(usage: Mapping[str, int]) -> Tokens:
    """The tokens of a stored usage (`ModelAnswer.usage`)."""
    written = usage.get("cache_creation_input_tokens", 0)
    hour = min(usage.get("cache_creation.ephemeral_1h_input_tokens", 0), written)
    return Tokens(
        fresh=usage.get("input_tokens", 0),
        cached=usage.get("cache_read_input_tokens", 0),
        written_5m=written - hour,
        written_1h=hour,
        out=usage.get("output_tokens", 0),
    )


def cost_usd(model: str, tokens: Tokens) -> Decimal | None:
    """What one call costs in US dollars by the list; None for a model without a price. Not for
    sums: the price of a call depends on the length of its own prompt."""
    price = price_of(model)
    if price is None:
        return None
    sum_ = (
        tokens.fresh * price.tokens_in
        + tokens.cached * price.cache_read
        + tokens.written_5m * price.cache_write_5m
        + tokens.written_1h * price.cache_write_1h
        + tokens.out * price.tokens_out
    )
    return sum_ * (price.long_prompt if tokens.prompt > LONG_PROMPT_TOKENS else 1) / MILLION
