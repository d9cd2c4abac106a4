"""What the tests of the tools share: the demo's people, and a small stand-in for the core."""

import uuid
from datetime import datetime
from typing import Any

from domain.business_key import business_key
from domain.canonical import sha256_hex
from domain.people import Person, Role, Who
from gateways.pagarme import PagarmeGateway
from store.connection import Connection
from tools.contract import (
    DatabaseContext,
    DatabaseTool,
    EffectTool,
    NoLongerPossible,
    Payload,
    Prepared,
    ProviderTool,
    ReadTool,
)
from tools.registry import load_tools

BUSINESS = "111222333"
RECIPIENT = "re_simulated"
TOOLS = load_tools(["tools.scheduling", "tools.customers", "tools.payments"])


def who(user_id: str, role: Role, *, wa_id: str | None = None) -> Who:
    """A person of the demo account."""
    return Who(
        account_id="demo",
        time_zone="America/Sao_Paulo",
        language="pt-BR",
        person=Person(user_id=user_id, wa_id=wa_id),
        role=role,
    )


MARIA = who("BR.1000000000000001", Role.OWNER, wa_id="5511988880001")
CARLOS = who("BR.1000000000000002", Role.PUBLIC, wa_id="5511988880002")
ANA = who("BR.1000000000000003", Role.PUBLIC)
STRANGER = who("BR.9", Role.PUBLIC, wa_id="5511900000009")


async def set_clock(db: Connection, moment: str) -> None:
    """Set the database's clock to an ISO moment."""
    await db.execute("UPDATE clock.moment SET at = $1", datetime.fromisoformat(moment))


async def look_up(db: Connection, tool: str, person: Who, **data: Any) -> Any:
    """What a read tool answers, in a read-only transaction."""
    found = TOOLS.get(tool)
    assert isinstance(found, ReadTool)
    async with db.transaction(readonly=True):
        return await found.look_up(found.input_model(**data), person, db)


async def prepare(db: Connection, tool: str, person: Who, **data: Any) -> Prepared:
    """What a tool proposes, in a read-only transaction."""
    found = effect(tool)
    async with db.transaction(readonly=True):
        prepared = await found.prepare(found.input_model(**data), person, db)
    sha256_hex(prepared.payload)  # refuses floats and the like
    return prepared


async def revalidate(db: Connection, tool: str, person: Who, payload: Payload) -> str | None:
    """Why it is no longer possible, or None."""
    async with db.transaction(readonly=True):
        answer: NoLongerPossible | None = await effect(tool).revalidate(payload, person, db)
    return answer.reason if answer else None


def effect(tool: str) -> EffectTool[Any]:
    """The effect tool of this name."""
    found = TOOLS.get(tool)
    assert isinstance(found, EffectTool)
    return found


async def executing(db: Connection, tool: str, payload: Payload, person: Who = MARIA) -> str:
    """Insert an action that is executing, and return its id."""
    action, conversation, turn = uuid.uuid4().hex, uuid.uuid4(), uuid.uuid4()
    await db.execute(
        "INSERT INTO conversations (id, account_id, phone_number_id, user_id)"
        " VALUES ($1, 'demo', $2, $3)",
        conversation,
        BUSINESS,
        f"{person.person.user_id}.{action}",
    )
    await db.execute(
        "INSERT INTO turns (id, conversation_id, opened_at) VALUES ($1, $2, clock_timestamp())",
        turn,
        conversation,
    )
    found = effect(tool)
    await db.execute(
        """
        INSERT INTO actions (id, conversation_id, account_id, turn_id, tool, tool_version, risk,
            confirm, effect, payload, payload_hash, summary, request, digest, phone_number_id, role,
            status, expires_at, created_at)
        VALUES ($1, $2, 'demo', $3, $4, 1, $5, $6, $7, $8, $9, 'x', '{}', repeat('0', 64), $10,
            'owner', 'executing', clock_timestamp(), clock_timestamp())
        """,
        action,
        conversation,
        turn,
        tool,
        found.risk.value,
        found.confirm.value,
        found.effect.value,
        payload,
        sha256_hex(payload),
        BUSINESS,
    )
    return action


async def run(db: Connection, tool: str, payload: Payload, person: Who = MARIA) -> Payload:
    """Execute a database tool in one transaction, as the core does; its result."""
    found = effect(tool)
    assert isinstance(found, DatabaseTool)
    action = await executing(db, tool, payload, person)
    async with db.transaction():
        context = DatabaseContext(transaction=db, who=person, action_id=action)
        result = await found.execute(payload, action, context)
        await db.execute("UPDATE actions SET status = 'executed' WHERE id = $1", action)
    return {**result, "action": action}


async def record(db: Connection, tool: str, payload: Payload, data: Payload) -> Payload:
    """Mirror a provider's proved effect, as the core does; the action's result."""
    found = effect(tool)
    assert isinstance(found, ProviderTool)
    action = await executing(db, tool, payload)
    result = found.result(payload, data)
    async with db.transaction():
        context = DatabaseContext(transaction=db, who=MARIA, action_id=action)
        await found.record(payload, result, context)
        await db.execute("UPDATE actions SET status = 'executed' WHERE id = $1", action)
    return result


def key_of(prepared: Prepared) -> str:
    """The business key of a proposal, as the core makes it."""
    assert prepared.business_key is not None
    return business_key("demo", prepared.business_key)


def gateway(recipient_id: str = RECIPIENT) -> PagarmeGateway:
    """A gateway for rendering; nothing is sent."""
    return PagarmeGateway(
        base_url="http://127.0.0.1:1",
        api_key="sk_test",
        recipient_id=recipient_id,
        allow_plain_http=True,
    )


async def customer_id(db: Connection, name: str) -> int:
    """The id of the demo's customer of this name."""
    found: int = await db.fetchval("SELECT id FROM customers WHERE name = $1", name)
    return found
