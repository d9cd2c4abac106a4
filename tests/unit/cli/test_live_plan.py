"""A live run starts only where its limit can be held, and takes nothing else along."""

from decimal import Decimal

import pytest

from cli.live.plan import Plan
from cli.live.spending import LimitReachedError, Spending
from cli.stack.parties import Parties
from domain.errors import SettingsError

KEY = {"ANTHROPIC_API_KEY": "sk-ant-1"}


def _plan(**given: str) -> Plan:
    plan = Plan.from_environment({**KEY, **given})
    assert plan is not None
    return plan


@pytest.mark.parametrize("given", [{}, {"ANTHROPIC_API_KEY": "  "}])
def test_without_a_key_there_is_no_plan(given: dict[str, str]) -> None:
    """A blank key is none."""
    assert Plan.from_environment(given) is None


def test_what_is_not_said_has_a_default() -> None:
    """The default model, the real address, half a dollar; the key is in no representation."""
    plan = _plan()
    assert (plan.model, plan.base_url) == ("claude-haiku-5-5", "https://api.anthropic.com")
    assert plan.limit_usd == Decimal("0.50")
    assert "sk-ant-1" not in repr(plan)


@pytest.mark.parametrize("text", ["0", "-1", "half", "NaN", "Infinity", "0,50"])
def test_a_limit_that_is_no_amount_is_refused(text: str) -> None:
    """Nobody's typing slip may mean "without a limit"."""
    with pytest.raises(SettingsError, match=f"AVAL_LIVE_LIMIT_USD: '{text}'"):
        _plan(AVAL_LIVE_LIMIT_USD=text)


def test_a_model_without_a_price_is_refused() -> None:
    """What cannot be counted cannot be limited."""
    with pytest.raises(SettingsError, match="'claude-of-tomorrow'"):
        _plan(ANTHROPIC_MODEL="claude-of-tomorrow")


def test_the_model_is_that_of_this_run_before_that_of_the_deployment() -> None:
    """ANTHROPIC_MODEL, else AVAL_MODEL."""
    assert _plan(AVAL_MODEL="claude-sonnet-5-5").model == "claude-sonnet-5-5"
    both = _plan(AVAL_MODEL="claude-sonnet-5-5", ANTHROPIC_MODEL="claude-haiku-4-5")
    assert both.model == "claude-haiku-4-5"


def test_an_address_that_is_none_is_refused() -> None:
    """It is named before anything is asked."""
    with pytest.raises(SettingsError, match="ANTHROPIC_BASE_URL: 'localhost:1'"):
        _plan(ANTHROPIC_BASE_URL="localhost:1")


def test_nothing_but_the_model_is_real() -> None:
    """No other credential of the caller's reaches the stack: all other parties are simulated."""
    given = {
        **KEY,
        "PATH": "/usr/bin",
        "HTTPS_PROXY": "http://proxy:3128",
        "AVAL_WHATSAPP_TOKEN": "EAA",
        "AVAL_PAGARME_API_KEY": "sk_live",
        "AVAL_DATABASE_URL": "postgresql://db/aval",
        "AVAL_ALERT_URL": "https://hooks.example/secret",
        "AVAL_TRANSCRIBE_URL": "https://hears.example",
        "TEMPORAL_ADDRESS": "temporal:7233",
    }
    plan = Plan.from_environment(given)
    assert plan is not None
    kept = plan.environment(given)
    assert set(kept) == {
        "PATH",
        "HTTPS_PROXY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "AVAL_MODEL",
    }
    parties = Parties.from_environment(kept)
    assert [name for name, simulated in vars(parties).items() if not simulated] == ["claude"]


def test_the_limit_is_reached_by_the_sum_of_the_calls() -> None:
    """A hundred thousand tokens at a dollar a million: below ten cents it goes on, at ten it
    stops."""
    spending = Spending(Decimal("0.10"))
    spending.add("claude-haiku-4-5-20251001", {"input_tokens": 10_000})
    spending.check()
    with pytest.raises(LimitReachedError, match=r"the limit is 0\.10"):
        spending.check(with_usd=Decimal("0.09"))
    spending.add("claude-haiku-4-5", {"input_tokens": 90_000})
    with pytest.raises(LimitReachedError, match=r"USD 0\.100000 are spent"):
        spending.check()
    assert (spending.calls, spending.tokens.prompt) == (2, 100_000)


def test_an_answer_of_a_model_without_a_price_stops() -> None:
    """A gateway may answer with another model than was asked for."""
    with pytest.raises(LimitReachedError, match="'another'"):
        Spending(Decimal(1)).add("another", {"input_tokens": 1})
