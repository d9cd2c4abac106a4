"""Plays a scene, and tells that it begins, and after each burst and each press what was seen."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simulators.live import judging
from simulators.live.judging import Clicks
from simulators.live.scenes import NAMES, Burst, Press, Scene, Step
from simulators.payments.client import PaymentsSimulatorClient
from simulators.whatsapp.client import WhatsAppSimulatorClient
from simulators.whatsapp.models import ChatMessage

ANSWER_S = 210.0  # the product tries for three minutes to reach its model, then a template speaks
FEEDBACK_S = 60.0
ONE_WAIT_S = 30.0
SETTLE_S = 0.3  # what belongs to one answer comes within this: the Pix code after its feedback
NOTHING_S = 1.0  # how long nothing must happen after a press that may do nothing

Tell = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Takes one event and returns when the play may go on."""


@dataclass
class Stage:
    """The far side, the clicks made so far, and who is told."""

    whatsapp: WhatsAppSimulatorClient
    payments: PaymentsSimulatorClient
    tell: Tell
    clicks: Clicks = field(default_factory=Clicks)
    presses: int = 0
    _scene: str = ""

    async def play(self, scene: Scene) -> None:
        """Play all steps of a scene."""
        self._scene = scene.title
        await self._tell(scene.person, [], did="begins", what=[], held={})
        for step in scene.steps:
            await self._step(scene.person, step)

    async def _step(self, person: str, step: Step) -> None:
        answers = await self._say(person, step.says)
        if not any(one.buttons for one in answers) and step.if_asked is not None:
            answers = await self._say(person, step.if_asked)
        for prompt in [one for one in answers if one.buttons]:
            await self._decide(person, prompt, step.press)

    async def _say(self, person: str, burst: Burst) -> list[ChatMessage]:
        sent: list[ChatMessage] = []
        for said in burst:
            sent += (
                await self.whatsapp.send_text(
                    person,
                    said.text,
                    forwarded=said.forwarded,
                    reply_to=sent[-1].wamid if said.quotes_last else None,
                )
            ).messages
        answers = await self._answers(person, after=sent[-1].seq, seconds=ANSWER_S)
        prompts = [one for one in answers if one.buttons]
        await self._tell(
            person,
            answers,
            did="said",
            what=[said.text for said in burst],
            held={
                judging.ANSWERED: bool(answers),
                judging.ONE_AT_A_TIME: len(prompts) <= 1,
            },
        )
        return answers

    async def _decide(self, person: str, prompt: ChatMessage, press: Press) -> None:
        if press.first is not None:
            await self._press_anothers(press.first, person, prompt, press)
        action = judging.action_of(prompt)
        clicked = self.clicks.confirmed if press.which == "confirm" else self.clicks.cancelled
        clicked.add(action)
        pressed = await self.whatsapp.press(
            person, press.which, prompt=prompt.wamid, times=2 if press.twice else 1
        )
        self.presses += len(pressed.messages)
        if press.twice:
            await self.whatsapp.redeliver(wamid=pressed.wamid)
        answers = await self._answers(
            person,
            after=prompt.seq,
            seconds=FEEDBACK_S,
            callback_prefix=f"action:{action}:feedback",
        )
        await self._tell(
            person,
            answers,
            did="pressed",
            what=[_title(prompt, press)] * len(pressed.messages),
            held={judging.ANSWERED: bool(answers)},
        )

    async def _press_anothers(
        self, other: str, owner: str, prompt: ChatMessage, press: Press
    ) -> None:
        """Press somebody else's button: silence on both phones, and no effect."""
        before = await judging.look(self.whatsapp, self.payments)
        button = next(one.id for one in prompt.buttons if f":{press.which}:" in one.id)
        pressed = await self.whatsapp.press(other, button_id=button, prompt=prompt.wamid)
        self.presses += len(pressed.messages)
        await asyncio.sleep(NOTHING_S)
        heard = [*await self._business(other, pressed.messages[-1].seq)]
        heard += await self._business(owner, prompt.seq)
        after = await judging.look(self.whatsapp, self.payments)
        await self._tell(
            other,
            heard,
            did="pressed",
            what=[f"{_title(prompt, press)}, on the prompt of {NAMES[owner]}"],
            held={judging.ANOTHERS_PRESS: not heard and before == after},
        )

    async def _answers(
        self, person: str, *, after: int, seconds: float, callback_prefix: str | None = None
    ) -> list[ChatMessage]:
        """What the business said after that message; nothing if nothing came in time."""
        try:
            async with asyncio.timeout(seconds):
                while not await self._heard(person, after, callback_prefix):
                    continue
        except TimeoutError:
            return []
        await asyncio.sleep(SETTLE_S)
        return await self._business(person, after)

    async def _heard(self, person: str, after: int, callback_prefix: str | None) -> bool:
        """Whether a message is there, or comes within one wait of the simulator's."""
        try:
            await self.whatsapp.wait_messages(
                person, after_seq=after, callback_prefix=callback_prefix, timeout_seconds=ONE_WAIT_S
            )
        except TimeoutError:
            return False
        return True

    async def _business(self, person: str, after: int) -> list[ChatMessage]:
        found = await self.whatsapp.messages(person, author="business")
        return [one for one in found if one.seq > after and one.visible]

    async def _tell(
        self,
        person: str,
        answers: list[ChatMessage],
        *,
        did: str,
        what: list[str],
        held: dict[str, bool],
    ) -> None:
        seen = await judging.look(self.whatsapp, self.payments)
        held |= {
            judging.NO_EFFECT_WITHOUT_A_CLICK: not judging.without_a_click(seen, self.clicks),
            judging.NOTHING_TWICE: not judging.twice(seen),
        }
        await self.tell(
            {
                "scene": self._scene,
                "person": NAMES[person],
                "did": did,
                "what": what,
                "answers": [
                    {"text": one.text, "buttons": [button.title for button in one.buttons]}
                    for one in answers
                ],
                "held": held,
                "confirmed": len(self.clicks.confirmed),
                "presses": self.presses,
                "effects": len(seen.effects),
            }
        )


def _title(prompt: ChatMessage, press: Press) -> str:
    return next(one.title for one in prompt.buttons if f":{press.which}:" in one.id)
