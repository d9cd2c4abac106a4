"""*settle*: look an unknown outcome up at the provider, by key and read-only; never send again."""

import logging
from typing import NoReturn

from temporalio import activity

from activities import looking
from activities.deps import Deps
from activities.effects import Effects
from activities.messages import ActionRef
from domain.actions import Status
from domain.texts import texts_for
from gateways.contract import Gateway
from store import actions, executing
from store.actions import Action

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
            send = await executing.doubtful_send(connection, ref.action_id)
        if action.status is not Status.EXECUTING:
            return
        tool = looking.tool_to_look_with(self._deps.registry, action)
        if tool is None:
            await self._cannot_look(action)
            return
        look = await looking.look(action, tool, lambda: self._gateway(action))
        effects = await Effects.of(self._deps, action, tool)
        async with self._deps.pool.acquire() as connection:
            written = await executing.record_look(
                connection,
                action.id,
                look=look,
                send=send,
                texts=effects.texts,
                success=lambda locked: effects.from_provider(locked, look),
                mirror=effects.mirror,
            )
        if written is executing.Written.CONTRADICTION:
            log.critical("contradiction", extra={"action_id": action.id})

    async def _cannot_look(self, action: Action) -> None:
        """The deployment has no such tool any more. A look without a result, so that the person is
        told and late clicks are answered; raising would only come back every few seconds."""
        log.error("no tool to look with", extra={"action_id": action.id, "tool": action.tool})
        async with self._deps.pool.acquire() as connection:
            await executing.record_look(
                connection,
                action.id,
                look=looking.uncertain("UnknownToolError"),
                send=None,
                texts=texts_for(await actions.language_of(connection, action)),
                success=_proves_nothing,
                mirror=_proves_nothing,
            )

    async def _gateway(self, action: Action) -> Gateway:
        async with self._deps.pool.acquire() as connection:
            return await self._deps.gateways.of(connection, action.account_id)


def _proves_nothing(*_given: object) -> NoReturn:
    raise AssertionError("an uncertain look proves no effect")
