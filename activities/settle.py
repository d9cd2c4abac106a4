"""*settle*: look an unknown outcome up at the provider, by key and read-only; never send again."""

import logging
from typing import Any

from temporalio import activity

from activities.deps import Deps
from activities.effects import Effects, as_provider_tool
from activities.messages import ActionRef
from domain.actions import Status
from domain.outcomes import LookupResult, Presence, ProviderRequest
from store import actions, executing
from store.actions import Action
from tools.contract import EffectTool, ProviderContext, ProviderTool
from tools.registry import UnknownToolError

log = logging.getLogger(__name__)


class Settle:
    """Looks for the effect of an action whose outcome is unknown."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @activity.defn(name="settle")
    async def run(self, ref: ActionRef) -> None:
        """Look once and write what was seen; *decide* says when to look again."""
        async with self._deps.pool.acquire() as connection:
            action = await actions.get(connection, ref.action_id)
        if action.status is not Status.EXECUTING:
            return
        tool = self._tool(action)
        look = await self._look(action, tool)
        effects = await Effects.of(self._deps, action, tool)
        async with self._deps.pool.acquire() as connection:
            written = await executing.record_look(
                connection,
                action.id,
                look=look,
                texts=effects.texts,
                success=lambda locked: effects.from_provider(locked, look),
                mirror=effects.mirror,
            )
        if written is executing.Written.CONTRADICTION:
            log.critical("contradiction", extra={"action_id": action.id})

    def _tool(self, action: Action) -> ProviderTool[Any]:
        try:
            tool = self._deps.registry.get(action.tool)
        except UnknownToolError:
            raise LookupError(f"action {action.id!r}: tool {action.tool!r} is gone") from None
        assert isinstance(tool, EffectTool)
        return as_provider_tool(tool)

    async def _look(self, action: Action, tool: ProviderTool[Any]) -> LookupResult:
        assert action.request is not None, f"action {action.id!r} has no frozen request"
        try:
            async with self._deps.pool.acquire() as connection:
                gateway = await self._deps.gateways.of(connection, action.account_id)
            context = ProviderContext(
                gateway=gateway, request=ProviderRequest.model_validate(action.request)
            )
            return await tool.settle(action.payload, action.id, context)
        except Exception as error:
            log.exception("look-up raised", extra={"action_id": action.id})
            return LookupResult(
                presence=Presence.UNCERTAIN,
                final=False,
                equal=False,
                evidence={"exception": type(error).__name__},
            )
