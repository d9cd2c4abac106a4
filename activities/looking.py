"""One look at the provider, by key and read-only: the same for *settle* and for an operator."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from domain.outcomes import LookupResult, Presence, ProviderRequest
from gateways.contract import Gateway
from store.actions import Action
from tools.contract import ProviderContext, ProviderTool
from tools.registry import Registry, UnknownToolError

log = logging.getLogger(__name__)


def tool_to_look_with(registry: Registry, action: Action) -> ProviderTool[Any] | None:
    """The action's tool; None if the deployment has it no more, or it acts at no provider."""
    try:
        tool = registry.get(action.tool)
    except UnknownToolError:
        return None
    return tool if isinstance(tool, ProviderTool) else None


async def look(
    action: Action, tool: ProviderTool[Any], gateway: Callable[[], Awaitable[Gateway]]
) -> LookupResult:
    """What the provider shows under the action's key. Never raises: a look-up that fails, or whose
    gateway cannot be built, has proved nothing."""
    assert action.request is not None, f"action {action.id!r} has no frozen request"
    try:
        context = ProviderContext(
            gateway=await gateway(), request=ProviderRequest.model_validate(action.request)
        )
        return await tool.settle(action.payload, action.id, context)
    except Exception as error:
        log.exception("look-up raised", extra={"action_id": action.id})
        return uncertain(type(error).__name__)


def uncertain(exception: str) -> LookupResult:
    """A look that proved nothing, because of this."""
    return LookupResult(
        presence=Presence.UNCERTAIN,
        final=False,
        equal=False,
        evidence={"exception": exception},
    )
