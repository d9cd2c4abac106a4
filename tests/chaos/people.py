"""The persons of a run: what they write, what they press, and what their far sides do to it."""

import asyncio
import json
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import asyncpg
import httpx

from simulators.whatsapp.models import ChatMessage, StatusStep
from store.demo import TIME_ZONE
from tests.chaos.bounds import TooLongError, within
from tests.chaos.points import How, Point
from tests.chaos.schedule import Clicks, RunPlan, Wish
from tests.chaos.world import NUMBER, World

PROMPT_WITHIN_S = 60.0
EXECUTED_WITHIN_S = 40.0
LEAVES_AFTER_S = 62.0
"""Who has not got so far by then does nothing more; the judge holds what he did against the rows.
A stalled worker swallows a task until the task's timeout, so that a prompt may come later."""
IGNORED_KEYS = 50
"""Where the provider forgets every key (schedule.py: KEEPS_KEY), each further send would be a
further effect."""


@dataclass
class Run:
    """One run under way. `persons`: those who wish; the stranger is not among them."""

    world: World
    plan: RunPlan
    persons: tuple[str, ...] = ()
    stranger: str = ""
    failed: str = ""

    async def enter(self) -> None:
        """Make the persons known to the account and to WhatsApp."""
        number = self.plan.number
        both = self.plan.wish in {Wish.REFUND_TWICE, Wish.BOOK_TWICE}
        self.persons = tuple(f"p{number}{letter}" for letter in ("ab" if both else "a"))
        self.stranger = f"p{number}x"
        for n, name in enumerate((*self.persons, self.stranger)):
            await self.world.add_person(name, number=number * 10 + n)

    async def play(self) -> None:
        """All that the persons do. What does not come in time is left to the judge."""
        await asyncio.sleep(self.plan.start_s)
        await self._plan_far_sides()
        try:
            async with asyncio.timeout(LEAVES_AFTER_S):
                await self._wish()
        except (TimeoutError, httpx.TimeoutException) as error:
            self.failed = f"{type(error).__name__} {error}"[:200]

    async def _wish(self) -> None:
        if self.plan.wish is Wish.REFUND_TWICE:
            await self._refund_twice()
            return
        text = _wish(self.plan)
        prompts = await asyncio.gather(*(self._ask(name, text) for name in self.persons))
        await asyncio.gather(
            *(self._decide(name, one) for name, one in zip(self.persons, prompts, strict=True))
        )

    async def _refund_twice(self) -> None:
        """A charge of the first person's is paid; then both refund half of it at once."""
        first = self.persons[0]
        prompt = await self._ask(first, _wish(self.plan))
        await self._decide(first, prompt)
        charge = await self._charge_of(action_of(prompt))
        if charge is None:
            return
        await self.world.payments.pay(charge)
        cents = _cents(self.plan) // 2
        text = _tool("refund_charge", charge=charge, amount_cents=cents)
        prompts = await asyncio.gather(*(self._ask(name, text) for name in self.persons))
        for nth in (1, 2):  # both look for an equal effect before either has written
            self.world.orders.give(Point.CHECKED, How.SLOW, nth=nth)
        await asyncio.gather(
            *(
                self._press(name, "confirm", one)
                for name, one in zip(self.persons, prompts, strict=True)
            )
        )

    async def _charge_of(self, action_id: str) -> str | None:
        """The provider's id of the charge, once our books have it."""
        until = time.monotonic() + EXECUTED_WITHIN_S
        while time.monotonic() < until:
            for effect in await self.world.payments.effects():
                if effect["key"] == action_id and await self._in_books(effect["ref"]):
                    return str(effect["ref"])
            await asyncio.sleep(0.5)
        return None

    async def _in_books(self, ref: str) -> bool:
        try:
            async with within(20, "asking for a charge"):
                found = await self.world.pool.fetchval(
                    "SELECT 1 FROM charges WHERE provider_ref = $1", ref
                )
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TooLongError):
            return False  # PostgreSQL may be restarting; it is asked again
        return found is not None

    async def _ask(self, person: str, text: str) -> ChatMessage:
        """Write, and the next prompt. Raises TimeoutError if there is none, also because the turn
        was answered otherwise (a template, an equal effect under way)."""
        chat = await self.world.whatsapp.messages(person)
        last = max((message.seq for message in chat), default=0)
        await self.world.whatsapp.send_text(person, text, wait=False)
        until = time.monotonic() + PROMPT_WITHIN_S
        while True:
            said = await self.world.whatsapp.wait_message(
                person, after_seq=last, timeout_seconds=max(0.0, until - time.monotonic())
            )
            if said.type == "interactive":
                await self._plan_provider(action_of(said))
                return said
            if (said.callback_data or "").startswith("turn:"):
                raise TimeoutError(f"no prompt, but {said.text[:60]!r}")
            last = said.seq

    async def _decide(self, person: str, prompt: ChatMessage) -> None:
        await asyncio.sleep(self.plan.think_s)
        match self.plan.clicks:
            case Clicks.CONFIRM:
                await self._press(person, "confirm", prompt)
            case Clicks.THRICE:
                await asyncio.gather(*(self._press(person, "confirm", prompt) for _ in range(3)))
            case Clicks.CANCEL:
                await self._press(person, "cancel", prompt)
            case Clicks.BOTH:
                await asyncio.gather(
                    self._press(person, "confirm", prompt), self._press(person, "cancel", prompt)
                )
            case Clicks.CHANGED_MIND:
                await self._press(person, "cancel", prompt)
                await self._press(person, "confirm", prompt)
            case Clicks.STRANGER | Clicks.STRANGER_FIRST:
                await self._press(self.stranger, "confirm", prompt)
                if self.plan.clicks is Clicks.STRANGER_FIRST:
                    await self._press(person, "confirm", prompt)
            case Clicks.NONE:
                return

    async def _press(self, person: str, which: str, prompt: ChatMessage) -> None:
        button = f"pa:{which}:{action_of(prompt)}"
        sent = await self.world.whatsapp.press(
            person, button_id=button, with_context=False, wait=False
        )
        if self.plan.redeliver:
            await self.world.whatsapp.redeliver(
                sent.wamid, times=self.plan.redeliver, concurrent=True
            )
        if self.plan.recut:
            await self._recut(person, sent.messages[0])

    async def _recut(self, person: str, click: ChatMessage) -> None:
        """The click again, doubled and beside a text, in one body as Meta may cut it anew."""
        text = {"from": click.payload.get("from"), "id": f"{click.wamid}T", "type": "reaction"}
        text |= {"timestamp": click.timestamp, "reaction": {"message_id": click.wamid}}
        value = {
            "messaging_product": "whatsapp",
            "metadata": {"display_phone_number": "551140000000", "phone_number_id": NUMBER},
            "contacts": [],
            "messages": [click.payload, text, click.payload],
        }
        body: dict[str, Any] = {
            "object": "whatsapp_business_account",
            "entry": [
                {"id": "200300400500600", "changes": [{"field": "messages", "value": value}]}
            ],
        }
        await self.world.whatsapp.post_raw_body(body)

    async def _plan_far_sides(self) -> None:
        plan, whatsapp = self.plan, self.world.whatsapp
        for name in self.persons:
            if plan.whatsapp is not None:
                await whatsapp.plan_fault(plan.whatsapp, type=plan.whatsapp_type, person=name)  # type: ignore[arg-type]  # a word of the schedule's list
            steps = _STATUSES.get(plan.statuses or "")
            if steps is not None:
                await whatsapp.plan_statuses(steps, times=3, person=name)
        if plan.claude is not None:
            await self.world.claude.fault(plan.claude, contains=f"{_cents(plan)}")

    async def _plan_provider(self, action_id: str) -> None:
        fault = self.plan.provider
        try:
            if fault is not None:
                await self.world.payments.add_fault(
                    fault.kind,
                    times=self.plan.faults,
                    key=action_id,
                    seconds=fault.seconds,
                    acted=fault.acted,
                )
            if not self.plan.keeps_key:
                await self.world.payments.add_fault("ignore_key", times=IGNORED_KEYS, key=action_id)
        except httpx.HTTPStatusError as error:
            raise RuntimeError(f"the simulator refuses {fault!r}: {error.response.text}") from error


_STATUSES = {
    "never": [],
    "late": [StatusStep(status="sent", delay_seconds=5), StatusStep(status="delivered")],
    "doubled": [StatusStep(status="delivered", times=2), StatusStep(status="sent", times=2)],
}


def action_of(prompt: ChatMessage) -> str:
    """The action whose buttons these are."""
    return prompt.buttons[0].id.rpartition(":")[2]


def _cents(plan: RunPlan) -> int:
    """An amount that no other run has, and even, so that half of it is whole."""
    return 10_000 + 2 * plan.number


def _wish(plan: RunPlan) -> str:
    cents = _cents(plan)
    match plan.wish:
        case Wish.TRANSFER:
            return _tool("transfer_balance", amount_cents=cents)
        case Wish.BOOKING | Wish.BOOK_TWICE:
            return _tool(
                "create_booking",
                professional="Bruno Reis",
                starts_at=_slot(plan.number),
                customer="Carlos Lima",
            )
        case _:
            return _tool("create_pix_charge", customer="João Silva", amount_cents=cents)


def _tool(name: str, **given: object) -> str:
    """A person who plays the model: the call is exact, everything behind it is the product's."""
    return f"/tool {name} {json.dumps(given, ensure_ascii=False)}"


def _slot(number: int) -> str:
    """A slot of the agenda that no other run has: 20 of half an hour a day, from next week on."""
    day = datetime.now(ZoneInfo(TIME_ZONE)).date() + timedelta(days=7 + number // 20)
    minutes = 10 * 60 + 30 * (number % 20)
    return f"{day.isoformat()}T{minutes // 60:02d}:{minutes % 60:02d}"
