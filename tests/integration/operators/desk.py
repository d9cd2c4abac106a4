"""What an operator does, without the command line around it."""

from dataclasses import dataclass
from typing import Any

from activities.reconcile import Looked, Reconcile
from domain.actions import Verdict
from domain.settling import Wish
from store.actions import Action
from store.operators import NotAllowedError, Operator
from tests.integration.store.kit import World

LAG_S = 61
LAST_SEND_S = 76  # an attempt is in flight for 75 s


@dataclass
class Desk:
    """Looks and settles in a world."""

    world: World

    @property
    def reconcile(self) -> Reconcile:
        """With the tools and gateways of the world as they are now."""
        deps = self.world.deps
        return Reconcile(registry=deps.registry, gateways=deps.gateways)

    async def look(self, action: str, *, operator: str = "Ana") -> Looked:
        """`--look`."""
        async with self.world.pool.acquire() as connection:
            return await self.reconcile.look(connection, action, operator=operator)

    async def say(
        self, action: str, verdict: Verdict, *, operator: str = "Ana", as_send: int | None = None
    ) -> Action:
        """`--executed`, `--failed` or `--resend`."""
        async with self.world.pool.acquire() as connection:
            return await self.reconcile.settle(
                connection,
                action,
                Wish(verdict=verdict, as_send=as_send),
                by=Operator(name=operator, evidence="seen in the panel"),
            )

    async def refused(self, action: str, verdict: Verdict, **how: Any) -> str:
        """The reason for which a word is refused; fails if it is not."""
        try:
            await self.say(action, verdict, **how)
        except NotAllowedError as error:
            return str(error)
        raise AssertionError(f"{verdict.value} was allowed")

    async def stuck(self, fault: str = "drop", **what: Any) -> str:
        """An action whose one send ended in doubt: the provider never acted, or as the fault
        says."""
        action = await self.world.executing(**what)
        await self.world.payments.add_fault(fault)
        await self.world.execute(action)
        assert await self.world.sends(action) == ["unknown"]
        return action

    async def absent(self, action: str) -> None:
        """Two looks that prove that nothing is there."""
        await self.world.move(seconds=LAG_S)
        for _ in range(2):
            assert (await self.look(action)).seen.presence == "absent"
            await self.world.move(seconds=LAG_S)
