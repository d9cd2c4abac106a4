"""No personal data where it would stay for ever or be seen by many: ids, histories, search
attributes, logs, metrics. After a whole conversation, and after every kind of failure."""

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Iterator

import pytest
from google.protobuf.json_format import MessageToDict
from prometheus_client import generate_latest

from domain.logs import JsonLines
from gateways.pagarme import PagarmeGateway
from llm.client import ClaudeClient
from tests.harness.scenes import PIX, ask, propose
from tests.harness.stack import Stack
from tools.payments.create_pix_charge import CreatePixCharge

SECRET = "a senha do cofre é jabuticaba"
PERSONAL = (
    "João",
    "Maria",
    "Carlos",
    "52912345634",
    "123.456",
    "5511988880001",
    "988880001",
    "BR.1000000000000001",
    "15000",
    "150,00",
    "150 reais",
    "gera um Pix",
    "jabuticaba",
    "br.gov.bcb.pix",
    "wamid.",
    "exemplo.com.br",
)
"""Of the seeded persons and customers, and of what is written below."""


class Lines(logging.Handler):
    """Every record as the product's own formatter writes it, at every level."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(JsonLines())
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line."""
        if record.name.partition(".")[0] not in {"simulators", "tests", "asyncio"}:
            self.said.append(self.format(record))


@pytest.fixture
def lines() -> Iterator[Lines]:
    """All that the product logs from here on. Libraries at the level that the product sets."""
    handler, root = Lines(), logging.getLogger()
    before = root.level
    root.setLevel(logging.INFO)
    quiet = ("httpx", "httpcore", "httpx2", "httpcore2", "anthropic", "uvicorn.access", "asyncio")
    for name in quiet:
        logging.getLogger(name).setLevel(logging.WARNING)
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)
    root.setLevel(before)


async def histories(stack: Stack) -> AsyncIterator[tuple[str, str]]:
    """Each workflow of the conversations: its id, and all of its history as readable text, payloads
    and failures decoded."""
    rows = await stack.pool.fetch(
        "SELECT 'action:' || id AS id FROM actions UNION ALL"
        " SELECT 'turn:' || id::text FROM conversations"
    )
    known = {row["id"] for row in rows}
    async for found in stack.temporal.list_workflows():
        if found.id not in known:
            continue
        handle = stack.temporal.get_workflow_handle(found.id, run_id=found.run_id)
        history = await handle.fetch_history()
        events = [MessageToDict(event) for event in history.events]
        attributes = json.dumps({str(k): str(v) for k, v in found.search_attributes.items()})
        text = "\n".join([found.id, attributes, json.dumps(_readable(events), ensure_ascii=False)])
        yield found.id, text


def _readable(value: object) -> object:
    """Payloads' base64 as the text that it holds."""
    match value:
        case dict():
            return {key: _decoded(item) if key == "data" else _readable(item)
                    for key, item in value.items()}  # fmt: skip
        case list():
            return [_readable(item) for item in value]
        case _:
            return value


def _decoded(data: object) -> object:
    if not isinstance(data, str):
        return _readable(data)
    return base64.b64decode(data).decode("utf-8", errors="replace")


async def leaks(stack: Stack, lines: Lines) -> list[str]:
    """What is said where it must not be: the place and the word."""
    places = [("log", "\n".join(lines.said)), ("metrics", generate_latest().decode())]
    seen = 0
    async for name, text in histories(stack):
        seen += 1
        places.append((name, text))
    assert seen >= 2, "a turn's and an action's"
    return [f"{where}: {word}" for where, text in places for word in PERSONAL if word in text]


async def test_a_whole_conversation_leaves_nothing_personal_behind(
    stack: Stack, lines: Lines
) -> None:
    """Question, proposal, a stranger's click, the right one, feedback, "e o Pix?"; a cancelled one;
    and the log does say something about them."""
    action = await propose(stack, PIX)
    await stack.whatsapp.press("carlos", button_id=f"pa:confirm:{action['id']}")
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await ask(stack, f"e o Pix? {SECRET}")
    other = await propose(stack, "gera um Pix de 70 reais pro João Silva")
    await stack.whatsapp.press("maria", "cancel")
    await stack.wait_status(other["id"], "cancelled")
    await stack.quiet()
    assert await leaks(stack, lines) == []


async def test_failures_tell_nothing_personal(
    stack: Stack, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exceptions whose words quote a person, in the model's call, in a tool and in a gateway; a
    provider's refusal that quotes him; what WhatsApp refuses: types and places are kept, the words
    are not."""
    words = f"João Silva 52912345634 5511988880001 {SECRET} R$ 150,00"
    await stack.payments.add_fault("refuse", status=422)
    action = await propose(stack, PIX)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "failed")

    async def fails(*_args: object, **_fields: object) -> None:
        raise RuntimeError(words)

    for owner, method, confirms in (
        (ClaudeClient, "ask", False),
        (CreatePixCharge, "prepare", False),
        (CreatePixCharge, "revalidate", True),
        (PagarmeGateway, "send", True),
    ):
        before = _faults(lines)
        if confirms:
            await propose(stack, PIX)
        with monkeypatch.context() as patch:
            patch.setattr(owner, method, fails)
            if confirms:
                await stack.whatsapp.press("maria", "confirm")
            else:
                await stack.whatsapp.send_text("maria", PIX)
            await _wait_fault(lines, before)
        if method == "ask":  # asked again, and this time it answers
            await stack.whatsapp.wait_prompt("maria", timeout_seconds=20)
            await stack.whatsapp.press("maria", "cancel")
        if method != "send":  # that one's outcome stays unknown
            await stack.quiet(60)
    assert await leaks(stack, lines) == []


async def _wait_fault(lines: Lines, before: int) -> None:
    for _ in range(400):
        if _faults(lines) > before:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("nothing failed")


def _faults(lines: Lines) -> int:
    return sum("RuntimeError" in line for line in lines.said)
