"""Each assumption is seen to hold, and seen not to, against a far side that checks the rules."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from cli.commands import tools
from cli.live.cache_probe import cache_minimum
from cli.live.probing import Probe, Verdict, strict_tools, system_role, thinking
from cli.live.spending import LimitReachedError, Spending
from cli.stack.errors import PartError
from llm import models
from llm.client import build_anthropic
from simulators.claude.app import create_app
from simulators.claude.client import ClaudeSimulatorClient
from simulators.claude.config import ClaudeSimulatorConfig
from tests.harness.serving import serving

ADMIN = "admin"
HAIKU, OLD = "claude-haiku-5-5", "claude-haiku-4-5"
Row = Callable[..., None]


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> Row:
    """Claim something else of the default model."""

    def claim(**wrong: Any) -> None:
        right = models.capability_of(HAIKU)
        monkeypatch.setitem(models._TABLE, HAIKU, replace(right, **wrong))

    return claim


@asynccontextmanager
async def probing(
    model: str = HAIKU, *, limit: str = "1", key: str = "k"
) -> AsyncIterator[tuple[Probe, ClaudeSimulatorClient]]:
    """A probe of the stand-in, and its back door."""
    config = ClaudeSimulatorConfig(key="k", admin_secret=ADMIN)
    async with (
        serving(create_app(config)) as url,
        build_anthropic(key, base_url=url) as sdk,
        ClaudeSimulatorClient(url, admin_secret=ADMIN) as back,
    ):
        yield Probe(sdk, model, Spending(Decimal(limit))), back


async def _all(probe: Probe) -> list[Verdict]:
    return [
        await thinking(probe),
        await system_role(probe),
        await strict_tools(probe, tools.load({})),
        await cache_minimum(probe),
    ]


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "claude-sonnet-5-5", OLD])
async def test_what_is_so_holds(model: str) -> None:
    """The rows of the table, and the careful request for a model without a row."""
    async with probing(model) as (probe, _):
        found = await _all(probe)
    assert [one.holds for one in found] == [True] * 4, found


async def test_a_wrong_thinking_setting_is_seen_and_spoils_no_other_look(row: Row) -> None:
    """The provider's own sentence says why; what is asked next is asked without the setting."""
    row(thinking="between_tools")
    async with probing() as (probe, _):
        found = await _all(probe)
    assert [one.holds for one in found] == [False, True, True, True], found
    assert "'between_tools' is not supported on this model" in found[0].seen
    assert found[0].vital


async def test_a_wrong_system_role_is_seen(monkeypatch: pytest.MonkeyPatch, row: Row) -> None:
    """Claimed and refused: no turn would work. Not claimed and taken: merely too careful."""
    careful = models.capability_of(OLD)
    monkeypatch.setitem(models._TABLE, OLD, replace(careful, supports_system_role=True))
    async with probing(OLD) as (probe, _):
        refused = await system_role(probe)
    assert (refused.holds, refused.vital) == (False, True)
    assert "role 'system' is not supported" in refused.seen
    row(supports_system_role=False)
    async with probing() as (probe, _):
        taken = await system_role(probe)
    assert (taken.holds, taken.vital) == (False, False)


@pytest.mark.parametrize(("least", "seen"), [(256, "0 from the cache"), (1024, "cached already")])
async def test_a_wrong_cache_minimum_is_seen(row: Row, least: int, seen: str) -> None:
    """Claimed too low: the second call reads nothing. Claimed too high: a shorter prompt is cached
    too."""
    row(min_cache_tokens=least)
    async with probing() as (probe, _):
        found = await cache_minimum(probe)
    assert (found.holds, found.vital) == (False, False)
    assert seen in found.seen


async def test_no_run_reads_the_cache_of_another() -> None:
    """Each asks with a prompt of its own: one read in a run, that of its second call."""
    async with probing() as (probe, back):
        runs = [await cache_minimum(probe), await cache_minimum(probe)]
        asked = [one for one in await back.journal() if one["path"] == "/v1/messages"]
    reads = [one["response"]["usage"]["cache_read_input_tokens"] > 0 for one in asked]
    assert [one.holds for one in runs] == [True, True]
    assert reads == [False, True, False, False] * 2


async def test_a_busy_provider_says_nothing_about_the_model() -> None:
    """Overloaded is no verdict."""
    async with probing() as (probe, back):
        await back.fault("overloaded")
        found = await thinking(probe)
    assert found.holds is None
    assert "model_overloaded" in found.seen


async def test_a_refused_key_ends_the_questions() -> None:
    """Nobody answers to this key: that is no verdict either, and nothing more is asked."""
    async with probing(key="another") as (probe, _):
        with pytest.raises(PartError, match="the model cannot be asked: model_config: HTTP 401"):
            await thinking(probe)


async def test_the_limit_holds_for_the_questions_too() -> None:
    """The call that reaches it is the last."""
    async with probing(limit="0.0000001") as (probe, back):
        with pytest.raises(LimitReachedError):
            await thinking(probe)
        assert await back.calls() == 1
