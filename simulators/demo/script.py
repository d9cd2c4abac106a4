"""What happens in the demo, and what must come of it.

Everything is judged from outside: what the phones show, what the provider did, how often the model
was asked. The product's own tables are not looked at.
"""

import asyncio
from dataclasses import dataclass

from simulators.demo.faces import FarSide, until
from simulators.whatsapp.models import ChatMessage

ANSWER_S = 20.0  # a burst's two seconds, the model's stand-in, and a slow machine
NOTHING_S = 2.0  # how long nothing must happen after a press that may do nothing
ANSWER_DELAY_S = 15.0  # how long the provider's answer is on its way; the worker dies meanwhile
SETTLED_WITHIN_S = 60.0  # from the kill to the feedback; some seven seconds are usual
OWNER, OTHER = "maria", "carlos"


class DemoFailedError(Exception):
    """Something did not happen as promised; the message says what was seen instead."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What the simulators counted."""

    proposals: int
    presses: int
    deliveries: int
    charges: int
    duplicates: int
    model_calls_between_click_and_feedback: int

    def line(self) -> str:
        """The demo's last line."""
        words = " ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"demo: {words}"


EXPECTED = Counts(
    proposals=1,
    presses=3,
    deliveries=4,
    charges=1,
    duplicates=0,
    model_calls_between_click_and_feedback=0,
)


async def play(far: FarSide) -> int:
    """Play it, and return the model calls between click and feedback. Raises DemoFailedError."""
    prompt = await _ask(far)
    await _foreign_press(far, prompt)
    calls, feedback = await _own_presses(far, prompt)
    await _afterwards(far, feedback)
    return calls


async def _ask(far: FarSide) -> ChatMessage:
    await far.tell("Maria, the owner, asks for something that moves money.")
    await far.whatsapp.send_text(OWNER, "gera um Pix de 150 reais pro João")
    question = await _next(far, after=0)
    _must("João Silva" in question.text and "João Souza" in question.text, "which João?", question)
    _must(not question.buttons, "a question without buttons", question)
    await far.whatsapp.send_text(OWNER, "o João Silva")
    prompt = await far.whatsapp.wait_prompt(OWNER, timeout_seconds=ANSWER_S)
    for part in ("João Silva", "R$ 150,00"):
        _must(part in prompt.text, f"a summary with {part!r}", prompt)
    return prompt


async def _foreign_press(far: FarSide, prompt: ChatMessage) -> None:
    await far.tell("Carlos, another number, presses Confirm on Maria's prompt: nothing may happen.")
    confirm = prompt.buttons[0].id
    await far.whatsapp.press(OTHER, button_id=confirm, prompt=prompt.wamid)
    await asyncio.sleep(NOTHING_S)
    said = [*await _business(far, OTHER), *await _business(far, OWNER, after=prompt.seq)]
    _must(not said, "silence after another's press", *said)
    _must(await _charges(far) == 0, "no charge after another's press")


async def _own_presses(far: FarSide, prompt: ChatMessage) -> tuple[int, ChatMessage]:
    await far.tell(
        "Maria presses Confirm twice, and the first of these webhooks is delivered again."
    )
    before = await far.claude.calls()
    await far.payments.add_fault("act_delay", seconds=ANSWER_DELAY_S)
    pressed = await far.whatsapp.press(OWNER, "confirm", prompt=prompt.wamid, times=2)
    answers = await far.whatsapp.redeliver(wamid=pressed.wamid)
    _must([*pressed.status_codes, *answers] == [200, 200, 200], "every webhook answered with 200")
    await _die_after_the_act(far)
    feedback = await _next(far, after=pressed.messages[-1].seq, seconds=SETTLED_WITHIN_S)
    calls = await far.claude.calls() - before
    _must("R$ 150,00" in feedback.text, "feedback with the amount", feedback)
    code = await far.whatsapp.wait_message(
        OWNER, contains="br.gov.bcb.pix", timeout_seconds=ANSWER_S
    )
    _must(code.text.startswith("000201"), "the Pix code as a message of its own", code)
    await asyncio.sleep(NOTHING_S)
    codes = [m for m in await _business(far, OWNER) if "br.gov.bcb.pix" in m.text]
    _must(len(codes) == 1, "one Pix code, not more", *codes)
    return calls, feedback


async def _die_after_the_act(far: FarSide) -> None:
    """The provider has made the charge, its answer is still on the way: now the worker dies."""
    async with asyncio.timeout(ANSWER_S):
        await until(_charged, far)
    await far.tell("The provider has charged; before its answer is here, the worker is killed.")
    async with asyncio.timeout(SETTLED_WITHIN_S):
        await far.kill_the_worker()
    await far.tell("The worker is back. It looks the charge up by its key and sends nothing again.")


async def _afterwards(far: FarSide, feedback: ChatMessage) -> None:
    await far.tell("Maria asks again: the agent must know that it is done, and do nothing.")
    asked = await far.whatsapp.send_text(OWNER, "e o Pix?")
    answer = await _next(far, after=max(feedback.seq, asked.messages[0].seq))
    text = answer.text.casefold()
    _must("150,00" in text and "joão silva" in text, "an answer about that Pix", answer)
    _must(any(word in text for word in _DONE), "an answer that it is done", answer)
    _must(not answer.buttons, "no further prompt", answer)
    await asyncio.sleep(NOTHING_S)
    await far.whatsapp.drain()


_DONE = ("executad", "gerad", "feit", "conclu")


async def count(far: FarSide, *, model_calls: int) -> Counts:
    """What the simulators counted until now."""
    people, money = await far.whatsapp.counters(), await far.payments.counters()
    return Counts(
        proposals=sum(people.prompts_by_person.values()),
        presses=people.presses,
        deliveries=people.click_deliveries,
        charges=int(money["effects_total"]),
        duplicates=int(money["duplicates"]) + int(money["business_duplicates"]),
        model_calls_between_click_and_feedback=model_calls,
    )


async def _next(far: FarSide, *, after: int, seconds: float = ANSWER_S) -> ChatMessage:
    """The first message to the owner after this number."""
    found = await far.whatsapp.wait_messages(OWNER, after_seq=after, timeout_seconds=seconds)
    return found[0]


async def _business(far: FarSide, person: str, *, after: int = 0) -> list[ChatMessage]:
    found = await far.whatsapp.messages(person, author="business")
    return [message for message in found if message.seq > after]


async def _charged(far: FarSide) -> bool:
    return await _charges(far) > 0


async def _charges(far: FarSide) -> int:
    return int((await far.payments.counters())["effects_total"])


def _must(held: bool, what: str, *seen: ChatMessage) -> None:
    if not held:
        texts = "; ".join(repr(message.text) for message in seen) or "otherwise"
        raise DemoFailedError(f"expected {what}, saw {texts}")
