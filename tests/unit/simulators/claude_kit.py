"""What the tests of the Claude stand-in share: a server on a real port, the SDK, the tools."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from anthropic import AsyncAnthropic

from simulators.claude import ClaudeSimulatorConfig, create_app
from simulators.claude.brain import think
from simulators.claude.client import ClaudeSimulatorClient
from simulators.claude.request_rules import check_request

KEY = "sk-test"
SECRET = "back-door"
MODEL = "claude-haiku-5-5"
NOW = "[2026-11-30T14:00:00-03:00]"
_TOOLS: dict[str, tuple[str, str]] = {
    "list_free_slots": ("professional date", "date"),
    "list_bookings": ("", ""),
    "create_booking": ("customer professional starts_at", "professional starts_at"),
    "reschedule_booking": ("booking_id starts_at", "booking_id starts_at"),
    "cancel_booking": ("booking_id", "booking_id"),
    "find_customer": ("name", "name"),
    "update_email": ("customer email", "customer email"),
    "get_balance": ("", ""),
    "get_charge": ("charge", ""),
    "create_pix_charge": ("customer amount_cents due_date description", "customer amount_cents"),
    "refund_charge": ("charge amount_cents", "charge"),
    "transfer_balance": ("recipient amount_cents", "recipient amount_cents"),
}


def tool(name: str, /, **changes: Any) -> dict[str, Any]:
    """One bundled tool as it is offered, strict."""
    fields, required = _TOOLS[name]
    kinds = {field: "integer" if field == "amount_cents" else "string" for field in fields.split()}
    schema = {
        "type": "object",
        "properties": {field: {"type": kind} for field, kind in kinds.items()},
        "required": required.split(),
        "additionalProperties": False,
    }
    return {"name": name, "description": name, "strict": True, "input_schema": schema} | changes


def all_tools() -> list[dict[str, Any]]:
    """Every bundled tool."""
    return [tool(name) for name in _TOOLS]


def body(messages: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """A request as Aval would send it; `changes` replaces or adds top-level fields."""
    request = {
        "model": MODEL,
        "max_tokens": 1024,
        "messages": messages,
        "tools": all_tools(),
        "thinking": {"type": "disabled"},
        "output_config": {"effort": "medium"},
    } | changes
    return {key: value for key, value in request.items() if value is not None}


def user(*blocks: str | dict[str, Any]) -> dict[str, Any]:
    """A user message; texts become text blocks."""
    return {"role": "user", "content": [_block(block) for block in blocks]}


def assistant(*blocks: str | dict[str, Any]) -> dict[str, Any]:
    """An assistant message."""
    return {"role": "assistant", "content": [_block(block) for block in blocks]}


def system(text: str) -> dict[str, Any]:
    """A message of facts in the conversation."""
    return {"role": "system", "content": text}


def use(use_id: str, name: str = "get_balance", **arguments: Any) -> dict[str, Any]:
    """A tool_use block of the history."""
    return {"type": "tool_use", "id": use_id, "name": name, "input": arguments}


def result(use_id: str, content: str = "ok", *, is_error: bool = False) -> dict[str, Any]:
    """A tool_result block."""
    block = {"type": "tool_result", "tool_use_id": use_id, "content": content}
    return block | ({"is_error": True} if is_error else {})


def _block(block: str | dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": block} if isinstance(block, str) else block


def ask(*messages: dict[str, Any], **changes: Any) -> str | tuple[str, dict[str, Any]]:
    """What the brain answers: its text, or the tool's name and input."""
    reply = think(check_request(body(list(messages), **changes)))
    assert len(reply.content) == 1
    block = reply.content[0]
    if block["type"] == "text":
        assert reply.stop_reason == "end_turn"
        return str(block["text"])
    assert reply.stop_reason == "tool_use"
    return str(block["name"]), dict(block["input"])


@dataclass(frozen=True, kw_only=True)
class Far:
    """A running simulator: its address, the SDK aimed at it, and its back door."""

    url: str
    sdk: AsyncAnthropic
    admin: ClaudeSimulatorClient

    async def create(self, messages: list[dict[str, Any]], **changes: Any) -> Any:
        """One call through the real SDK."""
        return await self.sdk.messages.create(**body(messages, **changes))


@asynccontextmanager
async def running(
    config: ClaudeSimulatorConfig | None = None, *, clock: Callable[[], float] | None = None
) -> AsyncIterator[Far]:
    """Serve the simulator on a free port for as long as the block runs."""
    config = config or ClaudeSimulatorConfig(key=KEY, admin_secret=SECRET)
    app = create_app(config, clock=clock) if clock else create_app(config)
    # asyncio turns Nagle off only where the protocol is named; else each call takes 40 ms more
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    )
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    for _ in range(500):
        if server.started:
            break
        await asyncio.sleep(0.01)
    assert server.started
    sdk = AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0, timeout=5.0)
    admin = ClaudeSimulatorClient(url, admin_secret=SECRET)
    try:
        yield Far(url=url, sdk=sdk, admin=admin)
    finally:
        await sdk.close()
        await admin.close()
        server.should_exit = True
        await serving
        listener.close()
