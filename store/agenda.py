"""The agenda: professionals, their hours, and who holds which time.

The last line is the table's own: no two live bookings of a professional overlap, whoever wrote
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

import asyncpg

from store.connection import Connection


class SlotTakenError(Exception):
    """The table's own constraint found another live booking at this time. The transaction is lost:
    whoever catches this must roll it back."""


@dataclass(frozen=True, kw_only=True)
class Professional:
    """A row of `professionals`; hours are in the account's zone, weekdays ISO (1 is Monday)."""

    id: int
    name: str
    active: bool
    slot_minutes: int
    opens: time
    closes: time
    weekdays: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class Booking:
    """A row of `bookings` with the names that belong to it. `action_id` holds it now."""

    id: int
    professional_id: int
    professional_name: str
    customer_id: int
    customer_name: str
    starts_at: datetime
    ends_at: datetime
    cancelled: bool
    action_id: str | None


@dataclass(frozen=True, kw_only=True)
class NewBooking:
    """What a booking is made of."""

    account_id: str
    professional_id: int
    customer_id: int
    starts_at: datetime
    ends_at: datetime
    action_id: str


_BOOKINGS = """
    SELECT b.id, b.professional_id, p.name AS professional_name, b.customer_id,
           c.name AS customer_name, b.starts_at, b.ends_at,
           b.cancelled_at IS NOT NULL AS cancelled, b.action_id
    FROM bookings b
    JOIN professionals p ON p.id = b.professional_id
    JOIN customers c ON c.id = b.customer_id
"""


def _booking(row: asyncpg.Record) -> Booking:
    return Booking(**dict(row))


async def professionals(connection: Connection, account_id: str) -> list[Professional]:
    """Return the account's active professionals, by name."""
    rows = await connection.fetch(
        """
        SELECT id, name, active, slot_minutes, opens, closes, weekdays
        FROM professionals WHERE account_id = $1 AND active ORDER BY name, id
        """,
        account_id,
    )
    return [Professional(**{**dict(row), "weekdays": frozenset(row["weekdays"])}) for row in rows]


async def professional(
    connection: Connection, account_id: str, professional_id: int
) -> Professional | None:
    """Return the active professional of this id."""
    found = await professionals(connection, account_id)
    return next((one for one in found if one.id == professional_id), None)


async def booking(connection: Connection, account_id: str, booking_id: int) -> Booking | None:
    """Return the account's booking of this id, cancelled or not."""
    row = await connection.fetchrow(
        f"{_BOOKINGS} WHERE b.account_id = $1 AND b.id = $2", account_id, booking_id
    )
    return _booking(row) if row else None


async def bookings_from(
    connection: Connection,
    account_id: str,
    *,
    after: datetime,
    customer_id: int | None,
    limit: int,
) -> list[Booking]:
    """Return live bookings that end after `after`, the next first; of one customer or of all."""
    rows = await connection.fetch(
        f"""
        {_BOOKINGS}
        WHERE b.account_id = $1 AND b.cancelled_at IS NULL AND b.ends_at > $2
          AND ($3::bigint IS NULL OR b.customer_id = $3)
        ORDER BY b.starts_at, b.id LIMIT $4
        """,
        account_id,
        after,
        customer_id,
        limit,
    )
    return [_booking(row) for row in rows]


async def bookings_of(
    connection: Connection,
    account_id: str,
    professional_ids: Sequence[int],
    *,
    after: datetime,
    before: datetime,
) -> list[Booking]:
    """Return live bookings of these professionals that overlap `after` to `before`."""
    rows = await connection.fetch(
        f"""
        {_BOOKINGS}
        WHERE b.account_id = $1 AND b.professional_id = ANY ($2::bigint[])
          AND b.cancelled_at IS NULL AND b.starts_at < $4 AND b.ends_at > $3
        ORDER BY b.starts_at
        """,
        account_id,
        list(professional_ids),
        after,
        before,
    )
    return [_booking(row) for row in rows]


async def _unless_taken(connection: Connection, sql: str, *values: object) -> Any:
    try:
        return await connection.fetchval(sql, *values)
    except asyncpg.ExclusionViolationError as error:
        raise SlotTakenError(str(error)) from error


async def insert_booking(connection: Connection, new: NewBooking) -> int:
    """Insert and return the id. Raises SlotTakenError."""
    booking_id: int = await _unless_taken(
        connection,
        """
        INSERT INTO bookings
            (account_id, professional_id, customer_id, starts_at, ends_at, action_id)
        VALUES ($1, $2, $3, $4, $5, $6) RETURNING id
        """,
        new.account_id,
        new.professional_id,
        new.customer_id,
        new.starts_at,
        new.ends_at,
        new.action_id,
    )
    return booking_id


async def move_booking(
    connection: Connection,
    booking_id: int,
    *,
    old_starts_at: datetime,
    held_by: str | None,
    new: NewBooking,
) -> bool:
    """Move a live booking if it still starts at `old_starts_at` and `held_by` still holds it.

    Returns whether it did. Raises SlotTakenError.
    """
    moved = await _unless_taken(
        connection,
        """
        UPDATE bookings SET starts_at = $5, ends_at = $6, action_id = $7
        WHERE account_id = $1 AND id = $2 AND cancelled_at IS NULL AND starts_at = $3
          AND action_id IS NOT DISTINCT FROM $4
          AND professional_id = $8 AND customer_id = $9
        RETURNING id
        """,
        new.account_id,
        booking_id,
        old_starts_at,
        held_by,
        new.starts_at,
        new.ends_at,
        new.action_id,
        new.professional_id,
        new.customer_id,
    )
    return moved is not None


async def cancel_booking(
    connection: Connection,
    account_id: str,
    booking_id: int,
    *,
    starts_at: datetime,
    held_by: str | None,
) -> bool:
    """Cancel a live booking if it is still as it was shown; whether it did."""
    cancelled = await connection.fetchval(
        """
        UPDATE bookings SET cancelled_at = clock_timestamp()
        WHERE account_id = $1 AND id = $2 AND cancelled_at IS NULL AND starts_at = $3
          AND action_id IS NOT DISTINCT FROM $4
        RETURNING id
        """,
        account_id,
        booking_id,
        starts_at,
        held_by,
    )
    return cancelled is not None
