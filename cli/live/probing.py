"""Asks the model whether what llm/models.py says of it is so: one direct call an assumption.

A wrong row shows in production as a 400 on every call, or as a cache that silently never fills.
The calls go through the product's own client and are built from the same row, so what is accepted
here is accepted there.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anthropic

from cli.live.spending import Spending
from cli.stack.errors import PartError
from domain.people import Role
from llm.answers import ModelAnswer
from llm.client import ClaudeClient
from llm.errors import FailureKind, ModelFailure, to_failure
from llm.models import Capability
from llm.render import Message
from tools.registry import Registry
from tools.schema import fits_strict

_NOBODY = frozenset({FailureKind.CONFIG, FailureKind.BUDGET, FailureKind.UNREACHABLE})
"""Failures that say nothing about the model: nobody answers, or not to this key."""

SYSTEM = [{"type": "text", "text": "Você responde em uma linha, em português."}]
_CODE = "7314"
SHORT_TOKENS = 300
"""Enough for a short answer, also of a model that thinks before it."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`holds`: None if it could not be found out. `vital`: if it does not hold, no turn works."""

    assumption: str
    holds: bool | None
    seen: str
    vital: bool = False


class DoesNotHoldError(Exception):
    """The model was seen to be otherwise; the message says how."""


class Probe:
    """One model under question."""

    def __init__(self, client: anthropic.AsyncAnthropic, model: str, spending: Spending) -> None:
        self._sdk = client
        self._claude = ClaudeClient(client, model)
        self._spending = spending
        self.row: Capability = self._claude.capability

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        system: Sequence[Mapping[str, Any]] = SYSTEM,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = SHORT_TOKENS,
    ) -> ModelAnswer:
        """One call, counted. Raises ModelFailure, and LimitReachedError after the call that
        reaches the limit."""
        answer = await self._claude.ask(system, tools, messages, max_tokens=max_tokens)
        self._spending.add(answer.model, answer.usage)
        self._spending.check()
        return answer

    async def count(
        self, messages: Sequence[Message], *, system: Sequence[Mapping[str, Any]] = ()
    ) -> int:
        """The provider's estimate of a prompt's tokens, which costs nothing. Raises
        ModelFailure."""
        body: dict[str, Any] = {"model": self.row.model, "messages": list(messages)}
        if system:
            body["system"] = [dict(block) for block in system]
        try:
            return (await self._sdk.messages.count_tokens(**body)).input_tokens
        except Exception as error:
            failure = to_failure(error)
            if failure is None:
                raise
            raise failure from error

    def ask_without_thinking_fields(self) -> None:
        """Send nothing about thinking from now on: a refused setting must not make every later
        assumption look wrong."""
        self._claude.capability = replace(self.row, thinking=None, effort=None)


async def verdict(assumption: str, look: Callable[[], Awaitable[str]], *, vital: bool) -> Verdict:
    """What came of one look: what it returns was seen and holds. Raises PartError if the model
    cannot be asked at all."""
    holds: bool | None
    try:
        holds, seen = True, await look()
    except DoesNotHoldError as error:
        holds, seen = False, str(error)
    except ModelFailure as failure:
        if failure.kind in _NOBODY:
            raise PartError(f"the model cannot be asked: {words(failure)}") from None
        holds = None if failure.retryable else False
        seen = words(failure)
    return Verdict(assumption=assumption, holds=holds, seen=seen, vital=vital)


async def thinking(probe: Probe) -> Verdict:
    """The row's thinking, effort and longest answer are accepted; disabled is disabled."""
    row = probe.row

    async def look() -> str:
        answer = await probe.ask([user("Diga só: ok")], max_tokens=None)
        kinds = {str(block.get("type")) for block in answer.blocks}
        if row.thinking == "disabled" and any("thinking" in kind for kind in kinds):
            raise DoesNotHoldError("accepted, and yet the answer holds a block of thinking")
        return f"accepted, with blocks of {', '.join(sorted(kinds)) or 'no kind'}"

    told = f"thinking {row.thinking or 'not sent'}, effort {row.effort or 'not sent'}"
    found = await verdict(f"{told}, max_tokens {row.max_tokens}", look, vital=True)
    if found.holds is False:
        probe.ask_without_thinking_fields()
    return found


async def system_role(probe: Probe) -> Verdict:
    """A message of role system, in mid-conversation and at its end, is taken or not, as the row
    says."""

    async def look() -> str:
        try:
            answer = await probe.ask(
                [
                    user("Oi, bom dia."),
                    _system_message(f"O código do dia é {_CODE}."),
                    {"role": "assistant", "content": [_text("Bom dia! Como posso ajudar?")]},
                    user("Qual é o código do dia?"),
                    _system_message("now: 2026-01-05T10:00:00-03:00"),
                ]
            )
        except ModelFailure as failure:
            if probe.row.supports_system_role or failure.kind is not FailureKind.BAD_REQUEST:
                raise
            return f"refused, as the row says: {words(failure)}"
        if not probe.row.supports_system_role:
            raise DoesNotHoldError("accepted: the row could say that it is")
        read = any(_CODE in str(block.get("text")) for block in answer.blocks)
        return f"accepted; the answer {'uses' if read else 'does not use'} what it said"

    may = "may" if probe.row.supports_system_role else "may not"
    return await verdict(
        f"role system {may} stand in mid-conversation",
        look,
        vital=probe.row.supports_system_role,
    )


async def strict_tools(probe: Probe, registry: Registry) -> Verdict:
    """All tools of an owner are accepted as strict in one request."""
    schemas = registry.schemas(Role.OWNER)
    tools: list[dict[str, Any]] = [
        {
            "name": one.name,
            "description": one.description,
            "input_schema": one.input_schema,
            "strict": True,
        }
        for one in schemas
    ]

    async def look() -> str:
        if not fits_strict(schemas):
            raise DoesNotHoldError("they do not fit into the budget of one request")
        answer = await probe.ask([user("Qual é o meu saldo?")], tools=tools)
        called = [str(block.get("name")) for block in answer.blocks if "name" in block]
        return f"accepted; it {'calls ' + ', '.join(called) if called else 'calls none'}"

    return await verdict(f"{len(tools)} strict tools in one request", look, vital=True)


def user(text: str) -> Message:
    """A person's message."""
    return {"role": "user", "content": [_text(text)]}


def words(failure: ModelFailure) -> str:
    """A failure with the provider's own sentence. Only here: a probe's prompt is nobody's, while a
    conversation's could be quoted in it."""
    said = getattr(failure.__cause__ or failure.__context__, "api_message", None)
    return f"{failure}: {said}" if said else str(failure)


def _system_message(text: str) -> Message:
    return {"role": "system", "content": [_text(text)]}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
