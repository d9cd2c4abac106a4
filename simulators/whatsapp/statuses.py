"""Status webhooks of the business's messages: by default sent, then delivered, or as planned.

Statuses are deliveries like any other: they may come late, twice, in any order, before the
answer to the send, or never.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from simulators.whatsapp.chats import Chats
from simulators.whatsapp.config import Person, SimulatorConfig
from simulators.whatsapp.courier import Courier, Delivery
from simulators.whatsapp.envelopes import status_item
from simulators.whatsapp.models import ChatMessage, Item, StatusPlan, StatusStep
from simulators.whatsapp.plans import Matchable, Plans


class Statuses:
    """Sends the statuses of each accepted message; `emit` brings an item to the product."""

    def __init__(
        self,
        config: SimulatorConfig,
        chats: Chats,
        courier: Courier,
        *,
        emit: Callable[[Item], Delivery | None],
    ) -> None:
        self._config = config
        self._chats = chats
        self._courier = courier
        self._emit = emit
        self._tasks: set[asyncio.Task[None]] = set()
        self.plans: Plans[StatusPlan] = Plans()

    @property
    def to_come(self) -> int:
        """How many messages still have statuses to come."""
        return len(self._tasks)

    def planned(self, send: Matchable, person_id: str) -> list[StatusStep] | None:
        """Use up and return the plan for this send, or none if the default applies."""
        plan = self.plans.take(send, person_id)
        return None if plan is None else plan.steps

    def default_steps(self) -> list[StatusStep]:
        """Return what follows a send without a plan."""
        delay = self._config.status_delay_seconds
        return [
            StatusStep(status="sent", delay_seconds=delay),
            StatusStep(status="delivered", delay_seconds=delay),
        ]

    async def follow(self, message: ChatMessage, steps: Sequence[StatusStep]) -> None:
        """Send the steps planned before the response, then start the others."""
        await self._run(message, [s for s in steps if s.before_response])
        self._start(message, [s for s in steps if not s.before_response])

    def resume(self) -> None:
        """Send the default statuses that a stop of the process prevented."""
        for message in self._chats.all():
            if message.author == "business" and not message.planned:
                missing = {"accepted": 0, "sent": 1}.get(message.status)
                if missing is not None:
                    self._start(message, self.default_steps()[missing:])

    def viewed(self, person: Person) -> int:
        """Send `read` for what the person's page now shows; return how many.

        Messages under a plan keep to their plan.
        """
        if not self._config.read_receipts:
            return 0
        unread = [
            m
            for m in self._chats.of(person.id)
            if m.author == "business" and m.status == "delivered" and not m.planned
        ]
        for message in unread:
            self.send(message, StatusStep(status="read"))
        return len(unread)

    def send(
        self, message: ChatMessage, step: StatusStep, *, timestamp: int | None = None
    ) -> Delivery | None:
        """Send one status now, whatever came before; `timestamp` in Unix seconds."""
        self._chats.set_status(message, step.status)
        item = status_item(
            message,
            self._chats.person(message.person),
            status=step.status,
            timestamp=str(int(time.time()) if timestamp is None else timestamp),
            error_code=step.error_code,
        )
        return self._emit(item)

    async def stop(self) -> None:
        """Send no more statuses and forget all plans."""
        self.plans.clear()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks))

    def _start(self, message: ChatMessage, steps: Sequence[StatusStep]) -> None:
        if steps:
            self._spawn(self._run(message, steps))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, message: ChatMessage, steps: Sequence[StatusStep]) -> None:
        for step in steps:
            await asyncio.sleep(step.delay_seconds)
            for _ in range(step.times):
                delivery = self.send(message, step)
                if delivery is not None and not self._courier.is_held(delivery):
                    await delivery.tried.wait()  # the next status does not overtake by accident
