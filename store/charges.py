"""Charges, the wallet and the accounts that money may go to.

The trap: a mirror that fails after the money moved would leave the books behind the world. So the
writes here take whatever the provider proved: they clamp, and they repeat without effect.
"""

from dataclasses import dataclass
from datetime import date, datetime

import asyncpg

from store.connection import Connection

MAX_REF_CHARS = 500
MAX_CODE_CHARS = 4096
"""As wide as the table's columns."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """A row of `charges` with its customer's name and document. Amounts in cents."""

    id: int
    customer_id: int
    customer_name: str
    document: str | None
    provider_ref: str
    amount_cents: int
    refunded_cents: int
    due_date: date
    created_at: datetime
    paid_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class NewCharge:
    """What a provider proved that it created."""

    account_id: str
    customer_id: int
    action_id: str
    provider_ref: str
    amount_cents: int
    due_date: date
    pix_code: str


@dataclass(frozen=True, kw_only=True)
class Recipient:
    """An account of the business that transfers go to; `provider_ref` is the provider's id."""

    id: int
    name: str
    provider_ref: str
    blocked: bool


_CHARGES = """
    SELECT h.id, h.customer_id, c.name AS customer_name, c.document, h.provider_ref,
           h.amount_cents, h.refunded_cents, h.due_date, h.created_at, h.paid_at
    FROM charges h JOIN customers c ON c.id = h.customer_id
"""


def _charge(row: asyncpg.Record) -> Charge:
    return Charge(**dict(row))


async def charge(connection: Connection, account_id: str, charge_id: int) -> Charge | None:
    """Return the account's charge of this id."""
    row = await connection.fetchrow(
        f"{_CHARGES} WHERE h.account_id = $1 AND h.id = $2", account_id, charge_id
    )
    return _charge(row) if row else None


async def charge_by_ref(
    connection: Connection, account_id: str, provider_ref: str
) -> Charge | None:
    """Return the account's charge that the provider knows under this id."""
    row = await connection.fetchrow(
        f"{_CHARGES} WHERE h.account_id = $1 AND h.provider_ref = $2 ORDER BY h.id LIMIT 1",
        account_id,
        provider_ref,
    )
    return _charge(row) if row else None


async def charges_of(
    connection: Connection, account_id: str, customer_id: int | None, *, limit: int
) -> list[Charge]:
    """Return charges of one customer or of all, the newest first."""
    rows = await connection.fetch(
        f"""
        {_CHARGES}
        WHERE h.account_id = $1 AND ($2::bigint IS NULL OR h.customer_id = $2)
        ORDER BY h.created_at DESC, h.id DESC LIMIT $3
        """,
        account_id,
        customer_id,
        limit,
    )
    return [_charge(row) for row in rows]


async def insert_charge(connection: Connection, new: NewCharge) -> None:
    """Write a proved charge; a repeat for the same action changes nothing.

    A reference or code that does not fit its column is left empty: half of it would be of no use,
    and the whole stands in the evidence.
    """
    await connection.execute(
        """
        INSERT INTO charges (account_id, customer_id, action_id, provider_ref, amount_cents,
                             due_date, pix_code)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (action_id) DO NOTHING
        """,
        new.account_id,
        new.customer_id,
        new.action_id,
        new.provider_ref if len(new.provider_ref) <= MAX_REF_CHARS else "",
        new.amount_cents,
        new.due_date,
        new.pix_code if len(new.pix_code) <= MAX_CODE_CHARS else "",
    )


async def add_refund(
    connection: Connection, account_id: str, charge_id: int, *, total_refunded_cents: int
) -> None:
    """Raise what was refunded of a charge to `total_refunded_cents`, at most to its amount.

    A total, not a difference, so that a repeat changes nothing; clamped, because the money moved
    already and a CHECK must not undo the record of it.
    """
    await connection.execute(
        """
        UPDATE charges SET refunded_cents = least(amount_cents, greatest(refunded_cents, $3))
        WHERE account_id = $1 AND id = $2
        """,
        account_id,
        charge_id,
        total_refunded_cents,
    )


async def available_cents(connection: Connection, account_id: str) -> int | None:
    """Return what the wallet holds in cents; None without a wallet."""
    cents: int | None = await connection.fetchval(
        "SELECT available_cents FROM wallets WHERE account_id = $1", account_id
    )
    return cents


async def cents_on_their_way(connection: Connection, account_id: str, tool: str) -> int:
    """Return the sum of the amounts of this tool's actions that are executing.

    Money whose transfer is under way or unknown is not available, though the wallet still has it.
    """
    cents: int = await connection.fetchval(
        """
        SELECT coalesce(sum((payload->>'amount_cents')::bigint), 0)::bigint FROM actions
        WHERE account_id = $1 AND tool = $2 AND status = 'executing'
        """,
        account_id,
        tool,
    )
    return cents


async def lower_wallet(connection: Connection, account_id: str, *, cents: int) -> None:
    """Take `cents` out of the wallet, never below zero.

    The provider has moved the money. If the wallet's copy is behind the provider's balance, failing
    here would lose the record of a transfer that happened.
    """
    await connection.execute(
        "UPDATE wallets SET available_cents = greatest(0, available_cents - $2)"
        " WHERE account_id = $1",
        account_id,
        cents,
    )


async def recipients(connection: Connection, account_id: str) -> list[Recipient]:
    """Return the accounts that money may go to, by name."""
    rows = await connection.fetch(
        "SELECT id, name, provider_ref, blocked FROM recipients WHERE account_id = $1"
        " ORDER BY name, id",
        account_id,
    )
    return [Recipient(**dict(row)) for row in rows]
