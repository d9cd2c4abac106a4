"""Rows that the store's tests begin from, written by hand so that a test may begin anywhere."""

import uuid
from datetime import timedelta
from typing import Any

from store.clock import current_time
from store.connection import Connection

ACCOUNT = "shop"
NUMBER = "100200300"


async def new_account(db: Connection, account: str = ACCOUNT, number: str = NUMBER) -> None:
    """An account with a business number."""
    await db.execute(
        "INSERT INTO accounts (id, name, time_zone) VALUES ($1, 'Shop', 'America/Sao_Paulo')",
        account,
    )
    await db.execute("INSERT INTO business_numbers VALUES ($1, $2)", number, account)


async def new_conversation(db: Connection) -> uuid.UUID:
    """A conversation of a person of its own."""
    conversation = uuid.uuid4()
    await db.execute(
        "INSERT INTO conversations (id, account_id, phone_number_id, user_id)"
        " VALUES ($1, $2, $3, $4)",
        conversation,
        ACCOUNT,
        NUMBER,
        f"BR.{conversation.hex}",
    )
    return conversation


async def new_turn(
    db: Connection, conversation: uuid.UUID, outcome: str | None = "reply"
) -> uuid.UUID:
    """A turn, closed unless `outcome` is None."""
    turn = uuid.uuid4()
    await db.execute(
        "INSERT INTO turns (id, conversation_id, opened_at, closed_at, outcome) VALUES"
        " ($1, $2, now(), CASE WHEN $3::text IS NULL THEN NULL ELSE now() END, $3)",
        turn,
        conversation,
        outcome,
    )
    return turn


async def new_action(db: Connection, status: str = "pending", **columns: Any) -> str:
    """An action in this status, of a conversation of its own; `columns` replace the defaults."""
    conversation = columns.pop("conversation_id", None) or await new_conversation(db)
    now = await current_time(db)
    action = {
        "id": uuid.uuid4().hex,
        "conversation_id": conversation,
        "account_id": ACCOUNT,
        "turn_id": await new_turn(db, conversation),
        "tool": "create_pix_charge",
        "tool_version": 1,
        "risk": "critical",
        "confirm": "button",
        "effect": "provider",
        "payload": {"amount_cents": 15000},
        "payload_hash": uuid.uuid4().hex * 2,
        "summary": "Pix de R$ 150,00",
        "request": {"body": "{}"},
        "digest": "d" * 64,
        "business_key": uuid.uuid4().hex * 2,
        "phone_number_id": NUMBER,
        "user_id": f"BR.{conversation.hex}",
        "wa_id": "5511988880001",
        "role": "owner",
        "status": status,
        "expires_at": now + timedelta(minutes=10),
        "created_at": now,
        **columns,
    }
    places = ", ".join(f"${n}" for n in range(1, len(action) + 1))
    await db.execute(
        f"INSERT INTO actions ({', '.join(action)}) VALUES ({places})", *action.values()
    )
    return str(action["id"])
