"""One call from arrival to answer: key, rules, fault, brain, envelope, journal."""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from simulators.claude.brain import think
from simulators.claude.caching import PromptCache, count_tokens
from simulators.claude.config import ClaudeSimulatorConfig
from simulators.claude.connection import cut, wait
from simulators.claude.errors import ApiError, bad_request
from simulators.claude.fault_errors import fault_error
from simulators.claude.fault_replies import scripted, spoil, vary
from simulators.claude.faults import Fault, FaultPlan
from simulators.claude.fields import Json
from simulators.claude.journal import Entry, Journal
from simulators.claude.request_rules import CheckedRequest, check_request
from simulators.claude.responses import message_body, new_id
from simulators.claude.streaming import events
from simulators.claude.user_text import last_user_text

MAX_BODY_BYTES = 32 * 1024 * 1024
HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>"


class Service:
    """The far side's state: journal, fault plan, prompt cache, prompts seen."""

    def __init__(self, config: ClaudeSimulatorConfig, *, clock: Callable[[], float] = time.time):
        self.config = config
        self.journal = Journal(limit=config.journal_limit, state=config.state)
        self.plan = FaultPlan()
        self.cache = PromptCache(clock)
        self._seen: set[str] = set()

    async def create(self, request: Request) -> Response:
        """Answer POST /v1/messages."""
        return await self._answer(request, counting=False)

    async def count(self, request: Request) -> Response:
        """Answer POST /v1/messages/count_tokens."""
        return await self._answer(request, counting=True)

    async def _answer(self, request: Request, *, counting: bool) -> Response:
        raw = await request.body()
        body = _parse(raw)
        entry = self.journal.open(
            request_id=new_id("req"),
            path=request.url.path,
            body=body,
            user_text=last_user_text(body),
        )
        try:
            _check_headers(request, key=self.config.key, size=len(raw))
            if body is None:
                raise bad_request("The request body is not valid JSON")
            checked = check_request(body, counting=counting)
            if counting:
                response: Response = JSONResponse({"input_tokens": count_tokens(checked)})
            else:
                response = await self._create(request, checked, entry)
        except ApiError as error:
            shape = error.body(entry.request_id)
            entry.response = shape
            response = JSONResponse(shape, status_code=error.status, headers=error.headers)
        entry.status = entry.status if entry.fault == "drop" else response.status_code
        response.headers["request-id"] = entry.request_id
        self.journal.close(entry)
        return response

    async def _create(self, request: Request, checked: CheckedRequest, entry: Entry) -> Response:
        await asyncio.sleep(self.config.latency_seconds)
        fault = self.plan.take(entry.user_text)
        entry.fault = fault.kind if fault else None
        if fault is not None:
            wire = await self._wire_fault(request, fault)
            if wire is not None:
                return wire
        body = self._message(checked, fault)
        entry.response = body
        if checked.stream:
            return StreamingResponse(events(body), media_type="text/event-stream")
        return JSONResponse(body)

    async def _wire_fault(self, request: Request, fault: Fault) -> Response | None:
        error = fault_error(fault)
        if error is not None:
            raise error
        if fault.kind == "timeout":
            await wait(request, seconds=fault.seconds)
        elif fault.kind == "drop":
            await cut(request)
            return Response(status_code=500)
        elif fault.kind == "html":
            return Response(HTML, media_type=fault.content_type)
        elif fault.kind == "empty_json":
            return JSONResponse({})
        return None

    def _message(self, checked: CheckedRequest, fault: Fault | None) -> Json:
        repeated = self._repeated(checked)
        schemas = {tool["name"]: tool["input_schema"] for tool in checked.tools}
        reply = (scripted(fault) if fault else None) or think(checked)
        if fault is not None:
            reply = spoil(fault, reply, repeated=repeated, schemas=schemas)
        elif repeated and self.config.vary_repeats:
            reply = vary(reply, schemas)
        body = message_body(
            reply,
            model=checked.model,
            max_tokens=checked.max_tokens,
            counts=self.cache.count(checked),
        )
        if reply.stop_reason == "refusal":
            body["stop_details"] = {"type": "refusal", "category": "general_harms"}
        return body

    def _repeated(self, checked: CheckedRequest) -> bool:
        text = json.dumps([checked.model, checked.messages], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        seen = digest in self._seen
        self._seen.add(digest)
        return seen

    def reset(self) -> None:
        """Forget journal, faults, cache and prompts."""
        self.journal.clear()
        self.plan.clear()
        self.cache.clear()
        self._seen.clear()


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _check_headers(request: Request, *, key: str | None, size: int) -> None:
    if size > MAX_BODY_BYTES:
        raise ApiError(413, "request_too_large", "Request exceeds the maximum size")
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    given = bearer or request.headers.get("x-api-key", "")
    if not given or (key is not None and given != key):
        raise ApiError(401, "authentication_error", "invalid x-api-key")
    if not request.headers.get("anthropic-version"):
        raise bad_request("anthropic-version: header is required")
