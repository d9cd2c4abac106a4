"""What a live run is told: the key, the model, how much it may spend. Nothing else gets in.

A live run spends somebody's money, so it starts only where the limit can be held: with a limit that
is a number, and a model whose list price is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Self
from urllib.parse import urlsplit

from cli.stack.parties import CLAUDE_KEY
from cli.stack.wiring import bare
from domain.errors import SettingsError
from llm import prices
from llm.models import DEFAULT_MODEL

LIMIT = "AVAL_LIVE_LIMIT_USD"
DEFAULT_LIMIT_USD = "0.50"
"""Some hundred times what a run costs with the default model: a guard, not a budget."""

BASE_URL = "ANTHROPIC_BASE_URL"
DEFAULT_BASE_URL = "https://api.anthropic.com"
_MODELS = ("ANTHROPIC_MODEL", "AVAL_MODEL")
_WAY_OUT = ("HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Some networks reach the model no other way."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One run. `limit_usd`: US dollars by the price list."""

    key: str = field(repr=False)
    base_url: str
    model: str
    limit_usd: Decimal

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self | None:
        """The plan, or None without a key. Raises SettingsError for a limit that is no amount, a
        model without a list price, or an address that is none."""
        key = _given(environment, CLAUDE_KEY)
        if not key:
            return None
        named = (found for name in _MODELS if (found := _given(environment, name)))
        model = next(named, DEFAULT_MODEL)
        if prices.price_of(model) is None:
            raise SettingsError(
                f"no list price is known for the model {model!r}, so a spending limit cannot be "
                "held; add its row to llm/prices.py, or name another in ANTHROPIC_MODEL"
            )
        base_url = _given(environment, BASE_URL) or DEFAULT_BASE_URL
        if urlsplit(base_url).scheme not in {"http", "https"}:
            raise SettingsError(f"{BASE_URL}: {base_url!r} must begin with http:// or https://")
        limit = _limit(_given(environment, LIMIT) or DEFAULT_LIMIT_USD)
        return cls(key=key, base_url=base_url, model=model, limit_usd=limit)

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """The environment of the stack: what a program needs to run, and the way to the model. No
        other credential passes, so that everything else is simulated."""
        return {
            **bare(given),
            **{name: given[name] for name in _WAY_OUT if name in given},
            CLAUDE_KEY: self.key,
            BASE_URL: self.base_url,
            "AVAL_MODEL": self.model,
        }


def _given(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name, "").strip()


def _limit(text: str) -> Decimal:
    try:
        limit = Decimal(text)
    except InvalidOperation:
        limit = Decimal(0)
    if not limit.is_finite() or limit <= 0:
        raise SettingsError(f"{LIMIT}: {text!r} is no amount of US dollars above 0, such as 0.50")
    return limit
