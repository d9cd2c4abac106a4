"""*think*: one call of the model, stored under (turn, step) before it is used.

A retry finds the stored answer and costs no second call. The call carries the ledger's facts, and
the answer remembers on which `facts_seq` it was thought: a proposal or reply on older facts is
refused later and thought again (design §3, §7).
"""

import json
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import asyncpg
from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities import calls
from activities.deps import Deps
from activities.failures import permanent
from activities.messages import Route, StepRef, Thought
from activities.receipts import typing
from activities.watching import FACTS_SHOWN
from domain.actions import CloseReason, Status
from domain.history import Entry
from domain.texts import ActionFact, texts_for
from llm.answers import ModelAnswer, Refused, Reply, ToolCalls, Truncated, classify
from llm.errors import ModelFailure
from llm.invariants import Rule, uses_of, violations
from llm.prompt import system_blocks
from llm.render import Message, render
from llm.repair import repair
from llm.trim import trim
from store import actions, history, outbox, pauses, turns
from store.actions import Action
from store.connection import Connection
from store.turns import StoredAnswer, Turn
from tools.contract import ReadTool
from tools.registry import Registry
from tools.schema import fits_strict

log = logging.getLogger(__name__)

MOST_ENTRIES = 600  # read per call; trimming by tokens comes after it


@dataclass(frozen=True, kw_only=True)
class _Input:
    """`was_cut`: the step before ended at max_tokens, so this one may be twice as long."""

    turn: Turn
    messages: list[Message]
    was_cut: bool


class Think:
    """Asks Claude once for a step of a turn."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="think")
    async def run(self, ref: StepRef) -> Thought:
        """Where the answer leads. Raises ApplicationError, non-retryable where a retry cannot
        help, with the provider's wish for a delay where it gave one."""
        async with self._deps.pool.acquire() as connection:
            paused = await _paused(connection, ref.turn_id)
            if paused is not None:
                return paused
            stored = await turns.stored_answer(connection, turn=ref.turn_id, step=ref.step)
            if stored is None and await outbox.exists(connection, f"turn:{ref.turn_id}:reply:0"):
                return Thought(route=Route.GIVE_UP)  # a run before this one spoke by template
        if stored is None:
            async with typing(self._deps, ref.turn_id, step=ref.step):
                stored = await self._ask(ref)
        return route(stored, self._deps.registry, tools_allowed=not ref.last)

    async def _ask(self, ref: StepRef) -> StoredAnswer:
        given = await self._input(ref)
        turn = given.turn
        usual = self._deps.claude.capability.max_tokens
        tools = offered(self._deps.registry, turn)
        prompt = self._deps.prompt(turn.prompt_file, language=turn.who.language)
        try:
            answer = await self._deps.claude.ask(
                system_blocks(prompt, business_name=turn.account_name),
                tools,
                given.messages,
                allow_tools=not ref.last,
                allow_parallel=all_read(self._deps.registry, turn),
                max_tokens=2 * usual if given.was_cut else usual,
            )
        except ModelFailure as failure:
            raise _as_application_error(failure) from None
        try:
            return await self._store(turn, ref.step, answer)
        except asyncpg.DataError as error:  # a NUL in it, say: asking again would only cost again
            raise permanent("think", error) from None

    async def _store(self, turn: Turn, step: int, answer: ModelAnswer) -> StoredAnswer:
        async with self._deps.pool.acquire() as connection:
            return await turns.store_answer(
                connection,
                turn=turn.id,
                step=step,
                model=answer.model,
                facts_seq=turn.facts_seq,
                stop_reason=answer.stop_reason,
                content=[dict(block) for block in answer.blocks],
                usage=dict(answer.usage),
                request_id=answer.request_id,
                latency_ms=answer.latency_ms,
            )

    async def _input(self, ref: StepRef) -> _Input:
        async with (
            self._deps.pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            turn = await turns.read(connection, ref.turn_id)
            rows = await history.read(connection, turn.conversation_id, limit=MOST_ENTRIES)
            known = await actions.recent(connection, turn.conversation_id, limit=FACTS_SHOWN)
            before = await turns.stored_answer(connection, turn=turn.id, step=ref.step - 1)
        messages = render(
            trim([Entry.model_validate(row) for row in rows]),
            facts=facts_text(known, turn),
            now_local=datetime.now(ZoneInfo(turn.who.time_zone)).isoformat(timespec="seconds"),
            capability=self._deps.claude.capability,
        )
        led_to = await self._led_to(turn, messages)
        repaired = repair(messages, truth=lambda id_, _name: _ledger_truth(led_to.get(id_)))
        if repaired.found:
            log.warning(
                "history repaired",
                extra={"turn_id": str(turn.id), "rules": [str(one.rule) for one in repaired.found]},
            )
        if repaired.left:
            rules = ", ".join(str(one.rule) for one in repaired.left)
            raise ApplicationError(
                f"the history breaks {rules}", type="model_bad_request", non_retryable=True
            )
        was_cut = before is not None and before.stop_reason == "max_tokens"
        return _Input(turn=turn, messages=repaired.messages, was_cut=was_cut)

    async def _led_to(self, turn: Turn, messages: list[Message]) -> dict[str, Action]:
        """The action of each call without a result; the ledger is asked only if there are any."""
        lost = [one for one in violations(messages) if one.rule is Rule.ORPHAN_TOOL_USE]
        if not lost:
            return {}
        ids = [use["id"] for message in messages for use in uses_of(message)]
        async with self._deps.pool.acquire() as connection:
            return await actions.of_calls(connection, turn.conversation_id, ids)


async def _paused(connection: Connection, turn: UUID) -> Thought | None:
    """Where the turn leads if a human has its conversation now, else None. Its messages are rung
    for at the pause's end; under the lock, or a pause that just ended would be waited for."""
    pause, own = await pauses.of_turn(connection, turn)
    if pause is None:
        return None
    if own:
        return Thought(route=Route.HANDED_OVER)
    async with connection.transaction():
        await turns.lock_conversation(connection, pause.conversation_id)
        pause = await pauses.current(connection, pause.conversation_id)
        if pause is None:
            return None
        await pauses.defer(connection, pause)
    return Thought(route=Route.PAUSED)


def facts_text(known: list[Action], turn: Turn) -> str:
    """The ledger's facts about the conversation's open and last decided actions."""
    zone = ZoneInfo(turn.who.time_zone)
    return texts_for(turn.who.language).facts_text([_fact(action, zone) for action in known])


def _fact(action: Action, zone: ZoneInfo) -> ActionFact:
    at = action.finished_at or action.decided_at or action.created_at
    return ActionFact(
        action_id=action.id,
        tool=action.tool,
        summary=action.summary,
        status=action.status,
        at=at.astimezone(zone),
        expires_at=action.expires_at.astimezone(zone) if action.status is Status.PENDING else None,
        close_reason=CloseReason(action.reason) if action.reason else None,
        detail=action.detail,
        payload=action.payload,
        result=action.result,
    )


def _ledger_truth(action: Action | None) -> str:
    """What a call came to whose result is missing: data like any result, and never "not done" of an
    action that is there."""
    known = {"action_id": action.id, "status": action.status.value} if action else {}
    return json.dumps({"result_lost": True, **known})


def offered(registry: Registry, turn: Turn) -> list[dict[str, object]]:
    """The tools as the model is offered them, in a fixed order: by role, reads alone if the account
    says so; strict as long as the request allows it."""
    schemas = registry.schemas(turn.who.role, read_only=bool(turn.settings.get("read_only")))
    strict = {"strict": True} if fits_strict(schemas) else {}
    return [
        {
            "name": one.name,
            "description": one.description,
            "input_schema": one.input_schema,
            **strict,
        }
        for one in schemas
    ]


def all_read(registry: Registry, turn: Turn) -> bool:
    """Whether only reads are offered: then the model may call several at once."""
    tools = registry.offered_to(turn.who.role, bool(turn.settings.get("read_only")))
    return all(isinstance(tool, ReadTool) for tool in tools)


def route(stored: StoredAnswer, registry: Registry, *, tools_allowed: bool = True) -> Thought:
    """Where an answer leads, from the answer alone."""
    step = classify(calls.as_model_answer(stored), tools_allowed=tools_allowed)
    match step:
        case Reply():
            return Thought(route=Route.REPLY)
        case ToolCalls(calls=found):
            reads = any(not calls.is_effect(registry, call) for call in found)
            effects = any(calls.is_effect(registry, call) for call in found)
            return Thought(route=Route.EFFECT if effects else Route.READ, reads=reads)
        case Truncated(text=str()):
            return Thought(route=Route.REPLY)
        case Refused():
            return Thought(route=Route.GIVE_UP)
        case _:
            return Thought(route=Route.AGAIN)


def _as_application_error(failure: ModelFailure) -> ApplicationError:
    delay = timedelta(seconds=failure.retry_after) if failure.retry_after else None
    return ApplicationError(
        str(failure),
        {"request_id": failure.request_id},
        type=failure.kind.value,
        non_retryable=not failure.retryable,
        next_retry_delay=delay,
    )
