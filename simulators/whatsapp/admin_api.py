"""The admin API: what tests and the demo do to persons, webhooks, faults and time."""

import asyncio
import base64
import hmac
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from simulators.whatsapp import admin_models as m
from simulators.whatsapp.admin_waits import wait_drained, wait_messages
from simulators.whatsapp.batches import Collector, arranged
from simulators.whatsapp.config import Person
from simulators.whatsapp.courier import Delivery
from simulators.whatsapp.engine import Simulator, is_click
from simulators.whatsapp.envelopes import messages_in
from simulators.whatsapp.guard import check_admin
from simulators.whatsapp.media import MediaFile
from simulators.whatsapp.models import (
    ChatMessage,
    Counters,
    Item,
    SendFault,
    StatusPlan,
    StatusStep,
)
from simulators.whatsapp.presses import choose_button, find_delivery
from simulators.whatsapp.signing import escaped_json


def admin_router(simulator: Simulator) -> APIRouter:
    """Return all routes under /admin, each guarded by the secret."""

    async def guard(request: Request) -> None:
        check_admin(request, simulator.config)

    router = APIRouter(prefix="/admin", dependencies=[Depends(guard)])
    _add_run_routes(router, simulator)
    _add_person_routes(router, simulator)
    _add_webhook_routes(router, simulator)
    _add_batch_routes(router, simulator)
    _add_plan_routes(router, simulator)
    _add_reading_routes(router, simulator)
    return router


def _add_run_routes(router: APIRouter, simulator: Simulator) -> None:
    @router.get("/info")
    async def info() -> m.Info:
        config = simulator.config
        return m.Info(
            phone_number_id=config.phone_number_id,
            display_phone_number=config.display_phone_number,
            webhook_url=simulator.courier.webhook_url,
            phone_path=f"/phone?key={config.page_secret}",
            persons=[p.model_dump() for p in simulator.chats.persons.values()],
            undelivered=simulator.courier.undelivered,
            held=simulator.courier.held,
        )

    @router.post("/reset", status_code=204)
    async def reset() -> None:
        await simulator.reset()

    @router.post("/settings", status_code=204)
    async def settings(body: m.Settings) -> None:
        if body.webhook_url is not None:
            simulator.courier.webhook_url = body.webhook_url

    @router.post("/verify")
    async def verify(body: m.Verify) -> m.Verified:
        challenge = secrets.token_hex(8)
        response = await simulator.courier.get(
            {
                "hub.mode": body.mode,
                "hub.verify_token": body.verify_token,
                "hub.challenge": challenge,
            }
        )
        return m.Verified(
            status_code=response.status_code,
            content_type=response.headers.get("content-type", ""),
            matched=response.status_code == 200
            and hmac.compare_digest(response.content, challenge.encode()),
        )


def _add_person_routes(router: APIRouter, simulator: Simulator) -> None:
    @router.put("/persons", status_code=204)
    async def put_person(person: Person) -> None:
        simulator.chats.put_person(person)

    @router.post("/send")
    async def send(body: m.SendText) -> m.Sent:
        message, delivery = simulator.person_writes(
            simulator.chats.person(body.person),
            body.text,
            reply_to=body.reply_to,
            forwarded=body.forwarded,
            timestamp=body.timestamp,
        )
        return await _sent(simulator, [message], [delivery], wait=body.wait)

    @router.post("/press")
    async def press(body: m.Press) -> m.Sent:
        person = simulator.chats.person(body.person)
        button, prompt = choose_button(simulator.chats, body)
        messages: list[ChatMessage] = []
        deliveries: list[Delivery | None] = []
        for _ in range(body.times):
            message, delivery = simulator.person_presses(
                person,
                button,
                prompt=prompt,
                with_context=body.with_context,
                timestamp=body.timestamp,
            )
            messages.append(message)
            deliveries.append(delivery)
            if not body.concurrent and delivery is not None:
                await _first_try(simulator, delivery)
        return await _sent(simulator, messages, deliveries, wait=body.wait)

    @router.put("/media", status_code=204)
    async def put_media(body: m.PutMedia) -> None:
        simulator.media[body.id] = MediaFile(
            id=body.id,
            data=base64.b64decode(body.data_base64),
            mime_type=body.mime_type,
            sha256=body.sha256,
        )

    @router.post("/raw-message")
    async def raw_message(body: m.RawMessage) -> m.Sent:
        message, delivery = simulator.person_sends(
            simulator.chats.person(body.person), body.message, with_contact=body.with_contact
        )
        return await _sent(simulator, [message], [delivery], wait=body.wait)


async def _first_try(simulator: Simulator, delivery: Delivery) -> None:
    if not simulator.courier.is_held(delivery):
        await delivery.tried.wait()


async def _sent(
    simulator: Simulator,
    messages: list[ChatMessage],
    deliveries: list[Delivery | None],
    *,
    wait: bool,
) -> m.Sent:
    started = [d for d in deliveries if d is not None]
    if wait:
        await asyncio.gather(*(_first_try(simulator, d) for d in started))
    codes = [d.status_codes[0] for d in started if d.status_codes]
    return m.Sent(messages=messages, status_codes=codes)


def _add_webhook_routes(router: APIRouter, simulator: Simulator) -> None:
    courier = simulator.courier

    @router.post("/raw-body")
    async def raw_body(body: m.RawBody) -> m.StatusCodes:
        raw = escaped_json(body.body) if body.text is None else body.text.encode()
        delivery = courier.submit(
            raw,
            kind="raw",
            wamids=[],
            click=any(is_click(x) for x in messages_in(raw)),
            signature=body.signature,
            retried=False,
        )
        await _first_try(simulator, delivery)
        return m.StatusCodes(status_codes=delivery.status_codes)

    @router.post("/redeliver")
    async def redeliver(body: m.Redeliver) -> m.StatusCodes:
        delivery = find_delivery(simulator, wamid=body.wamid, kind=body.kind, person=body.person)
        codes = await courier.repeat(delivery, times=body.times, concurrent=body.concurrent)
        return m.StatusCodes(status_codes=codes)

    @router.post("/hold", status_code=204)
    async def hold(body: m.Hold) -> None:
        courier.hold(body.kind)

    @router.post("/release")
    async def release() -> dict[str, int]:
        return {"released": courier.release()}


def _add_batch_routes(router: APIRouter, simulator: Simulator) -> None:
    @router.post("/batch/start", status_code=204)
    async def batch_start(body: m.BatchStart) -> None:
        simulator.collector = Collector(active=True, with_statuses=body.with_statuses)

    @router.post("/batch/add", status_code=204)
    async def batch_add(body: m.BatchAdd) -> None:
        item = Item(kind=body.kind, payload=body.payload, contact=body.contact)
        simulator.collector.items.append(item)

    @router.post("/batch/deliver")
    async def batch_deliver(body: m.BatchDeliver) -> m.StatusCodes:
        collector = simulator.collector
        collector.active = False
        items = arranged(collector.items, order=body.order, copies=body.copies, seed=body.seed)
        if not body.keep:
            simulator.collector = Collector()
        deliveries = simulator.deliver(items, cut=body.cut)
        return m.StatusCodes(
            status_codes=(await _sent(simulator, [], [*deliveries], wait=True)).status_codes
        )


def _add_plan_routes(router: APIRouter, simulator: Simulator) -> None:
    @router.post("/status-plans", status_code=204)
    async def add_status_plan(plan: StatusPlan) -> None:
        simulator.statuses.plans.append(plan)

    @router.post("/send-faults", status_code=204)
    async def add_send_fault(fault: SendFault) -> None:
        simulator.send_faults.append(fault)

    @router.delete("/plans", status_code=204)
    async def clear_plans() -> None:
        simulator.statuses.plans.clear()
        simulator.send_faults.clear()

    @router.post("/status")
    async def status_now(body: m.StatusNow) -> m.StatusCodes:
        message = simulator.chats.find(body.wamid)
        if message is None or message.author != "business":
            raise HTTPException(404, f"no message of the business {body.wamid!r}")
        step = StatusStep(status=body.status, error_code=body.error_code)
        delivery = simulator.statuses.send(message, step, timestamp=body.timestamp)
        return m.StatusCodes(
            status_codes=(await _sent(simulator, [], [delivery], wait=True)).status_codes
        )


def _add_reading_routes(router: APIRouter, simulator: Simulator) -> None:
    @router.get("/journal")
    async def journal(after_seq: int = 0) -> dict[str, list[Any]]:
        lines = simulator.journal
        return {
            "sends": [r for r in lines.sends if r.seq > after_seq],
            "webhooks": [r for r in lines.webhooks if r.seq > after_seq],
        }

    @router.get("/counters")
    async def counters() -> Counters:
        return simulator.journal.counters

    @router.get("/messages")
    async def messages(person: str) -> list[ChatMessage]:
        return simulator.chats.of(simulator.chats.person(person).id)

    @router.get("/wait")
    async def wait(query: Annotated[m.WaitQuery, Query()]) -> m.Waited:
        return await wait_messages(simulator, query)

    @router.get("/drain")
    async def drain(timeout_seconds: float = 10.0) -> dict[str, bool]:
        return {"drained": await wait_drained(simulator, timeout_seconds=timeout_seconds)}
