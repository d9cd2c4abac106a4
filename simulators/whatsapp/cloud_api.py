"""The Graph endpoint that the product sends to: POST /v{NN}.0/{phone_number_id}/messages.

There is no idempotency here, as there is none at Meta: two POSTs are two messages.
"""

import asyncio
import hmac
import json
import time
from typing import Any

import httpx
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from simulators.whatsapp.config import Person
from simulators.whatsapp.engine import Simulator
from simulators.whatsapp.meta_errors import MetaError, error_body, http_status_of
from simulators.whatsapp.models import SendFault, SendRecord
from simulators.whatsapp.send_rules import CheckedSend, check_send

TRANSPORT_KEY = "simulators.whatsapp.transport"
_PROXY_PAGE = "<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>"


def cloud_router(simulator: Simulator) -> APIRouter:
    """Return the routes of the Graph API."""
    router = APIRouter()

    @router.post("/v{version}/{phone_number_id}/messages")
    async def messages(version: str, phone_number_id: str, request: Request) -> Response:
        raw = await request.body()
        record = SendRecord(
            seq=simulator.journal.next_seq(),
            at=time.time(),
            kind="message",
            body=raw.decode("utf-8", "replace"),
            accepted=False,
        )
        try:
            _authorize(request, simulator, version, phone_number_id)
            body = _parsed(raw)
            record.body = body
            if "status" in body:
                record.kind = "read"
            response = await _handle(simulator, request, body, record)
        except MetaError as error:
            record.error_code = error.code
            response = JSONResponse(error.body(), status_code=error.http_status)
            simulator.journal.send_received(record)
        record.http_status = response.status_code
        return response

    @router.get("/v{version}/{phone_number_id}")
    async def number_or_media(version: str, phone_number_id: str, request: Request) -> Response:
        media = simulator.media.get(phone_number_id)
        number = simulator.config.phone_number_id if media else phone_number_id
        try:
            _authorize(request, simulator, version, number)
        except MetaError as error:
            return JSONResponse(error.body(), status_code=error.http_status)
        if media is not None:
            return JSONResponse(media.described(str(request.base_url)))
        return JSONResponse(
            {
                "id": phone_number_id,
                "display_phone_number": simulator.config.display_phone_number,
                "verified_name": "Simulated business",
                "quality_rating": "GREEN",
            }
        )

    @router.get("/media-files/{media_id}")
    async def media_file(media_id: str, request: Request) -> Response:
        media = simulator.media.get(media_id)
        try:
            _authorize(request, simulator, "26.0", simulator.config.phone_number_id)
        except MetaError as error:
            return JSONResponse(error.body(), status_code=error.http_status)
        if media is None:
            return Response(status_code=404)
        return Response(media.data, media_type=media.mime_type)

    return router


def _authorize(request: Request, simulator: Simulator, version: str, number: str) -> None:
    given = request.headers.get("authorization", "")
    expected = f"Bearer {simulator.config.token}"
    if not hmac.compare_digest(given.encode(), expected.encode()):
        raise MetaError(190, "Invalid OAuth access token - Cannot parse access token")
    major, _, minor = version.partition(".")
    if minor != "0" or not (major.isascii() and major.isdigit() and len(major) == 2):
        raise MetaError(100, f"Unknown path components: /v{version}", subcode=2500)
    if number != simulator.config.phone_number_id:
        raise MetaError(100, f"Object with ID {number!r} does not exist.", subcode=33)


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except ValueError:
        raise MetaError(100, "The body is not JSON.") from None
    if not isinstance(body, dict):
        raise MetaError(100, "The body is not a JSON object.")
    return body


async def _handle(
    simulator: Simulator, request: Request, body: dict[str, Any], record: SendRecord
) -> Response:
    if record.kind == "read":
        _read(simulator, body)
        record.accepted = True
        simulator.journal.send_received(record)
        return JSONResponse({"success": True})
    send = check_send(body)
    person = simulator.recipient(send)
    record.person = person.id if person else None
    fault = simulator.send_faults.take(send, record.person)
    record.fault = fault.mode if fault else None
    simulator.journal.send_received(record)
    if fault is not None and not fault.mode.startswith("accept_"):
        return await _refused(fault, request, record)
    record.accepted = True
    record.wamid = await simulator.accept(send, person)
    answer = JSONResponse(_answer(send, person, record.wamid))
    return answer if fault is None else await _spoiled(fault, request, answer, record)


def _read(simulator: Simulator, body: dict[str, Any]) -> None:
    if body.get("messaging_product") != "whatsapp" or body.get("status") != "read":
        raise MetaError(100, "Param status must be 'read'.")
    wamid = body.get("message_id")
    if not isinstance(wamid, str):
        raise MetaError(131008, "Required parameter is missing: message_id.")
    typing = body.get("typing_indicator")
    if typing is not None and typing != {"type": "text"}:
        raise MetaError(131009, "Param typing_indicator['type'] must be 'text'.")
    simulator.mark_read(wamid, typing=typing is not None)


def _answer(send: CheckedSend, person: Person | None, wamid: str) -> dict[str, Any]:
    contact: dict[str, Any] = {"input": send.user_id or send.phone}
    if send.user_id is not None:
        contact["user_id"] = send.user_id
    else:
        digits = "".join(c for c in send.phone or "" if c.isdigit())
        contact["wa_id"] = (person.wa_id if person else None) or digits
    return {
        "messaging_product": "whatsapp",
        "contacts": [contact],
        "messages": [{"id": wamid}],
    }


async def _refused(fault: SendFault, request: Request, record: SendRecord) -> Response:
    if fault.mode == "refuse":
        return await _hang_up(request)
    if fault.mode == "html":
        return HTMLResponse(_PROXY_PAGE, status_code=fault.http_status or 502)
    record.error_code = fault.code
    status = fault.http_status or http_status_of(fault.code)
    return JSONResponse(error_body(fault.code), status_code=status)


async def _spoiled(
    fault: SendFault, request: Request, answer: JSONResponse, record: SendRecord
) -> Response:
    if fault.mode == "accept_drop":
        return await _hang_up(request)
    if fault.mode == "accept_delay":
        await asyncio.sleep(fault.delay_seconds)
        return answer
    if fault.mode == "accept_no_id":
        return JSONResponse({"messaging_product": "whatsapp"})
    if fault.mode == "accept_html":
        return HTMLResponse(_PROXY_PAGE, status_code=fault.http_status or 502)
    record.error_code = fault.code
    return JSONResponse(error_body(fault.code), status_code=fault.http_status or 500)


async def _hang_up(request: Request) -> Response:
    """Close the connection without a byte of answer.

    In-process there is no connection; the caller then gets the same httpx error.
    """
    transport = request.scope.get(TRANSPORT_KEY)
    if transport is None:
        raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
    transport.abort()
    await asyncio.sleep(0.01)  # lets the server notice, so that it drops our answer silently
    return Response(status_code=499)
