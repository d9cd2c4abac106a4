"""The tool contract (design §4): what a tool must say of itself before the model may ask for it.

A tool is a subclass of `ReadTool` or of `EffectTool`. The split between *prepare* and *execute* is
the centre: *prepare* resolves the model's raw arguments on the server, freezes them as payload and
writes the summary; *execute* receives only that payload. No method here decides anything.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from domain.canonical import JsonValue
from domain.outcomes import GatewayResult, LookupResult, ProviderRequest
from domain.pausing import PAUSE
from domain.people import Role, Who
from gateways.contract import Gateway
from store.connection import Connection

Payload = dict[str, JsonValue]
InputT = TypeVar("InputT", bound=BaseModel)

MEMBERS = frozenset({Role.OWNER, Role.STAFF})
EVERYONE = frozenset({Role.OWNER, Role.STAFF, Role.PUBLIC})


class Risk(StrEnum):
    """How much a tool can harm; chooses the treatment. No risk, no registration."""

    READ = "read"
    REVERSIBLE = "reversible"
    CRITICAL = "critical"


class Confirm(StrEnum):
    """How a person decides. `direct` is for reversible tools of deployments that chose it."""

    BUTTON = "button"
    BUTTON_OR_YES = "button_or_yes"
    DIRECT = "direct"


class Effect(StrEnum):
    """Where the effect happens. In our own PostgreSQL it runs in the transaction that records it,
    so that there is no fence and no unknown."""

    DATABASE = "database"
    PROVIDER = "provider"


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What *prepare* froze.

    `payload`: JSON without floats; holds everything that the summary prints, amounts in cents.
    `summary`: the lines to the person, without deadline and question (the system adds them).
    `business_key`: normalised parts (who + what + when) for what makes sense once, else None.
    `compensates`: the executed action that this one undoes, else None.
    `expires_in`: how long the person may decide; at most 60 minutes.
    `render`: makes the provider request from the account's gateway and the action id; called once,
    when proposed, and sent later byte for byte. None for an effect in our own PostgreSQL.
    """

    payload: Payload
    summary: str
    business_key: tuple[JsonValue, ...] | None = None
    compensates: str | None = None
    expires_in: timedelta = timedelta(minutes=10)
    render: Callable[[Gateway, str], ProviderRequest] | None = None


@dataclass(frozen=True, kw_only=True)
class NoLongerPossible:
    """*revalidate* refuses: the reason is said to the person, in his language, one line."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class DatabaseContext:
    """What *execute* of a database tool gets: the transaction that also records the outcome.
    `pause`: for how long a human who takes over has the conversation."""

    transaction: Connection
    who: Who
    action_id: str
    pause: timedelta = PAUSE


@dataclass(frozen=True, kw_only=True)
class ProviderContext:
    """What *execute* and *settle* of a provider tool get: the only gateway able to create."""

    gateway: Gateway
    request: ProviderRequest
    before_wire: Callable[[], None] = field(default=lambda: None)


class Tool(ABC, Generic[InputT]):
    """What every tool says of itself. `description` is for the model: three or more sentences."""

    name: ClassVar[str]
    description: ClassVar[str]
    risk: ClassVar[Risk]
    version: ClassVar[int] = 1
    roles: ClassVar[frozenset[Role]] = MEMBERS
    input_model: type[InputT]


class ReadTool(Tool[InputT]):
    """Answers at once and changes nothing. Reads write nothing, not even a log of themselves."""

    risk = Risk.READ

    @abstractmethod
    async def look_up(self, data: InputT, who: Who, db: Connection) -> Payload:
        """The answer for the model. `db` is in a read-only transaction. Raises ToolInputError."""


class EffectTool(Tool[InputT]):
    """Changes something: proposed first, decided by a person, executed by code."""

    confirm: ClassVar[Confirm] = Confirm.BUTTON
    moves_money: ClassVar[bool] = False
    repeat_safe: ClassVar[bool] = False
    effect: ClassVar[Effect]
    timeout: ClassVar[timedelta] = timedelta(seconds=20)

    @abstractmethod
    async def prepare(self, data: InputT, who: Who, db: Connection) -> Prepared:
        """Resolve and freeze. `db` is in a read-only transaction. Raises ToolInputError."""

    @abstractmethod
    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Look at the world again, just before executing; also that no printed value changed."""

    @abstractmethod
    def success(self, payload: Payload, result: Payload) -> list[str]:
        """The texts to the person after the effect, one message each, from payload and result."""

    def already_done(self, payload: Payload, result: Payload) -> Payload:
        """The data for the model when an equal effect exists already."""
        return {**payload, **result}


class NoLongerPossibleError(Exception):
    """*execute* of a database tool lost a race that *revalidate* could not see: another row was
    there first. The core rolls back and closes the action as failed with `reason`, one line in the
    person's language. Nothing was done."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class DatabaseTool(EffectTool[InputT]):
    """An effect in our own PostgreSQL."""

    effect = Effect.DATABASE

    @abstractmethod
    async def execute(self, payload: Payload, key: str, context: DatabaseContext) -> Payload:
        """Do it inside `context.transaction` and return the result. Raising rolls all back;
        NoLongerPossibleError says that the world moved, anything else is a fault."""


class ProviderTool(EffectTool[InputT]):
    """An effect at a provider: one send, one outcome class, and a look-up by key."""

    effect = Effect.PROVIDER

    async def execute(self, payload: Payload, key: str, context: ProviderContext) -> GatewayResult:
        """Send the frozen request once under the key. Must not retry or make a key."""
        return await context.gateway.send(key, context.request, before_wire=context.before_wire)

    async def settle(self, payload: Payload, key: str, context: ProviderContext) -> LookupResult:
        """Look the key up, read-only. A tool without a look-up leaves an unknown outcome stuck."""
        return await context.gateway.lookup(key, context.request)

    def result(self, payload: Payload, data: dict[str, Any]) -> Payload:
        """What of the provider's answer is kept as the action's result. Default: all of it.

        `data` is the gateway's `data`, with its `provider_ref` under that name.
        """
        return dict(data)

    async def record(self, payload: Payload, result: Payload, context: DatabaseContext) -> None:
        """Mirror a proved effect in our own tables, in the transaction that records it.

        The effect happened: this must not fail for anything that the world may hold.
        """
