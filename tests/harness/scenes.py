"""What acceptance tests do again and again, in the words of a chat."""

from typing import Any

from simulators.whatsapp.models import ChatMessage
from tests.harness.stack import Stack

PIX = "gera um Pix de 150 reais pro João Silva"


async def propose(stack: Stack, text: str = PIX, *, person: str = "maria") -> dict[str, Any]:
    """A person asks for something that needs a decision; the action's row once he has the
    prompt."""
    before = len(await prompts(stack, person))
    await stack.whatsapp.send_text(person, text)
    await stack.whatsapp.wait_messages(
        person, type="interactive", count=before + 1, timeout_seconds=20
    )
    return await stack.latest_action()


async def prompts(stack: Stack, person: str) -> list[ChatMessage]:
    """The prompts that the person got, in order."""
    chat = await stack.whatsapp.messages(person, author="business")
    return [message for message in chat if message.type == "interactive"]


async def heard(stack: Stack, person: str = "maria") -> list[str]:
    """The plain texts that the person got, in order."""
    chat = await stack.whatsapp.messages(person, author="business")
    return [message.text for message in chat if message.type == "text"]


async def ask(stack: Stack, text: str, *, person: str = "maria") -> str:
    """A person writes, and the next plain text that he gets."""
    chat = await stack.whatsapp.messages(person)
    last = max((message.seq for message in chat), default=0)
    await stack.whatsapp.send_text(person, text)
    answer = await stack.whatsapp.wait_message(
        person, type="text", after_seq=last, timeout_seconds=20
    )
    return answer.text


async def model_calls(stack: Stack) -> int:
    """How often the model was called, counted by the model."""
    return await stack.claude.calls()
