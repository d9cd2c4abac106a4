"""Brings webhooks to the product: signed, several at once, again and again until a 200.

Meta keeps no order between deliveries and repeats what was not answered with 200; each
delivery therefore runs in its own task. Holding and releasing are for tests.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import uuid4

import httpx

from simulators.whatsapp.config import SimulatorConfig
from simulators.whatsapp.journal import Journal
from simulators.whatsapp.models import WebhookRecord
from simulators.whatsapp.signing import signature
from simulators.whatsapp.storage import Storage

HoldKind = Literal["all", "message", "status"]
KEPT_DELIVERIES = 5_000


@dataclass(eq=False)
class Delivery:
    """One webhook body. `status_codes` has one entry a POST; none where no answer came."""

    id: str
    kind: str
    wamids: list[str]
    click: bool
    raw: bytes
    signature: str | None = None
    retried: bool = True
    status_codes: list[int | None] = field(default_factory=list)
    done: bool = False
    tried: asyncio.Event = field(default_factory=asyncio.Event)


class Courier:
    """Owner of the HTTP client to the product and of all deliveries in flight."""

    def __init__(
        self,
        config: SimulatorConfig,
        storage: Storage,
        journal: Journal,
        *,
        on_delivered: Callable[[Sequence[str]], None],
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._config = config
        self._storage = storage
        self._journal = journal
        self._on_delivered = on_delivered
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: list[Delivery] = []
        self._hold: HoldKind | None = None
        self.webhook_url = config.webhook_url
        self.history: deque[Delivery] = deque(maxlen=KEPT_DELIVERIES)
        self.undelivered = 0

    def resume(self) -> None:
        """Take up the webhooks that an earlier run left undelivered."""
        for webhook_id, kind, wamids, click, raw in list(self._storage.webhooks()):
            self._start(Delivery(webhook_id, kind, wamids, click, raw))

    def submit(
        self,
        raw: bytes,
        *,
        kind: str,
        wamids: list[str],
        click: bool,
        signature: str | None = None,
        retried: bool = True,
    ) -> Delivery:
        """Start to deliver a body, or keep it while deliveries are held."""
        delivery = Delivery(uuid4().hex, kind, wamids, click, raw, signature, retried)
        if retried:
            self._storage.save_webhook(
                delivery.id,
                seq=self._journal.next_seq(),
                kind=kind,
                wamids=wamids,
                click=click,
                raw=raw,
            )
        self._start(delivery)
        return delivery

    def hold(self, kind: HoldKind) -> None:
        """Keep new webhooks of this kind back until `release`."""
        self._hold = kind

    def release(self) -> int:
        """Deliver what was held, in order of submission; return how many."""
        self._hold, waiting, self._waiting = None, self._waiting, []
        for delivery in waiting:
            self._spawn(delivery)
        return len(waiting)

    def is_held(self, delivery: Delivery) -> bool:
        """Tell whether a delivery waits for `release`."""
        return delivery in self._waiting

    @property
    def held(self) -> int:
        """How many webhooks are being held."""
        return len(self._waiting)

    async def repeat(self, delivery: Delivery, *, times: int, concurrent: bool) -> list[int | None]:
        """POST the same bytes again `times` times; return the status codes."""
        if concurrent:
            return list(await asyncio.gather(*(self.post(delivery) for _ in range(times))))
        return [await self.post(delivery) for _ in range(times)]

    async def post(self, delivery: Delivery) -> int | None:
        """POST once and write the journal; return the status code, none without an answer."""
        self._journal.webhook_started(click=delivery.click)
        started, code, error = time.monotonic(), None, None
        try:
            response = await self._http().post(
                self.webhook_url, content=delivery.raw, headers=self._headers(delivery)
            )
            code = response.status_code
        except httpx.HTTPError as exc:
            error = type(exc).__name__
        delivery.status_codes.append(code)
        self._journal.webhooks.append(
            WebhookRecord(
                seq=self._journal.next_seq(),
                at=time.time(),
                delivery=delivery.id,
                kind=delivery.kind,
                wamids=delivery.wamids,
                click=delivery.click,
                attempt=len(delivery.status_codes),
                status_code=code,
                error=error,
                seconds=round(time.monotonic() - started, 4),
            )
        )
        if code == httpx.codes.OK:
            self._on_delivered(delivery.wamids)
        return code

    async def get(self, params: dict[str, str]) -> httpx.Response:
        """GET the webhook, as Meta does once to verify it."""
        return await self._http().get(self.webhook_url, params=params)

    async def forget(self) -> None:
        """Stop every delivery and forget all of them."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks))
        self._waiting.clear()
        self.history.clear()
        self._hold = None
        self.undelivered = 0

    async def close(self) -> None:
        """Stop; what is undelivered stays in the state file."""
        await self.forget()
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _start(self, delivery: Delivery) -> None:
        self.history.append(delivery)
        self.undelivered += 1
        if self._hold in ("all", delivery.kind):
            self._waiting.append(delivery)
        else:
            self._spawn(delivery)

    def _spawn(self, delivery: Delivery) -> None:
        task = asyncio.get_running_loop().create_task(self._until_accepted(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _until_accepted(self, delivery: Delivery) -> None:
        config, delay = self._config, self._config.retry_initial_seconds
        give_up_at = time.monotonic() + config.retry_total_seconds
        try:
            while await self.post(delivery) != httpx.codes.OK and delivery.retried:
                delivery.tried.set()
                if time.monotonic() + delay > give_up_at:
                    break
                await asyncio.sleep(delay)
                delay = min(max(delay, 0.05) * config.retry_factor, config.retry_max_seconds)
        finally:
            delivery.tried.set()
        delivery.done = True
        self.undelivered -= 1
        self._storage.drop_webhook(delivery.id)

    def _headers(self, delivery: Delivery) -> dict[str, str]:
        signed = delivery.signature
        if signed is None:
            signed = signature(delivery.raw, self._config.app_secret)
        headers = {"Content-Type": "application/json", "User-Agent": "facebookexternalua"}
        return {**headers, "X-Hub-Signature-256": signed} if signed else headers

    def _http(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(
                timeout=self._config.webhook_timeout_seconds,
                transport=self._transport,
                trust_env=False,
                limits=httpx.Limits(max_connections=200, max_keepalive_connections=50),
            )
        return self._client
