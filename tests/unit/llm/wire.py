"""The real SDK over a transport that answers by script: tested is what goes over the wire."""

import json
from collections.abc import Callable
from typing import Any

import httpx2

from llm.client import ClaudeClient, build_anthropic
from llm.models import DEFAULT_MODEL

SYSTEM = [{"type": "text", "text": "prompt"}]
TOOLS = [{"name": "get_balance", "description": "d", "input_schema": {"type": "object"}}]
MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "oi, sou a Maria"}]}]
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-haiku-5-5",
    "content": [{"type": "text", "text": "Olá"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 3},
}

Answer = Callable[[httpx2.Request], httpx2.Response]


class Wire:
    """Counts and keeps the requests; answers each with `answer`."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Be the transport's handler."""
        self.requests.append(request)
        return self._answer(request)

    @property
    def body(self) -> dict[str, Any]:
        """The JSON of the only request."""
        (request,) = self.requests
        body: dict[str, Any] = json.loads(request.content)
        return body

    def client(self, model: str = DEFAULT_MODEL) -> ClaudeClient:
        """A client that speaks over this wire."""
        http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(self))
        sdk = build_anthropic("key", base_url="http://claude.test", http_client=http_client)
        return ClaudeClient(sdk, model)


def replying(message: dict[str, Any], *, request_id: str = "req_1") -> Wire:
    """A wire that answers 200 with this JSON."""
    headers = {"request-id": request_id}
    return Wire(lambda _: httpx2.Response(200, json=message, headers=headers))


def refusing(
    status: int,
    *,
    type_: str = "api_error",
    message: str = "no",
    code: str | None = None,
    headers: dict[str, str] | None = None,
) -> Wire:
    """A wire that answers with an error of the API's own shape."""
    error: dict[str, Any] = {"type": type_, "message": message}
    if code is not None:
        error["details"] = {"error_code": code}
    sent = {"request-id": "req_9", **(headers or {})}
    body = {"type": "error", "error": error, "request_id": "req_9"}
    return Wire(lambda _: httpx2.Response(status, json=body, headers=sent))


def raising(error: Exception) -> Wire:
    """A wire that breaks."""

    def fail(_: httpx2.Request) -> httpx2.Response:
        raise error

    return Wire(fail)
