"""The activities on one connection, in one transaction that is rolled back: fast, without a trace,
and every activity can be made to die at each door to the database.

The product's own transactions are savepoints here. What two connections do to each other is
examined in `tests/integration/store/machine_overlap.py`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from activities.deps import Deps, Gateways
from channels.whatsapp.outcome import SendOutcome, SendResult
from channels.whatsapp.sender import WhatsAppSender
from gateways.contract import Gateway
from store.connection import Connection, Pool
from tests.integration.history.far_claude import FarClaude
from tests.integration.history.tools_of_tests import MakeCharge, registry


class DiedError(BaseException):
    """The worker was killed; what was committed before stays. No handler may see it."""


class _Savepoints:
    """A connection whose transactions are savepoints of the example's."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def transaction(self, **_isolation: Any) -> Any:
        return cast(Any, self._connection).transaction()


class Doors:
    """What the activities take for the pool. `dies_at`: the n-th acquiring from now kills."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.dies_at: int | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        """The one connection, or death."""
        if self.dies_at is not None:
            self.dies_at -= 1
            if self.dies_at <= 0:
                self.dies_at = None
                raise DiedError
        async with self._lock:
            yield cast(Connection, _Savepoints(self.connection))


class _Telephone:
    """WhatsApp takes everything."""

    async def send(self, *, callback_data: str, **_message: Any) -> SendResult:
        return SendResult(outcome=SendOutcome.ACCEPTED, wamid=f"wamid.{callback_data}")


class _NoGateways:
    async def of(self, _connection: Connection, _account: str) -> Gateway:
        return cast(Gateway, object())


def deps_on(doors: Doors, claude: FarClaude, charge: MakeCharge, model: str) -> Deps:
    """Everything that an activity works with."""
    return Deps(
        pool=cast(Pool, doors),
        registry=registry(charge),
        claude=claude.client(model),
        whatsapp=cast(WhatsAppSender, _Telephone()),
        gateways=cast(Gateways, _NoGateways()),
    )
