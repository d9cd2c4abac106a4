"""Finds out whether prompts are cached from `min_cache_tokens` on, and not below.

Below a model's minimum nothing is cached and no error says so, so only the usage of a second,
equal call shows it. A prompt begins with a random word: an earlier run's cache must not answer.
"""

import secrets
from typing import Any

from cli.live.probing import DoesNotHoldError, Probe, Verdict, user, verdict, words
from llm.errors import ModelFailure
from llm.prices import Tokens, tokens_of
from llm.prompt import CACHE_SYSTEM

MARGIN = 0.06
"""A counted prompt is an estimate, so "just above" and "just below" keep this distance."""
_TRIES = 8
_ANSWER_TOKENS = 16
_ASKS = [user("Diga só: ok")]


async def cache_minimum(probe: Probe) -> Verdict:
    """Two equal calls with a prompt just above the minimum: the second reads the cache. Two just
    below: neither writes nor reads."""
    least = probe.row.min_cache_tokens

    async def look() -> str:
        above = await _sized(probe, round(least * (1 + MARGIN)), at_least=least)
        written, read = [await _call(probe, above), await _call(probe, above)]
        if not read.cached:
            raise DoesNotHoldError(
                f"a prompt of {read.prompt} tokens was written as {_written(written)} and read as "
                "0 from the cache at the second call"
            )
        below = await _sized(probe, round(least * (1 - MARGIN)), at_most=least)
        first, second = [await _call(probe, below), await _call(probe, below)]
        if _written(first) or second.cached:
            raise DoesNotHoldError(f"a prompt of {second.prompt} tokens is cached already")
        return f"of {read.prompt} tokens {read.cached} came from the cache, of {second.prompt} none"

    name = f"prompts are cached from {least} tokens on"
    try:
        return await verdict(name, look, vital=False)
    except _NotCountedError as error:
        return Verdict(assumption=name, holds=None, seen=str(error))


class _NotCountedError(Exception):
    """A prompt of the wanted length could not be made."""


async def _call(probe: Probe, system: list[dict[str, Any]]) -> Tokens:
    return tokens_of((await probe.ask(_ASKS, system=system, max_tokens=_ANSWER_TOKENS)).usage)


def _written(tokens: Tokens) -> int:
    return tokens.written_5m + tokens.written_1h


async def _sized(
    probe: Probe, wanted: int, *, at_least: int = 0, at_most: int | None = None
) -> list[dict[str, Any]]:
    """A system prompt of about that many tokens, on the right side of the minimum. Raises
    _NotCountedError."""
    nonce, lines = secrets.token_hex(8), max(wanted // 12, 1)
    try:
        without = await probe.count(_ASKS)
        for _ in range(_TRIES):
            blocks = _blocks(nonce, lines)
            tokens = await probe.count(_ASKS, system=blocks) - without
            near = abs(tokens - wanted) <= wanted * MARGIN / 2
            if near and tokens > at_least and (at_most is None or tokens < at_most):
                return blocks
            lines = max(round(lines * wanted / max(tokens, 1)), 1)
    except ModelFailure as failure:
        raise _NotCountedError(f"tokens cannot be counted: {words(failure)}") from None
    raise _NotCountedError(f"no prompt of about {wanted} tokens could be made")


def _blocks(nonce: str, lines: int) -> list[dict[str, Any]]:
    text = "\n".join([nonce, *(f"anotação {n}: nada a fazer." for n in range(1, lines + 1))])
    return [{"type": "text", "text": text, "cache_control": CACHE_SYSTEM}]
