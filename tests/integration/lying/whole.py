"""Liars before the whole system: many conversations at once, each with a plan of its own. The
model's stand-in says what the plan says, the persons press what they were shown or were not.

The same plans are played in one event loop and through real processes.
"""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from simulators.claude.client import ClaudeSimulatorClient
from simulators.payments.client import PaymentsSimulatorClient
from simulators.whatsapp.client import WhatsAppSimulatorClient
from simulators.whatsapp.models import ChatMessage
from store.connection import Pool
from tests.integration.lying.plans import KINDS, Ask, Liar
from tests.integration.lying.records import Answered, Changed, FarSide, Trip

OVER_WITHIN_S = 40.0
LATE_S = 700.0
"""Beyond every deadline, ten minutes, and the grace."""

ONCE_MORE = 12
"""The last answer of a plan comes as often as it is asked for."""


class Sides(Protocol):
    """A running system: its rows, and its far sides."""

    pool: Pool
    whatsapp: WhatsAppSimulatorClient
    claude: ClaudeSimulatorClient
    payments: PaymentsSimulatorClient


@dataclass
class Crowd:
    """All of them. `counted` is for the report."""

    sides: Sides
    liars: list[Liar]
    counted: Counter[str] = field(default_factory=Counter)
    late_at: float = 0.0
    """When the clocks were moved beyond every deadline (epoch seconds)."""

    def said(self, far: FarSide) -> str:
        """The counters as one line."""
        kinds = {kind for liar in self.liars for ask in liar.asks for kind in ask.lies}
        acted = sum(one.acted for _, one in far.of(Trip))
        counts = {
            "conversations": len(self.liars),
            "kinds of answers": len(kinds),
            "answers": sum(1 for _ in far.of(Answered)),
            **self.counted,
            "effects at the provider": acted,
            "effects in the books": sum(1 for _ in far.of(Changed)),
        }
        return ", ".join(f"{name} {count}" for name, count in counts.items())

    async def play(self) -> None:
        """Everybody at once; then, when every deadline is over, once more what was not decided."""
        await asyncio.gather(*(self._play(one) for one in self.liars))
        await self._over("executing")
        self.late_at = time.time()
        await self.sides.pool.execute("UPDATE fake.skew SET seconds = seconds + $1", LATE_S)
        await asyncio.gather(*(self._press_all(one) for one in self.liars))
        await self._over("executing", "pending")

    async def _play(self, liar: Liar) -> None:
        for ask in liar.asks:
            prompt = await self._ask(liar, ask)
            await self._decide(liar, ask, prompt)

    async def _ask(self, liar: Liar, ask: Ask) -> ChatMessage | None:
        """The newest prompt after the turn is over; None if there is none that is new."""
        await self._learn(liar)
        for n, kind in enumerate(ask.lies):
            last = n == len(ask.lies) - 1
            await self._script(kind, liar, ask.token, times=ONCE_MORE if last else 1)
        self.counted["messages of people"] += 1
        await self.sides.whatsapp.send_text(liar.name, f"{ask.token} faz para mim")
        await self._turn_over(liar)
        await self.sides.claude.clear_faults(contains=ask.token)
        prompts = await self._prompts(liar)
        new = [one for one in prompts if _action(one) not in liar.known.actions]
        self.counted["prompts shown"] += len(new)
        return new[-1] if new else None

    async def _learn(self, liar: Liar) -> None:
        """What the liar may name of its own."""
        known = liar.known
        known.actions = [_action(one) for one in await self._prompts(liar)]
        charges = await self.sides.pool.fetch("SELECT id FROM charges ORDER BY id")
        bookings = await self.sides.pool.fetch(
            "SELECT id FROM bookings WHERE action_id = ANY($1) ORDER BY id", known.actions
        )
        known.charges = [row["id"] for row in charges]
        known.bookings = [row["id"] for row in bookings]

    async def _script(self, kind: str, liar: Liar, token: str, *, times: int) -> None:
        stop, content = KINDS[kind](liar.known)
        if stop is None:  # a failed call: for ever it would be tried again for three minutes
            await self.sides.claude.fault("no_stop_reason", content=content, contains=token)
            return
        await self.sides.claude.script(content, stop_reason=stop, contains=token, times=times)

    async def _turn_over(self, liar: Liar) -> None:
        """Until nothing of his waits. A conversation that hangs is a finding."""
        for _ in range(int(OVER_WITHIN_S / 0.1)):
            waiting = await self.sides.pool.fetchval(
                "SELECT (SELECT count(*) FROM inbox WHERE user_id = $1 AND done_at IS NULL)"
                " + (SELECT count(*) FROM turns t JOIN conversations c ON c.id = t.conversation_id"
                "    WHERE c.user_id = $1 AND t.closed_at IS NULL)"
                " + (SELECT count(*) FROM outbox o JOIN conversations c ON"
                "    c.id = o.conversation_id WHERE c.user_id = $1 AND o.done_at IS NULL)",
                liar.user_id,
            )
            if waiting == 0:
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"a turn of {liar.name!r} hangs: {[one.lies for one in liar.asks]!r}")

    async def _prompts(self, liar: Liar) -> list[ChatMessage]:
        chat = await self.sides.whatsapp.messages(liar.name, author="business")
        return [one for one in chat if one.type == "interactive"]

    # -- what is pressed

    async def _decide(self, liar: Liar, ask: Ask, prompt: ChatMessage | None) -> None:
        if prompt is None:
            return
        confirm = f"pa:confirm:{_action(prompt)}"
        match ask.then:
            case "right":
                await self._press(liar.name, confirm, prompt)
            case "twice":
                await self._press(liar.name, confirm, prompt, times=3)
            case "wrong":
                await self._press(self._other(liar), confirm, None)
            case "cross":  # the right person, under another message than its own
                older = [one for one in await self._prompts(liar) if one.wamid != prompt.wamid]
                await self._press(liar.name, confirm, older[0] if older else None)
            case "cancel":
                await self._press(liar.name, confirm.replace("confirm", "cancel"), prompt)
                await self._press(liar.name, confirm, prompt)
            case "made up":
                await self._press(liar.name, f"pa:confirm:{'0' * 32}", None)
                await self._press(liar.name, "confirm", None)
            case "yes":
                await asyncio.sleep(1.1)  # the channel's clock has whole seconds
                await self.sides.whatsapp.send_text(liar.name, "sim")
                await self._turn_over(liar)
            case _:
                return

    def _other(self, liar: Liar) -> str:
        place = self.liars.index(liar)
        return self.liars[(place + 1) % len(self.liars)].name

    async def _press(
        self, who: str, button: str, prompt: ChatMessage | None, *, times: int = 1
    ) -> None:
        self.counted["presses"] += times
        await self.sides.whatsapp.press(
            who,
            button_id=button,
            prompt=prompt.wamid if prompt else None,
            with_context=prompt is not None,
            times=times,
            concurrent=times > 1,
        )

    async def _press_all(self, liar: Liar) -> None:
        for prompt in await self._prompts(liar):
            await self._press(liar.name, f"pa:confirm:{_action(prompt)}", prompt)

    async def _over(self, *statuses: str) -> None:
        """Until every decision is answered, and no action has one of these statuses."""
        for _ in range(int(OVER_WITHIN_S / 0.1)):
            waiting = await self.sides.pool.fetchval(
                "SELECT (SELECT count(*) FROM decisions WHERE answered_at IS NULL)"
                " + (SELECT count(*) FROM actions WHERE status = ANY($1))",
                statuses,
            )
            if waiting == 0:
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"{waiting} decisions and actions are left")


def _action(prompt: ChatMessage) -> str:
    return prompt.buttons[0].id.rpartition(":")[2]
