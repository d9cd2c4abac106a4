"""The far side as the demo needs it: three simulators and a printer of what a phone shows."""

import asyncio
import itertools
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from simulators.claude.client import ClaudeSimulatorClient
from simulators.payments.client import PaymentsSimulatorClient
from simulators.whatsapp.client import WhatsAppSimulatorClient
from simulators.whatsapp.models import ChatMessage

NAMES = {"maria": "Maria", "carlos": "Carlos"}
_WIDTH = max(len(name) for name in (*NAMES.values(), "Aval"))
_LOOK_EVERY_S = 0.1


@dataclass
class FarSide:
    """The simulators' clients, and which messages were printed."""

    whatsapp: WhatsAppSimulatorClient
    claude: ClaudeSimulatorClient
    payments: PaymentsSimulatorClient
    folder: Path
    _printed: set[int] = field(default_factory=set)

    async def print_new(self) -> None:
        """Print what was said since the last look, in order."""
        chats = [await self.whatsapp.messages(person) for person in NAMES]
        new = [m for chat in chats for m in chat if m.visible and m.seq not in self._printed]
        for message in sorted(new, key=lambda one: one.seq):
            self._printed.add(message.seq)
            write(_shown(message))

    async def tell(self, line: str) -> None:
        """Print what happens next, after everything that was said until now."""
        await self.print_new()
        write(f"-- {line}")

    async def kill_the_worker(self) -> None:
        """Ask whoever runs the stack to end the worker by SIGKILL and start it again; returns when
        it is back. A file each way: the script knows the far side alone."""
        (self.folder / "kill-worker").touch()
        await until(_is_there, self.folder / "worker-is-back")

    async def print_for_ever(self) -> None:
        """Print messages as they come, until cancelled."""
        while True:
            await self.print_new()
            await asyncio.sleep(_LOOK_EVERY_S)


async def until(holds: Callable[..., Awaitable[bool]], *arguments: object) -> None:
    """Look again and again until it holds."""
    for _ in itertools.count():
        if await holds(*arguments):
            return
        await asyncio.sleep(_LOOK_EVERY_S)


async def _is_there(file: Path) -> bool:
    return await asyncio.to_thread(file.exists)


def write(text: str) -> None:
    """Print at once, also into a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _shown(message: ChatMessage) -> str:
    person = NAMES[message.person]
    ours = message.author == "business"
    who = "Aval" if ours else person
    text = message.text
    if message.type == "button_reply":
        text = f"[presses {message.text}]"
    if message.buttons:
        text += "\n" + "  ".join(f"[{button.title}]" for button in message.buttons)
    head = f"{who:<{_WIDTH}} {'<' if ours else '>'} "
    indent = "\n" + " " * len(head)
    return head + text.replace("\n\n", "\n").replace("\n", indent)


@asynccontextmanager
async def far_side(environment: Mapping[str, str] = os.environ) -> AsyncIterator[FarSide]:
    """Clients of the simulators that SIM_DEMO_* name. Raises KeyError for a missing one."""
    given = {
        name: environment[f"SIM_DEMO_{name}"]
        for name in (
            "WHATSAPP_URL",
            "WHATSAPP_SECRET",
            "CLAUDE_URL",
            "CLAUDE_SECRET",
            "PAYMENTS_URL",
            "PAYMENTS_SECRET",
            "FOLDER",
        )
    }
    async with AsyncExitStack() as stack:
        yield FarSide(
            whatsapp=await stack.enter_async_context(
                WhatsAppSimulatorClient(given["WHATSAPP_URL"], given["WHATSAPP_SECRET"])
            ),
            claude=await stack.enter_async_context(
                ClaudeSimulatorClient(given["CLAUDE_URL"], admin_secret=given["CLAUDE_SECRET"])
            ),
            payments=await stack.enter_async_context(
                PaymentsSimulatorClient(
                    given["PAYMENTS_URL"], admin_secret=given["PAYMENTS_SECRET"]
                )
            ),
            folder=Path(given["FOLDER"]),
        )
