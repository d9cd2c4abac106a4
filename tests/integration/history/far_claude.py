"""Claude at the wire, with the answers written by a test: every request goes through the
simulator's own reading of the documented 400 rules before it is answered."""

import itertools
import json
from typing import Any

import httpx2

from llm.client import ClaudeClient, build_anthropic
from simulators.claude.errors import ApiError
from simulators.claude.request_rules import check_request

Block = dict[str, Any]


class FarClaude:
    """Answers the next call with `says`; keeps what was asked, said and refused.

    Ids of messages and calls are new each time, so that nothing can be built upon them.
    """

    def __init__(self) -> None:
        self.says: tuple[str, list[Block]] = ("end_turn", [])
        self.asked: list[dict[str, Any]] = []
        self.said: list[list[Block]] = []
        self.refused: list[str] = []
        self._numbers = itertools.count()

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Be the transport's handler."""
        body = json.loads(request.content)
        self.asked.append(body)
        try:
            check_request(body)
        except ApiError as error:
            shape = error.body("req_refused")
            self.refused.append(json.dumps(shape))
            return httpx2.Response(error.status, json=shape)
        stop_reason, blocks = self.says
        self.said.append([self._with_id(block) for block in blocks])
        return httpx2.Response(
            200,
            json={
                "id": f"msg_{next(self._numbers)}",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": self.said[-1],
                "stop_reason": stop_reason,
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        )

    def _with_id(self, block: Block) -> Block:
        if block["type"] != "tool_use":
            return block
        return {**block, "id": f"toolu_{next(self._numbers)}"}

    def client(self, model: str) -> ClaudeClient:
        """A client that speaks over this wire."""
        http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(self))
        sdk = build_anthropic("key", base_url="http://claude.test", http_client=http_client)
        return ClaudeClient(sdk, model)
