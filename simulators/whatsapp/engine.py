"""The simulated WhatsApp itself: persons write and press, the business sends, statuses follow.

Every way in (Graph API, admin API, phone page) ends here, and every way out to the product
is a signed webhook.
"""

import time
from collections.abc import Sequence
from typing import Any

import httpx

from simulators.whatsapp.batches import Collector
from simulators.whatsapp.chats import Chats
from simulators.whatsapp.config import Person, SimulatorConfig
from simulators.whatsapp.courier import Courier, Delivery
from simulators.whatsapp.envelopes import (
    Cut,
    bodies_of,
    button_reply,
    contact_of,
    message_head,
    new_wamid,
    status_item,
)
from simulators.whatsapp.journal import Journal
from simulators.whatsapp.media import MediaFile
from simulators.whatsapp.meta_errors import MetaError
from simulators.whatsapp.models import (
    Button,
    ChatMessage,
    Item,
    SendFault,
)
from simulators.whatsapp.plans import Plans
from simulators.whatsapp.send_rules import CheckedSend
from simulators.whatsapp.signing import escaped_json
from simulators.whatsapp.statuses import Statuses
from simulators.whatsapp.storage import Storage

TYPING_SECONDS = 25.0  # Meta ends the typing indicator after 25 s


class Simulator:
    """One business number with its persons, chats, plans, journal and courier."""

    def __init__(
        self, config: SimulatorConfig, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.config = config
        self.storage = Storage(config.state_file)
        self.chats = Chats(config.persons, self.storage)
        self.journal = Journal(self.storage)
        self.courier = Courier(
            config,
            self.storage,
            self.journal,
            on_delivered=self._webhook_accepted,
            transport=transport,
        )
        self.send_faults: Plans[SendFault] = Plans()
        self.statuses = Statuses(config, self.chats, self.courier, emit=self.emit)
        self.collector = Collector()
        self.media: dict[str, MediaFile] = {}
        self.typing_until: dict[str, float] = {}
        self.closing = False

    def start(self) -> None:
        """Take up what an earlier run left undelivered; needs a running loop."""
        self.courier.resume()
        self.statuses.resume()

    async def close(self) -> None:
        """Stop all deliveries and close the files."""
        self.end_streams()
        await self.statuses.stop()
        await self.courier.close()
        self.storage.close()

    def end_streams(self) -> None:
        """Let the page's event streams and the long polls end, so that the server can stop."""
        self.closing = True
        self.chats.touch()

    async def reset(self) -> None:
        """Forget chats, plans, journal, counters and undelivered webhooks."""
        await self.statuses.stop()
        await self.courier.forget()
        self.storage.clear()
        self.send_faults.clear()
        self.collector = Collector()
        self.media.clear()
        self.typing_until.clear()
        self.journal.clear()
        self.chats.clear()

    # What persons do.

    def person_writes(
        self,
        person: Person,
        text: str,
        *,
        reply_to: str | None = None,
        forwarded: bool = False,
        timestamp: int | None = None,
    ) -> tuple[ChatMessage, Delivery | None]:
        """Send a text as a person; the delivery is none while a batch is collected."""
        payload: dict[str, Any] = {"type": "text", "text": {"body": text}}
        if reply_to is not None:
            payload["context"] = self._context(reply_to)
        if forwarded:
            payload["context"] = {"forwarded": True}
        return self.person_sends(person, payload, text=text, timestamp=timestamp)

    def person_presses(
        self,
        person: Person,
        button: Button,
        *,
        prompt: ChatMessage | None,
        with_context: bool = True,
        timestamp: int | None = None,
    ) -> tuple[ChatMessage, Delivery | None]:
        """Press a button: each press is a message of its own, old prompts included."""
        payload = button_reply(button)
        if prompt is not None and with_context:
            payload["context"] = self._context(prompt.wamid)
        self.journal.pressed(button.id)
        return self.person_sends(
            person, payload, text=button.title, button_id=button.id, timestamp=timestamp
        )

    def person_sends(
        self,
        person: Person,
        payload: dict[str, Any],
        *,
        text: str = "",
        button_id: str | None = None,
        timestamp: int | None = None,
        with_contact: bool = True,
    ) -> tuple[ChatMessage, Delivery | None]:
        """Send any message object; its own keys win over the usual head (from, id, time)."""
        now = time.time()
        stamp = str(int(now) if timestamp is None else timestamp)
        head = message_head(person, wamid=new_wamid(person, self.config), timestamp=stamp)
        payload = {**head, **payload}
        kind = "button_reply" if button_id is not None else str(payload.get("type", "unknown"))
        context = payload.get("context")
        message = ChatMessage(
            seq=self.chats.next_seq(),
            wamid=str(payload["id"]),
            person=person.id,
            author="person",
            type=kind,
            text=text,
            button_id=button_id,
            context_id=context.get("id") if isinstance(context, dict) else None,
            at=now,
            timestamp=str(payload["timestamp"]),
            status="sending",
            payload=payload,
        )
        self.chats.add(message)
        contact = contact_of(person) if with_contact else None
        return message, self.emit(Item(kind="messages", payload=payload, contact=contact))

    # What the business does.

    def recipient(self, send: CheckedSend) -> Person | None:
        """Return whom a send reaches; none if nobody.

        A number without `+` that does not start with the country code of the business is read
        as national (Meta's page on sending): it may reach a stranger, never whom was meant.
        """
        if send.user_id is not None:
            return self.chats.by_user_id(send.user_id)
        phone = send.phone or ""
        digits = "".join(c for c in phone if c.isdigit())
        country = self.config.display_phone_number[:2]
        if not phone.startswith("+") and not digits.startswith(country):
            digits = country + digits
        return self.chats.by_phone(digits)

    async def accept(self, send: CheckedSend, person: Person | None) -> str:
        """Take a message of the business into the chat; return its wamid.

        Returns after the statuses that are planned to come before the response.
        """
        if person is None:
            return self._accept_for_nobody(send)
        planned = self.statuses.planned(send, person.id)
        steps = self.statuses.default_steps() if planned is None else planned
        message = ChatMessage(
            seq=self.chats.next_seq(),
            wamid=new_wamid(person, self.config),
            person=person.id,
            author="business",
            type=send.type,
            text=send.text,
            footer=send.footer,
            buttons=send.buttons,
            context_id=send.context_id,
            callback_data=send.callback_data,
            at=time.time(),
            timestamp=str(int(time.time())),
            status="accepted",
            visible=all(step.status != "failed" for step in steps),
            planned=planned is not None,
            to_user_id=send.user_id is not None,
            payload=send.body,
        )
        self.typing_until.pop(person.id, None)
        self.chats.add(message)
        self.journal.send_accepted(person.id, prompt=send.type == "interactive")
        await self.statuses.follow(message, steps)
        return message.wamid

    def mark_read(self, wamid: str, *, typing: bool) -> None:
        """Mark a person's message and all before it as read; maybe show "typing"."""
        message = self.chats.find(wamid)
        if message is None or message.author != "person":
            raise MetaError(131009, f"Unknown message id {wamid!r}.")
        for earlier in self.chats.of(message.person):
            if earlier.author == "person" and earlier.seq <= message.seq:
                self.chats.set_status(earlier, "read")
        if typing:
            self.typing_until[message.person] = time.time() + TYPING_SECONDS
            self.chats.touch()

    # What goes out.

    def emit(self, item: Item) -> Delivery | None:
        """Deliver one item in a body of its own, or add it to the batch being collected."""
        if self.collector.wants(item):
            self.collector.items.append(item)
            return None
        return self.deliver([item], cut="one_value")[0]

    def deliver(self, items: Sequence[Item], *, cut: Cut) -> list[Delivery]:
        """Deliver items in one body, or one each with the cut `bodies`."""
        groups = [[item] for item in items] if cut == "bodies" else [list(items)]
        return [
            self.courier.submit(
                escaped_json(bodies_of(group, self.config, cut)[0]),
                kind="message" if any(i.kind == "messages" for i in group) else "status",
                wamids=[i.payload["id"] for i in group if _has_id(i)],
                click=any(i.kind == "messages" and is_click(i.payload) for i in group),
            )
            for group in groups
            if group
        ]

    def _accept_for_nobody(self, send: CheckedSend) -> str:
        """Meta accepts a send to an address without WhatsApp and reports 131026 later."""
        stranger = Person(id="nobody", name="nobody", user_id=send.user_id)
        payload: dict[str, Any] = {"id": new_wamid(stranger, self.config), "status": "failed"}
        message = ChatMessage(
            seq=0,
            wamid=payload["id"],
            person=stranger.id,
            author="business",
            type=send.type,
            callback_data=send.callback_data,
            at=time.time(),
            timestamp=str(int(time.time())),
            status="failed",
        )
        self.emit(status_item(message, stranger, status="failed", timestamp=message.timestamp))
        return message.wamid

    def _context(self, wamid: str) -> dict[str, Any]:
        quoted = self.chats.find(wamid)
        author = self.config.display_phone_number
        if quoted is not None and quoted.author == "person":
            author = self.chats.person(quoted.person).wa_id or author
        return {"from": author, "id": wamid}

    def _webhook_accepted(self, wamids: Sequence[str]) -> None:
        for wamid in wamids:
            message = self.chats.find(wamid)
            if message is not None and message.status == "sending":
                self.chats.set_status(message, "received")


def _has_id(item: Item) -> bool:
    return isinstance(item.payload, dict) and isinstance(item.payload.get("id"), str)


def is_click(payload: Any) -> bool:
    """Tell whether a message object is a pressed button, of a prompt or of a template."""
    if not isinstance(payload, dict):
        return False
    interactive = payload.get("interactive")
    pressed = isinstance(interactive, dict) and interactive.get("type") == "button_reply"
    return pressed or payload.get("type") == "button"
