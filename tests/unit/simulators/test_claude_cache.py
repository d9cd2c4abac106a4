"""Cache counters are honest: read only what was written before and has not run out."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.unit.simulators.claude_kit import Far, assistant, running, user


class Clock:
    """Seconds that a test can move."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


@pytest.fixture
async def far() -> AsyncIterator[Far]:
    """A fresh simulator with a clock of our own."""
    async with running(clock=CLOCK) as far:
        yield far


def prompt(text: str, ttl: str = "1h") -> list[dict[str, Any]]:
    """A system block that ends in a breakpoint."""
    control = {"type": "ephemeral", "ttl": ttl}
    return [{"type": "text", "text": text, "cache_control": control}]


def counts(answer: Any) -> tuple[int, int, int]:
    """(uncached, written, read) tokens."""
    usage = answer.usage
    return usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens


async def test_the_second_call_reads_what_the_first_wrote(far: Far) -> None:
    """Write once, read the same number of tokens after; the sum is always the whole prompt."""
    first = counts(await far.create([user("oi")], system=prompt("regras " * 500)))
    second = counts(await far.create([user("oi")], system=prompt("regras " * 500)))
    assert first[1] > 1000
    assert first[2] == 0
    assert second == (first[0], 0, first[1])


async def test_another_prefix_reads_nothing(far: Far) -> None:
    """A change in system, tools or model voids the whole prefix."""
    system = prompt("regras " * 500)
    await far.create([user("oi")], system=system)
    assert counts(await far.create([user("oi")], system=prompt("Regras " * 500)))[2] == 0
    assert counts(await far.create([user("oi")], system=system, tools=None))[2] == 0
    other = {"model": "claude-haiku-4-5", "system": prompt("regras " * 3000)}
    assert counts(await far.create([user("oi")], **other))[2] == 0


async def test_below_the_minimum_nothing_is_cached(far: Far) -> None:
    """Under 512 tokens on Haiku 5.5 the breakpoint is silently void."""
    short: dict[str, Any] = {"system": prompt("regras"), "tools": None}
    for _ in range(2):
        assert counts(await far.create([user("oi")], **short))[1:] == (0, 0)


async def test_entries_run_out_and_a_hit_renews_them(far: Far) -> None:
    """5 minutes after the last use nothing is left."""
    system = prompt("regras " * 500, ttl="5m")
    await far.create([user("oi")], system=system)
    for _ in range(2):
        CLOCK.now += 250
        assert counts(await far.create([user("oi")], system=system))[2] > 0
    CLOCK.now += 301
    assert counts(await far.create([user("oi")], system=system))[2] == 0


async def test_the_tail_breakpoint_moves_with_the_conversation(far: Far) -> None:
    """1 h on system and the automatic 5 min on the tail are counted apart; the next turn reads
    both and writes only what is new."""
    auto = {"cache_control": {"type": "ephemeral"}, "system": prompt("regras " * 500)}
    talk = [user("bom dia " * 200)]
    first = await far.create(talk, **auto)
    assert first.usage.cache_creation.ephemeral_1h_input_tokens > 1000
    tail = first.usage.cache_creation.ephemeral_5m_input_tokens
    assert tail > 400
    second = await far.create([*talk, assistant("Bom dia!"), user("oi " * 100)], **auto)
    assert counts(second)[2] == counts(first)[1]
    assert 0 < counts(second)[1] < tail
    assert counts(second)[0] == 0


async def test_a_hit_by_look_back_renews_the_older_prefix(far: Far) -> None:
    """A longer conversation that reads an older prefix keeps that prefix alive."""
    auto = {"cache_control": {"type": "ephemeral"}}
    talk = [user("bom dia " * 500)]
    await far.create(talk, **auto)
    CLOCK.now += 250
    assert counts(await far.create([*talk, user("e aí?")], **auto))[2] > 0
    CLOCK.now += 250
    assert counts(await far.create(talk, **auto))[2] > 0


async def test_a_prefix_more_than_20_blocks_back_is_not_found(far: Far) -> None:
    """The look-back ends after 20 blocks."""
    auto = {"cache_control": {"type": "ephemeral"}, "tools": None}
    talk = [user("bom dia " * 500)]
    await far.create(talk, **auto)
    near = [*talk, *[user(f"e {i}") for i in range(19)]]
    far_off = [*talk, *[user(f"ou {i}") for i in range(20)]]
    assert counts(await far.create(far_off, **auto))[2] == 0
    assert counts(await far.create(near, **auto))[2] > 0


async def test_tool_choice_voids_messages_but_not_system(far: Far) -> None:
    """Another tool_choice keeps the system prefix and loses the messages."""
    auto = {"cache_control": {"type": "ephemeral"}, "system": prompt("regras " * 500)}
    talk = [user("bom dia " * 200)]
    first = await far.create(talk, **auto)
    none = await far.create(talk, tool_choice={"type": "none"}, **auto)
    assert counts(none)[2] == first.usage.cache_creation.ephemeral_1h_input_tokens
