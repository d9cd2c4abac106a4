"""A typed client of the admin API, used by the demo and the tests."""

import base64
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Literal, Self

import httpx
from pydantic import BaseModel, TypeAdapter

from simulators.whatsapp import admin_models as m
from simulators.whatsapp.batches import Order
from simulators.whatsapp.config import Person
from simulators.whatsapp.courier import HoldKind
from simulators.whatsapp.envelopes import Cut
from simulators.whatsapp.guard import SECRET_HEADER
from simulators.whatsapp.models import (
    ChatMessage,
    Counters,
    FaultMode,
    SendFault,
    SendRecord,
    StatusName,
    StatusPlan,
    StatusStep,
    WebhookRecord,
)

_MARGIN_SECONDS = 15.0  # a wait's HTTP call must outlive the wait itself
_MESSAGES = TypeAdapter(list[ChatMessage])


class SimulatorJournal(BaseModel):
    """Every send received and every webhook posted; `seq` orders both together."""

    sends: list[SendRecord]
    webhooks: list[WebhookRecord]


class WhatsAppSimulatorClient:
    """Drives one simulator. Raises httpx.HTTPStatusError when the simulator refuses."""

    def __init__(
        self,
        base_url: str,
        page_secret: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout_seconds: float = 60.0,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=f"{base_url.rstrip('/')}/admin",
            headers={SECRET_HEADER: page_secret},
            timeout=timeout_seconds,
            transport=transport,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    # The run.

    async def info(self) -> m.Info:
        """Return number, persons, page path and how many webhooks are under way or held."""
        return m.Info.model_validate(await self._get("/info"))

    async def reset(self) -> None:
        """Clear chats, plans, journal and counters."""
        await self._post("/reset")

    async def set_webhook_url(self, url: str) -> None:
        """Post webhooks elsewhere from now on."""
        await self._post("/settings", m.Settings(webhook_url=url))

    async def verify_webhook(self, verify_token: str, *, mode: str = "subscribe") -> m.Verified:
        """Do Meta's GET handshake."""
        body = m.Verify(verify_token=verify_token, mode=mode)
        return m.Verified.model_validate(await self._post("/verify", body))

    async def put_person(self, person: Person) -> None:
        """Add a person or change one."""
        (await self._http.put("/persons", json=person.model_dump())).raise_for_status()

    async def put_media(
        self, media_id: str, data: bytes, *, mime_type: str = "audio/ogg", sha256: str | None = None
    ) -> None:
        """Put a file there that messages may name; `sha256` only to lie about it."""
        body = m.PutMedia(
            id=media_id,
            data_base64=base64.b64encode(data).decode(),
            mime_type=mime_type,
            sha256=sha256,
        )
        (await self._http.put("/media", json=body.model_dump())).raise_for_status()

    # What persons do.

    async def send_text(
        self,
        person: str,
        text: str,
        *,
        reply_to: str | None = None,
        forwarded: bool = False,
        timestamp: int | None = None,
        wait: bool = True,
    ) -> m.Sent:
        """Write as a person; with `wait` return after the first answer of the webhook."""
        body = m.SendText(
            person=person,
            text=text,
            reply_to=reply_to,
            forwarded=forwarded,
            timestamp=timestamp,
            wait=wait,
        )
        return m.Sent.model_validate(await self._post("/send", body))

    async def press(
        self,
        person: str,
        which: Literal["confirm", "cancel"] | None = None,
        *,
        button_id: str | None = None,
        prompt: str | None = None,
        times: int = 1,
        concurrent: bool = False,
        with_context: bool = True,
        timestamp: int | None = None,
        wait: bool = True,
    ) -> m.Sent:
        """Press a button by id, or confirm/cancel of `prompt` (wamid; the latest if none)."""
        body = m.Press(
            person=person,
            which=which,
            button_id=button_id,
            prompt=prompt,
            times=times,
            concurrent=concurrent,
            with_context=with_context,
            timestamp=timestamp,
            wait=wait,
        )
        return m.Sent.model_validate(await self._post("/press", body))

    async def send_raw(
        self,
        person: str,
        message: dict[str, Any],
        *,
        with_contact: bool = True,
        wait: bool = True,
    ) -> m.Sent:
        """Send any message object as a person."""
        body = m.RawMessage(person=person, message=message, with_contact=with_contact, wait=wait)
        return m.Sent.model_validate(await self._post("/raw-message", body))

    # Webhooks.

    async def post_raw_body(
        self, body: Any = None, *, text: str | None = None, signature: str | None = None
    ) -> int | None:
        """POST a whole webhook body once; return the status code. `signature=""`: no header."""
        sent = m.RawBody(body=body, text=text, signature=signature)
        return _codes(await self._post("/raw-body", sent))[0]

    async def redeliver(
        self,
        wamid: str | None = None,
        *,
        kind: Literal["message", "status", "any"] = "message",
        person: str | None = None,
        times: int = 1,
        concurrent: bool = False,
    ) -> list[int | None]:
        """Deliver a webhook again (that of `wamid`, or the last); return the status codes."""
        body = m.Redeliver(
            wamid=wamid, kind=kind, person=person, times=times, concurrent=concurrent
        )
        return _codes(await self._post("/redeliver", body))

    async def hold(self, kind: HoldKind = "all") -> None:
        """Keep new webhooks back."""
        await self._post("/hold", m.Hold(kind=kind))

    async def release(self) -> int:
        """Start to deliver what was held; return how many."""
        return int((await self._post("/release"))["released"])

    async def batch_start(self, *, with_statuses: bool = False) -> None:
        """Collect messages instead of delivering them."""
        await self._post("/batch/start", m.BatchStart(with_statuses=with_statuses))

    async def batch_add(
        self,
        payload: Any,
        *,
        kind: Literal["messages", "statuses"] = "messages",
        contact: dict[str, Any] | None = None,
    ) -> None:
        """Add any object to the batch, junk too."""
        await self._post("/batch/add", m.BatchAdd(kind=kind, payload=payload, contact=contact))

    async def batch_deliver(
        self,
        *,
        cut: Cut = "one_value",
        order: Order = "as_sent",
        copies: int = 1,
        seed: int = 0,
        keep: bool = False,
    ) -> list[int | None]:
        """Deliver the batch; return the first status code of each body."""
        body = m.BatchDeliver(cut=cut, order=order, copies=copies, seed=seed, keep=keep)
        return _codes(await self._post("/batch/deliver", body))

    # Plans.

    async def plan_statuses(
        self,
        steps: Sequence[StatusStep | StatusName],
        *,
        times: int | None = 1,
        type: str | None = None,  # noqa: A002 - the word of the wire
        callback_prefix: str | None = None,
        person: str | None = None,
    ) -> None:
        """Choose the statuses of the next sends; no steps suppress them all."""
        plan = StatusPlan(
            steps=[s if isinstance(s, StatusStep) else StatusStep(status=s) for s in steps],
            times=times,
            type=type,
            callback_prefix=callback_prefix,
            person=person,
        )
        await self._post("/status-plans", plan)

    async def plan_fault(
        self,
        mode: FaultMode,
        *,
        times: int | None = 1,
        code: int = 131000,
        http_status: int | None = None,
        delay_seconds: float = 0.0,
        type: str | None = None,  # noqa: A002 - the word of the wire
        callback_prefix: str | None = None,
        person: str | None = None,
    ) -> None:
        """Choose what happens to the next sends (see SendFault)."""
        fault = SendFault(
            mode=mode,
            times=times,
            code=code,
            http_status=http_status,
            delay_seconds=delay_seconds,
            type=type,
            callback_prefix=callback_prefix,
            person=person,
        )
        await self._post("/send-faults", fault)

    async def clear_plans(self) -> None:
        """Drop all status plans and send faults."""
        (await self._http.delete("/plans")).raise_for_status()

    async def send_status(
        self,
        wamid: str,
        status: StatusName,
        *,
        error_code: int | None = None,
        timestamp: int | None = None,
    ) -> list[int | None]:
        """Send one status of a business message now."""
        body = m.StatusNow(wamid=wamid, status=status, error_code=error_code, timestamp=timestamp)
        return _codes(await self._post("/status", body))

    # Reading.

    async def messages(
        self, person: str, *, author: Literal["person", "business"] | None = None
    ) -> list[ChatMessage]:
        """Return a person's chat in order, of one author if asked."""
        found = _MESSAGES.validate_python(await self._get("/messages", {"person": person}))
        return [message for message in found if author in (None, message.author)]

    async def wait_messages(
        self,
        person: str,
        *,
        contains: str | None = None,
        type: str | None = None,  # noqa: A002 - the word of the wire
        callback_prefix: str | None = None,
        status: str | None = None,
        author: Literal["person", "business"] = "business",
        after_seq: int = 0,
        count: int = 1,
        timeout_seconds: float = 10.0,
    ) -> list[ChatMessage]:
        """Wait for messages in a chat; raise TimeoutError naming what did not come."""
        query = m.WaitQuery(
            person=person,
            author=author,
            contains=contains,
            type=type,
            callback_prefix=callback_prefix,
            status=status,
            after_seq=after_seq,
            count=count,
            timeout_seconds=timeout_seconds,
        )
        wanted = query.model_dump(exclude_none=True)
        response = await self._http.get(
            "/wait", params=wanted, timeout=timeout_seconds + _MARGIN_SECONDS
        )
        waited = m.Waited.model_validate(response.raise_for_status().json())
        if not waited.matched:
            raise TimeoutError(f"{len(waited.messages)} of {count} messages came for {wanted!r}")
        return waited.messages

    async def wait_message(
        self,
        person: str,
        *,
        contains: str | None = None,
        type: str | None = None,  # noqa: A002 - the word of the wire
        after_seq: int = 0,
        timeout_seconds: float = 10.0,
    ) -> ChatMessage:
        """Wait for a message of the business; return the latest that matches."""
        found = await self.wait_messages(
            person,
            contains=contains,
            type=type,
            after_seq=after_seq,
            timeout_seconds=timeout_seconds,
        )
        return found[-1]

    async def wait_prompt(
        self, person: str, *, after_seq: int = 0, timeout_seconds: float = 10.0
    ) -> ChatMessage:
        """Wait for a prompt (a message with buttons); return the latest."""
        return await self.wait_message(
            person, type="interactive", after_seq=after_seq, timeout_seconds=timeout_seconds
        )

    async def drain(self, *, timeout_seconds: float = 10.0) -> None:
        """Wait until every webhook was answered with 200; raise TimeoutError otherwise."""
        response = await self._http.get(
            "/drain",
            params={"timeout_seconds": timeout_seconds},
            timeout=timeout_seconds + _MARGIN_SECONDS,
        )
        if not response.raise_for_status().json()["drained"]:
            raise TimeoutError(f"webhooks still undelivered after {timeout_seconds} s")

    async def journal(self, *, after_seq: int = 0) -> SimulatorJournal:
        """Return the journal's lines after `after_seq`."""
        lines = await self._get("/journal", {"after_seq": after_seq})
        return SimulatorJournal.model_validate(lines)

    async def counters(self) -> Counters:
        """Return the totals."""
        return Counters.model_validate(await self._get("/counters"))

    async def _get(self, path: str, params: dict[str, Any] | None = None) -> Any:
        return (await self._http.get(path, params=params)).raise_for_status().json()

    async def _post(self, path: str, body: BaseModel | None = None) -> Any:
        content = {} if body is None else body.model_dump(mode="json")
        response = (await self._http.post(path, json=content)).raise_for_status()
        return response.json() if response.content else None


def _codes(answer: Any) -> list[int | None]:
    return m.StatusCodes.model_validate(answer).status_codes
