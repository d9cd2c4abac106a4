"""The far sides' journals of a whole system as records in one order, for the judge."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from simulators.whatsapp.models import ChatMessage, SendRecord
from tests.integration.lying.asked import Books, Customer
from tests.integration.lying.books import BookKeeper
from tests.integration.lying.entering import (
    ACCOUNT,
    JOAO_DOCUMENT,
    JOAO_MAIL,
    SECRET_DOCUMENT,
    SECRET_MAIL,
)
from tests.integration.lying.ground import Ground
from tests.integration.lying.plans import Liar
from tests.integration.lying.records import (
    Answered,
    Delivered,
    FarSide,
    Pressed,
    Record,
    Sent,
    Trip,
    Wrote,
)
from tests.integration.lying.whole import LATE_S, Crowd, Sides
from tests.integration.lying.wires import Scene

_TOKEN = re.compile(r"m([0-9]+)x[0-9]+q")
READ_EVERY_S = 0.1


@dataclass
class Watcher:
    """Reads the business's own books all the time, since they keep no journal."""

    ground: Ground
    scene: Scene = field(default_factory=Scene)
    keeper: BookKeeper = field(default_factory=BookKeeper)

    async def read(self, sides: Sides) -> None:
        """Once."""
        self.scene.now = datetime.now(UTC)
        async with sides.pool.acquire() as connection:
            await self.keeper.read(connection, self.ground, self.scene)


@asynccontextmanager
async def watching(sides: Sides, number: str) -> AsyncIterator[Watcher]:
    """Watch the books of the demo's account and of the one beside it."""
    ground = Ground(
        account=ACCOUNT, number=number, other_account="alheia", other_number="", books=Books()
    )
    watcher = Watcher(ground)
    await watcher.read(sides)

    async def watch() -> None:
        while True:
            await asyncio.sleep(READ_EVERY_S)
            await watcher.read(sides)

    task = asyncio.create_task(watch())
    try:
        yield watcher
    finally:
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        await task  # it broke off by what it saw
    await watcher.read(sides)


async def truth(crowd: Crowd, watcher: Watcher, late_at: float) -> tuple[FarSide, Books]:
    """All records in order of time; after `late_at` (epoch seconds) clocks were moved on."""
    sides, number = crowd.sides, watcher.ground.number
    by_name = {one.name: one for one in crowd.liars}
    records: list[Record] = [*watcher.scene.far.records]
    for send in (await sides.whatsapp.journal()).sends:
        if send.kind == "message" and send.accepted:
            records += _sent(send, number, by_name, late_at)
    for liar in crowd.liars:
        for message in await sides.whatsapp.messages(liar.name, author="person"):
            records.append(_from_person(message, number, liar, late_at))
    for entry in await sides.claude.journal():
        records.append(_answered(entry, number, crowd.liars, late_at))
    for entry in await sides.payments.journal():
        if entry["method"] != "GET":
            records.append(_trip(entry, late_at))
    far = FarSide(sorted(records, key=lambda one: one.at))
    return far, await _books(crowd, number)


def _when(at: float, late_at: float) -> datetime:
    moved = LATE_S if at >= late_at else 0.0
    return datetime.fromtimestamp(at, UTC) + timedelta(seconds=moved)


def _sent(send: SendRecord, number: str, by_name: dict[str, Liar], late_at: float) -> list[Record]:
    assert send.person is not None
    assert send.wamid is not None
    at, to = _when(send.at, late_at), by_name[send.person].user_id
    sent = Sent(at=at, number=number, to=to, wamid=send.wamid, body=send.body)
    return [sent, Delivered(at=at, wamid=send.wamid)]


def _from_person(message: ChatMessage, number: str, liar: Liar, late_at: float) -> Record:
    at = _when(message.at, late_at)
    if message.button_id is not None:
        return Pressed(
            at=at,
            number=number,
            by=liar.user_id,
            button=message.button_id,
            under=message.context_id,
        )
    plain = message.context_id is None
    return Wrote(at=at, number=number, by=liar.user_id, text=message.text, plain=plain)


def _answered(entry: dict[str, Any], number: str, liars: list[Liar], late_at: float) -> Answered:
    token = _TOKEN.findall(entry["user_text"])
    whole = _TOKEN.search(entry["user_text"])
    answer = entry["response"] or {}
    may_call = (entry["tool_choice"] or {}).get("type") != "none"
    return Answered(
        at=_when(entry["time"], late_at),
        number=number,
        by=liars[int(token[-1])].user_id if token else "",
        kind="",
        turn=whole[0] if whole else "",
        offered=frozenset(entry["tools"]) if may_call else frozenset(),
        stop_reason=answer.get("stop_reason"),
        calls=tuple(one for one in answer.get("content", []) if one.get("type") == "tool_use"),
        request=str(entry["messages"]),
    )


def _trip(entry: dict[str, Any], late_at: float) -> Trip:
    return Trip(
        at=_when(entry["at"], late_at),
        key=entry["key"] or "",
        method=entry["method"],
        path=entry["path"],
        body=entry["body"],
        acted=entry["acted"] and not entry["replayed"],
    )


async def _books(crowd: Crowd, number: str) -> Books:
    rows = await crowd.sides.pool.fetch("SELECT id, name, document FROM customers")
    refs = await crowd.sides.pool.fetch("SELECT id, provider_ref FROM charges")
    others = [SECRET_MAIL, SECRET_DOCUMENT]
    public = [*others, JOAO_MAIL, JOAO_DOCUMENT, "available_cents"]
    return Books(
        customers=[
            Customer(id=row["id"], name=row["name"], document=row["document"] or "") for row in rows
        ],
        refs={row["id"]: row["provider_ref"] for row in refs},
        recipient="re_simulated",
        secrets={(number, liar.user_id): public if liar.public else others for liar in crowd.liars},
        read_at_once=False,
    )
