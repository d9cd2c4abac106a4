"""The phone page and its own endpoints under /phone.

The page reaches the product by signed webhooks only; nothing here talks to it directly.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from simulators.whatsapp.engine import Simulator
from simulators.whatsapp.guard import check_page, cookie_name, same
from simulators.whatsapp.phone_views import ChatView, PersonView, chat_view, person_view
from simulators.whatsapp.pix import is_pix_code, qr_svg
from simulators.whatsapp.presses import find_delivery

_PAGE = Path(__file__).parent / "page"
_FILES = {
    "phone.js": "text/javascript; charset=utf-8",
    "phone.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_HEARTBEAT_SECONDS = 10.0  # an idle stream notices a closed tab at the next beat


class Typed(BaseModel):
    """A text typed in the composer; 4,096 is WhatsApp's own limit."""

    model_config = ConfigDict(extra="forbid")

    person: str
    text: str = Field(min_length=1, max_length=4096)


class Pressed(BaseModel):
    """A button pressed on a prompt."""

    model_config = ConfigDict(extra="forbid")

    person: str
    wamid: str
    button_id: str


class Whose(BaseModel):
    """The person whose phone this is."""

    model_config = ConfigDict(extra="forbid")

    person: str


class Number(BaseModel):
    """A free phone number with country code."""

    model_config = ConfigDict(extra="forbid")

    phone: str = Field(max_length=30)


def phone_router(simulator: Simulator) -> APIRouter:
    """Return the routes of the page, its files and its endpoints."""

    async def guard(request: Request) -> None:
        check_page(request, simulator.config)

    router = APIRouter(prefix="/phone")
    _add_page(router, simulator)
    guarded = APIRouter(dependencies=[Depends(guard)])
    _add_reading(guarded, simulator)
    _add_acting(guarded, simulator)
    router.include_router(guarded)
    return router


def _add_page(router: APIRouter, simulator: Simulator) -> None:
    secret = simulator.config.page_secret

    @router.get("")
    async def page(request: Request, key: str | None = None) -> Response:
        name = cookie_name(request)
        if not same(key, secret) and not same(request.cookies.get(name), secret):
            return PlainTextResponse("Abra esta página com ?key=<chave da página>.", 401)
        html = (_PAGE / "index.html").read_bytes()
        response = Response(html, media_type="text/html; charset=utf-8", headers=_HEADERS)
        response.set_cookie(name, secret, httponly=True, samesite="strict", path="/phone")
        return response

    @router.get("/files/{name}")
    async def file(name: str) -> Response:
        if name not in _FILES:
            raise HTTPException(404, f"no file {name!r}")
        return Response((_PAGE / name).read_bytes(), media_type=_FILES[name], headers=_HEADERS)


def _add_reading(router: APIRouter, simulator: Simulator) -> None:
    @router.get("/api/persons")
    async def persons() -> list[PersonView]:
        return [person_view(p) for p in simulator.chats.persons.values()]

    @router.get("/api/chat")
    async def chat(person: str) -> ChatView:
        return chat_view(simulator, simulator.chats.person(person))

    @router.get("/api/events")
    async def events() -> StreamingResponse:
        return StreamingResponse(
            _versions(simulator), media_type="text/event-stream", headers=_HEADERS
        )

    @router.get("/qr.svg")
    async def qr(wamid: str) -> Response:
        message = simulator.chats.find(wamid)
        if message is None or not is_pix_code(message.text):
            raise HTTPException(404, "this message is no Pix code")
        return Response(qr_svg(message.text), media_type="image/svg+xml", headers=_HEADERS)


def _add_acting(router: APIRouter, simulator: Simulator) -> None:
    chats = simulator.chats

    @router.post("/api/send")
    async def send(body: Typed) -> dict[str, str]:
        message, _ = simulator.person_writes(chats.person(body.person), body.text)
        return {"wamid": message.wamid}

    @router.post("/api/press")
    async def press(body: Pressed) -> dict[str, str]:
        prompt = chats.find(body.wamid)
        buttons = [b for b in prompt.buttons if b.id == body.button_id] if prompt else []
        if prompt is None or prompt.person != body.person or not buttons:
            raise HTTPException(404, f"no button {body.button_id!r} in this chat")
        message, _ = simulator.person_presses(chats.person(body.person), buttons[0], prompt=prompt)
        return {"wamid": message.wamid}

    @router.post("/api/redeliver")
    async def redeliver(body: Whose) -> dict[str, int | None]:
        delivery = find_delivery(simulator, wamid=None, kind="message", person=body.person)
        codes = await simulator.courier.repeat(delivery, times=1, concurrent=False)
        return {"status_code": codes[0]}

    @router.post("/api/viewed")
    async def viewed(body: Whose) -> dict[str, int]:
        return {"read": simulator.statuses.viewed(chats.person(body.person))}

    @router.post("/api/persons")
    async def add_number(body: Number) -> PersonView:
        try:
            return person_view(chats.add_number(body.phone))
        except ValueError as error:
            raise HTTPException(422, str(error)) from None


async def _versions(simulator: Simulator) -> AsyncIterator[str]:
    seen = -1
    while not simulator.closing:
        if seen != simulator.chats.version:
            seen = simulator.chats.version
            yield f"data: {json.dumps({'version': seen})}\n\n"
        elif not await simulator.chats.wait_change(seen, timeout_seconds=_HEARTBEAT_SECONDS):
            yield ": beat\n\n"
