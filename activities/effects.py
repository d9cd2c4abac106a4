"""What a proved effect leads to: the result that is kept, the texts to the person, the tool's own
rows. One home for it, since *execute* and *settle* both may prove one."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self

from activities.deps import Deps
from domain.canonical import JsonValue
from domain.outcomes import GatewayResult, LookupResult
from domain.people import Who
from domain.texts import Texts, texts_for
from store.actions import Action
from store.connection import Connection
from store.executing import Success
from tools.contract import DatabaseContext, DatabaseTool, EffectTool, ProviderTool

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Effects:
    """The tool of an action, for whom it works, and in which language it is told."""

    tool: EffectTool[Any]
    who: Who
    texts: Texts

    @classmethod
    async def of(cls, deps: Deps, action: Action, tool: EffectTool[Any]) -> Self:
        """Read what is needed of the action's account."""
        async with deps.pool.acquire() as connection:
            return await cls.read(connection, action, tool)

    @classmethod
    async def read(cls, connection: Connection, action: Action, tool: EffectTool[Any]) -> Self:
        """The same, where there is a connection already."""
        row = await connection.fetchrow(
            "SELECT time_zone, language FROM accounts WHERE id = $1", action.account_id
        )
        assert row is not None
        who = Who(
            account_id=action.account_id,
            time_zone=row["time_zone"],
            language=row["language"],
            person=action.person,
            role=action.role,
        )
        return cls(tool=tool, who=who, texts=texts_for(row["language"]))

    def success(self, action: Action, result: dict[str, JsonValue]) -> Success:
        """The texts of the tool. One that raises must not undo a proved effect: then a general
        text speaks."""
        try:
            said = self.tool.success(action.payload, result)
        except Exception:
            log.exception("the tool has no text for its success", extra={"action_id": action.id})
            said = [self.texts.done(summary=action.summary, action_id=action.id)]
        return Success(result=result, texts=said)

    def from_provider(self, action: Action, answer: GatewayResult | LookupResult) -> Success:
        """The same, from what the provider said at a send or at a look-up."""
        return self.from_data(action, {**answer.data, "provider_ref": answer.provider_ref})

    def from_data(self, action: Action, data: dict[str, Any]) -> Success:
        """The same, from what was kept of it."""
        return self.success(action, self._result(action, data))

    def _result(self, action: Action, data: dict[str, Any]) -> dict[str, JsonValue]:
        """What the tool keeps of the answer. One that cannot read it must not make a proved effect
        an unknown for ever: then all of the answer is kept."""
        try:
            return as_provider_tool(self.tool).result(action.payload, data)
        except Exception:
            log.exception("the tool cannot read the answer", extra={"action_id": action.id})
            return data

    def mirror(
        self, action: Action, connection: Connection
    ) -> Callable[[dict[str, JsonValue]], Awaitable[None]]:
        """Writes the tool's own rows in the transaction that records the effect."""

        async def write(result: dict[str, JsonValue]) -> None:
            context = DatabaseContext(transaction=connection, who=self.who, action_id=action.id)
            await as_provider_tool(self.tool).record(action.payload, result, context)

        return write


def as_provider_tool(tool: EffectTool[Any]) -> ProviderTool[Any]:
    """The tool as what its `effect` says it is. Raises TypeError: a bug of the registry."""
    if not isinstance(tool, ProviderTool):
        raise TypeError(f"tool {tool.name!r} is no provider tool")
    return tool


def as_database_tool(tool: EffectTool[Any]) -> DatabaseTool[Any]:
    """The tool as what its `effect` says it is. Raises TypeError: a bug of the registry."""
    if not isinstance(tool, DatabaseTool):
        raise TypeError(f"tool {tool.name!r} is no database tool")
    return tool
