"""The three far sides at the wire, in this process: WhatsApp, the model and the provider.

The product's own clients speak to them. Each keeps what it saw in the far side's records before it
answers, well or badly, as the example ordered.
"""

import itertools
import json
import sqlite3
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx
import httpx2

from channels.whatsapp.sender import WhatsAppSender
from gateways.pagarme import PagarmeGateway
from llm.client import ClaudeClient, build_anthropic
from simulators.claude.errors import ApiError
from simulators.claude.request_rules import check_request
from simulators.payments import dialects
from simulators.payments.app import SimulatorApp
from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.provider import Provider
from simulators.payments.serving import Bank, Desk
from simulators.payments.state import State
from tests.integration.lying.ground import PEOPLE, RECIPIENT, START
from tests.integration.lying.known import Known
from tests.integration.lying.records import Answered, FarSide, Sent, Trip, promise
from tests.integration.lying.zoo import KINDS, group_of

REFUSED = "the model's side refuses nothing"
API_KEY, MODEL = "sk_test_of_a_test", "claude-haiku-5-5"
USER_BY_PHONE = {f"+{p.wa_id}": str(p.user_id) for p in reversed(PEOPLE.values()) if p.user_id}


@dataclass
class Scene:
    """What the far sides know of the example that is played now."""

    far: FarSide = field(default_factory=FarSide)
    now: datetime = START
    counted: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    lost: set[str] = field(default_factory=set)
    """Messages that WhatsApp took, and nobody told us under which id."""


class FarModel:
    """Answers each call with the lies in `says`, the last one again and again. `asks`: whose turn
    it is: business number, user id, turn."""

    def __init__(self, scene: Callable[[], Scene]) -> None:
        self._scene = scene
        self._ids = itertools.count()
        self.says: list[str] = ["reply"]
        self.known: Known | None = None
        self.asks = ("", "", "")
        self.calls = 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Be the transport's handler."""
        self.calls += 1
        body = json.loads(request.content)
        try:
            check_request(body)
        except ApiError as error:
            promise(REFUSED, kept=False, detail=(error.body("req"), body["messages"][-3:]))
        kind = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        assert self.known is not None
        stop, blocks = KINDS[kind](self.known)
        content = [self._with_id(block) for block in blocks]
        self._keep(kind, stop, content, body, request.content.decode())
        return httpx2.Response(
            200,
            json={
                "id": f"msg_{next(self._ids)}",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": content,
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        )

    def _with_id(self, block: dict[str, Any]) -> dict[str, Any]:
        if block["type"] != "tool_use" or "id" in block:
            return block
        return {**block, "id": f"toolu_{next(self._ids)}"}

    def _keep(
        self, kind: str, stop: str | None, content: list[Any], body: dict[str, Any], raw: str
    ) -> None:
        scene = self._scene()
        scene.answers[kind] += 1
        scene.counted[f"answers: {group_of(kind)}"] += 1
        may_call = body.get("tool_choice", {}).get("type") != "none"
        number, who, turn = self.asks
        scene.far.add(
            Answered(
                at=scene.now,
                number=number,
                by=who,
                kind=kind,
                turn=turn,
                offered=frozenset(one["name"] for one in body["tools"])
                if may_call
                else frozenset(),
                stop_reason=stop,
                calls=tuple(one for one in content if one.get("type") == "tool_use"),
                request=json.dumps(json.loads(raw)["messages"], ensure_ascii=False),
            )
        )

    def client(self) -> ClaudeClient:
        """The product's client over this wire."""
        http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(self))
        sdk = build_anthropic("key", base_url="http://claude.test", http_client=http_client)
        return ClaudeClient(sdk, MODEL)


class FarPhone(httpx.AsyncBaseTransport):
    """WhatsApp's side of a send. `mood`: what becomes of the next ones."""

    def __init__(self, scene: Callable[[], Scene]) -> None:
        self._scene = scene
        self.mood = "takes"
        self.undelivered: list[tuple[str, str]] = []
        """Ids and our keys of messages whose statuses were not told yet."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Take it, lose it, or refuse it."""
        if self.mood == "away":
            raise httpx.ConnectError("no route")
        await request.extensions["trace"]("http11.send_request_headers.started", {})
        body = json.loads(await request.aread())
        if self.mood in {"refuses", "busy"}:
            code, status = (131026, 400) if self.mood == "refuses" else (130429, 429)
            return httpx.Response(status, json={"error": {"code": code, "message": "no"}})
        wamid = f"wamid.{uuid.uuid4().hex}"
        self._keep(request, wamid, body)
        if self.mood == "loses":
            self._scene().lost.add(wamid)
            raise httpx.ReadError("cut")
        return httpx.Response(200, json={"messages": [{"id": wamid}]})

    def _keep(self, request: httpx.Request, wamid: str, body: dict[str, Any]) -> None:
        scene = self._scene()
        number = request.url.path.split("/")[-2]
        to = body.get("recipient") or USER_BY_PHONE[body["to"]]
        self.undelivered.append((wamid, body["biz_opaque_callback_data"]))
        scene.counted["messages sent"] += 1
        scene.far.add(Sent(at=scene.now, number=number, to=to, wamid=wamid, body=body))

    def sender(self) -> WhatsAppSender:
        """The product's sender over this wire."""
        client = httpx.AsyncClient(transport=self)
        return WhatsAppSender(
            base_url="http://whatsapp.test", version="v26.0", token="token", client=client
        )


class FarProvider(httpx.AsyncBaseTransport):
    """The simulated provider, with a wire before it that may break. `mood`: what becomes of the
    next request that acts."""

    def __init__(self, scene: Callable[[], Scene]) -> None:
        self._scene = scene
        self.mood = "acts"
        config = PaymentsSimulatorConfig(api_key=API_KEY, opening_balance_cents=10**12)
        self._state, app = State(None), SimulatorApp()
        bank = Bank(Provider(config, self._state))
        for dialect in dialects.bundled():
            dialect.add_routes(app, Desk(bank, dialect))
        self._inside = httpx.ASGITransport(app)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Act or not, answer or not."""
        mood = self.mood if request.method != "GET" else "acts"
        if mood == "away":
            raise httpx.ConnectError("no route")
        await request.extensions["trace"]("http11.send_request_headers.started", {})
        if mood == "refuses":
            refusal = {"message": "The request is invalid.", "errors": {"amount": ["no"]}}
            return _as_from_a_socket(httpx.Response(422, json=refusal))
        if mood == "page":
            return _as_from_a_socket(httpx.Response(502, html="<html>proxy</html>"))
        if mood == "never":
            raise httpx.ReadError("cut")
        body = await request.aread()
        answer = await self._inside.handle_async_request(request)
        content = await answer.aread()
        if request.method != "GET":
            self._keep(request, body, acted=answer.status_code < 300)
        if mood == "loses":
            raise httpx.ReadError("cut")
        return _as_from_a_socket(
            httpx.Response(answer.status_code, headers=answer.headers, content=content)
        )

    def _keep(self, request: httpx.Request, body: bytes, *, acted: bool) -> None:
        scene = self._scene()
        scene.counted["effects at the provider"] += acted
        scene.far.add(
            Trip(
                at=scene.now,
                key=request.headers.get("idempotency-key", ""),
                method=request.method,
                path=request.url.path,
                body=body.decode(),
                acted=acted,
            )
        )

    def remembers(self) -> sqlite3.Connection:
        """A copy of all that the provider knows now."""
        copy = sqlite3.connect(":memory:")
        self._state._db.backup(copy)
        return copy

    def forgets(self, since: sqlite3.Connection) -> None:
        """Know again what was known then."""
        since.backup(self._state._db)

    def close(self) -> None:
        """Close the memory."""
        self._state.close()

    def gateway(self) -> PagarmeGateway:
        """The product's gateway over this wire."""
        return PagarmeGateway(
            base_url="http://127.0.0.1:1", api_key=API_KEY, recipient_id=RECIPIENT, transport=self
        )


def _as_from_a_socket(answer: httpx.Response) -> httpx.Response:
    """Unread."""
    headers = [(k, v) for k, v in answer.headers.items() if k != "content-length"]
    stream = httpx.ByteStream(answer.content)
    return httpx.Response(answer.status_code, headers=headers, stream=stream)
