"""What an operator does about a stuck action: look, and settle it by his word.

Called by the command line, not by Temporal: it must work while Temporal is down (design §3). It
needs the deployment's tools for the texts to the person, and its gateways to look and to know what
the provider promises; a word that needs neither works without them.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from activities import looking
from activities.deps import Gateways, NoGatewayError
from activities.effects import Effects
from domain.canonical import JsonValue
from domain.errors import OperatorError
from domain.outcomes import LookupResult
from domain.settling import ProviderRules, Ruling, Wish
from domain.texts import Texts, texts_for
from gateways.contract import GatewayError
from store import actions, operators
from store.actions import Action
from store.connection import Connection
from store.executing import Success
from store.operators import Operator
from tools.registry import Registry

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What a look saw. `contradicts`: something is there although the action ended without it."""

    action: Action
    seen: LookupResult
    contradicts: bool


@dataclass(frozen=True, kw_only=True)
class Reconcile:
    """Works with the tools and gateways of a deployment."""

    registry: Registry
    gateways: Gateways

    async def see(self, connection: Connection, action: Action) -> LookupResult:
        """Look at the provider and write nothing. Raises OperatorError where nobody can look."""
        tool = looking.tool_to_look_with(self.registry, action)
        if tool is None or action.request is None:
            raise OperatorError(
                f"action {action.id!r}: its tool {action.tool!r} has no provider to look at here"
            )
        return await looking.look(
            action, tool, lambda: self.gateways.of(connection, action.account_id)
        )

    async def look(self, connection: Connection, action_id: str, *, operator: str | None) -> Looked:
        """Look at the provider, and write what was seen as evidence. Raises OperatorError."""
        action = await actions.get(connection, action_id)
        seen = await self.see(connection, action)
        contradicts = await operators.write_look(connection, action_id, seen, operator=operator)
        return Looked(action=action, seen=seen, contradicts=contradicts)

    async def weigh(self, connection: Connection, action_id: str, wish: Wish) -> Ruling:
        """What the rules say of an operator's wish now; changes nothing."""
        rules = await self._rules(connection, await actions.get(connection, action_id))
        return await operators.weigh(connection, action_id, wish, rules=rules)

    async def settle(
        self, connection: Connection, action_id: str, wish: Wish, *, by: Operator
    ) -> Action:
        """Follow an operator's word; the action as it is then. Raises NotAllowedError."""
        action = await actions.get(connection, action_id)
        rules = await self._rules(connection, action)
        tool = looking.tool_to_look_with(self.registry, action)
        if tool is None:
            texts = texts_for(await actions.language_of(connection, action))
            return await operators.settle(
                connection,
                action_id,
                wish,
                by=by,
                rules=rules,
                told=lambda locked, data: _told_without_tool(locked, data, texts),
                mirror=_no_books,
            )
        effects = await Effects.read(connection, action, tool)
        return await operators.settle(
            connection,
            action_id,
            wish,
            by=by,
            rules=rules,
            told=effects.from_data,
            mirror=effects.mirror,
        )

    async def _rules(self, connection: Connection, action: Action) -> ProviderRules | None:
        """What the provider promises for the operation; None where that cannot be known here."""
        if action.request is None:
            return None
        try:
            gateway = await self.gateways.of(connection, action.account_id)
        except (NoGatewayError, GatewayError, OperatorError) as error:
            log.warning("no gateway to ask: %s", type(error).__name__)
            return None
        promised = gateway.capabilities
        return ProviderRules(
            lookup_lag=promised.lookup_lag,
            resend_within=promised.resend_within,
            resend_after_absent=action.request.get("operation") in promised.resend_after_absent,
        )


def _told_without_tool(action: Action, data: dict[str, Any], texts: Texts) -> Success:
    said = texts.done(summary=action.summary, action_id=action.id)
    return Success(result=data, texts=[said])


def _no_books(
    action: Action, connection: Connection
) -> Callable[[dict[str, JsonValue]], Awaitable[None]]:
    async def write(_result: dict[str, JsonValue]) -> None:
        log.warning("no tool to keep its books", extra={"action_id": action.id})

    return write
