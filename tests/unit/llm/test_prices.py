"""Costs by hand: each kind of token at its own price, and no price rather than a wrong one."""

from decimal import Decimal

import pytest

from llm.models import DEFAULT_MODEL
from llm.prices import Tokens, cost_usd, price_of, tokens_of


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        ({"input_tokens": 1000, "output_tokens": 100}, "0.0015"),
        ({"cache_read_input_tokens": 10_000}, "0.001"),
        ({"cache_creation_input_tokens": 1000}, "0.00125"),
        (
            {
                "cache_creation_input_tokens": 1000,
                "cache_creation.ephemeral_1h_input_tokens": 1000,
                "cache_creation.ephemeral_5m_input_tokens": 0,
            },
            "0.002",
        ),
        ({}, "0"),
    ],
)
def test_each_kind_of_token_has_its_price(usage: dict[str, int], dollars: str) -> None:
    """$1 in, $5 out, a tenth to read the cache, 1.25 and 2 times to write it, per million."""
    assert cost_usd("claude-haiku-4-5-20251001", tokens_of(usage)) == Decimal(dollars)


def test_a_long_prompt_is_dearer_whole() -> None:
    """Above 100,000 tokens of prompt, cached ones too, the default model costs five times."""
    short = Tokens(fresh=0, cached=100_000, written_5m=0, written_1h=0, out=0)
    longer = short + Tokens(fresh=0, cached=100_000, written_5m=0, written_1h=0, out=0)
    assert cost_usd(DEFAULT_MODEL, short) == Decimal("0.001")
    assert cost_usd(DEFAULT_MODEL, longer) == Decimal("0.010")


def test_an_unknown_model_has_no_price() -> None:
    """None, never nought; and a longer name is another model."""
    assert cost_usd("some-model", Tokens(fresh=1, cached=0, written_5m=0, written_1h=0, out=0)) is (
        None
    )
    assert price_of("claude-haiku-4-5-turbo") is None
    assert price_of(DEFAULT_MODEL) is not None
