"""*execute*: one attempt at the effect. Maximum attempts 1; its shield keeps the outcome.

Open the attempt (which revokes earlier ones), check the digest, revalidate, fence, one call with
the action id as key, and the outcome into the send's row always (design §3.4). What raises here is
unknown to the workflow, which asks *decide*; only rows say whether anything may have been sent.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import asyncpg
from temporalio import activity

from activities.deps import Deps
from activities.effects import Effects, as_database_tool, as_provider_tool
from activities.messages import ActionRef
from activities.propose import lock_seconds
from activities.sending import WireDeadline
from domain.actions import CloseReason
from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from domain.texts import texts_for
from gateways.contract import get_ready
from store import actions, executing
from store.actions import Action
from store.connection import read_only
from tools.contract import (
    DatabaseContext,
    DatabaseTool,
    EffectTool,
    NoLongerPossible,
    NoLongerPossibleError,
    ProviderContext,
    ProviderTool,
)
from tools.registry import UnknownToolError

log = logging.getLogger(__name__)

WRITE_AGAIN_S = 1.0  # the outcome is written again and again: losing it makes an unknown
WRITE_TRIES = 20


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    action: Action
    n: int
    effects: Effects


class Execute:
    """Performs a decided action."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="execute")
    async def run(self, ref: ActionRef) -> None:
        """Make one attempt; returns when its outcome is written, or nothing could be done."""
        work = asyncio.ensure_future(self._attempt(ref.action_id))
        while not work.done():
            # A cancel is a request, and so is the next one: the truth of a call under way comes
            # first.
            with suppress(asyncio.CancelledError):
                await asyncio.shield(work)
        await work

    async def _attempt(self, action_id: str) -> None:
        async with self._deps.pool.acquire() as connection:
            action = await actions.get(connection, action_id)
        try:
            tool = self._deps.registry.get(action.tool)
        except UnknownToolError:
            await self._close(action, CloseReason.TOOL_GONE)
            return
        assert isinstance(tool, EffectTool)
        async with self._deps.pool.acquire() as connection:
            n = await executing.open_attempt(connection, action_id, lock_s=lock_seconds(tool))
        if n is None:
            return
        attempt = _Attempt(action=action, n=n, effects=await Effects.of(self._deps, action, tool))
        if not await self._still_possible(attempt, tool):
            return
        if isinstance(tool, DatabaseTool):
            await self._in_database(attempt, as_database_tool(tool))
        else:
            await self._at_provider(attempt, as_provider_tool(tool))

    async def _still_possible(self, attempt: _Attempt, tool: EffectTool[Any]) -> bool:
        action = attempt.action
        if action.recomputed_digest() != action.digest or tool.version != action.tool_version:
            log.critical("frozen columns changed", extra={"action_id": action.id})
            await self._close(action, CloseReason.DIGEST_MISMATCH)
            return False
        async with read_only(self._deps.pool) as db:
            refusal = await tool.revalidate(action.payload, attempt.effects.who, db)
        if refusal is None:
            return True
        await self._close(action, CloseReason.NO_LONGER_POSSIBLE, refusal)
        return False

    async def _close(
        self, action: Action, reason: CloseReason, refusal: NoLongerPossible | None = None
    ) -> None:
        async with self._deps.pool.acquire() as connection:
            language = await actions.language_of(connection, action)
            await executing.close_unsent(
                connection,
                action.id,
                reason,
                texts=texts_for(language),
                detail=refusal.reason if refusal else None,
            )

    async def _in_database(self, attempt: _Attempt, tool: DatabaseTool[Any]) -> None:
        """The effect, its record and its feedback in one transaction: no fence, no unknown."""
        try:
            async with self._deps.pool.acquire() as connection, connection.transaction():
                action = await executing.lock_for_effect(
                    connection, attempt.action.id, attempt=attempt.n
                )
                if action is None:
                    return
                context = DatabaseContext(
                    transaction=connection,
                    who=attempt.effects.who,
                    action_id=action.id,
                    pause=self._deps.pause,
                )
                result = await tool.execute(action.payload, action.id, context)
                await executing.effect_done(
                    connection, action, attempt.effects.success(action, result)
                )
        except NoLongerPossibleError as error:
            await self._close(
                attempt.action,
                CloseReason.NO_LONGER_POSSIBLE,
                NoLongerPossible(reason=error.reason),
            )

    async def _at_provider(self, attempt: _Attempt, tool: ProviderTool[Any]) -> None:
        action = attempt.action
        assert action.request is not None, f"action {action.id!r} has no frozen request"
        async with self._deps.pool.acquire() as connection:
            gateway = await self._deps.gateways.of(connection, action.account_id)
        request = ProviderRequest.model_validate(action.request)
        await get_ready(gateway, action.id, request)
        deadline = WireDeadline()
        async with self._deps.pool.acquire() as connection:
            send = await executing.fence(connection, action.id, attempt=attempt.n)
        if send is None:
            log.warning("fence lost", extra={"action_id": action.id, "attempt": attempt.n})
            return
        context = ProviderContext(
            gateway=gateway,
            request=request,
            before_wire=deadline.check,
        )
        outcome = await self._call(tool, action, context)
        await self._write(attempt, send, outcome)

    async def _call(
        self, tool: ProviderTool[Any], action: Action, context: ProviderContext
    ) -> GatewayResult:
        """One trip over the wire. A tool that raises has proved nothing."""
        try:
            return await tool.execute(action.payload, action.id, context)
        except Exception as error:
            log.exception("tool raised while sending", extra={"action_id": action.id})
            return GatewayResult(
                outcome=Outcome.UNKNOWN,
                reason=f"the tool raised {type(error).__name__}",
                evidence={"exception": type(error).__name__},
            )

    async def _write(self, attempt: _Attempt, send: int, outcome: GatewayResult) -> None:
        """Into the send's row always, even if the database was away for a moment."""
        for tries_left in reversed(range(WRITE_TRIES)):
            try:
                async with self._deps.pool.acquire() as connection:
                    written = await executing.record_outcome(
                        connection,
                        attempt.action.id,
                        send=send,
                        outcome=outcome,
                        texts=attempt.effects.texts,
                        success=lambda action: attempt.effects.from_provider(action, outcome),
                        mirror=attempt.effects.mirror,
                    )
                break
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                if not tries_left:
                    raise
                await asyncio.sleep(WRITE_AGAIN_S)
        if written is executing.Written.CONTRADICTION:
            log.critical("contradiction", extra={"action_id": attempt.action.id, "send": send})
