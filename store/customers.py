"""Customers, and which of them a person is.

The trap: a phone number is handed on to somebody else. So a link that knows a user id is found by
that id alone, and a phone finds only links that never knew one (design §6).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from domain.people import Person
from store.connection import Connection

_COLUMNS = "c.id, c.name, c.document, c.email, c.blocked"


@dataclass(frozen=True, kw_only=True)
class Customer:
    """A row of `customers`. `document` is canonical and complete: mask it before showing it."""

    id: int
    name: str
    document: str | None
    email: str | None
    blocked: bool


def _customer(row: asyncpg.Record) -> Customer:
    return Customer(
        id=row["id"],
        name=row["name"],
        document=row["document"],
        email=row["email"],
        blocked=row["blocked"],
    )


async def get(connection: Connection, account_id: str, customer_id: int) -> Customer | None:
    """Return the account's customer of this id."""
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS} FROM customers c WHERE c.account_id = $1 AND c.id = $2",
        account_id,
        customer_id,
    )
    return _customer(row) if row else None


async def linked_to(connection: Connection, account_id: str, person: Person) -> Customer | None:
    """Return the customer that this person is: by user id first, by phone second."""
    row = await connection.fetchrow(
        f"""
        SELECT {_COLUMNS}
        FROM customer_links l
        JOIN customers c ON (c.account_id, c.id) = (l.account_id, l.customer_id)
        WHERE l.account_id = $1 AND (l.user_id = $2 OR (l.user_id IS NULL AND l.wa_id = $3))
        ORDER BY l.user_id IS NULL
        LIMIT 1
        """,
        account_id,
        person.user_id,
        person.wa_id,
    )
    return _customer(row) if row else None


async def by_document(connection: Connection, account_id: str, document: str) -> Customer | None:
    """Return the account's customer with this canonical CPF or CNPJ."""
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS} FROM customers c WHERE c.account_id = $1 AND c.document = $2",
        account_id,
        document,
    )
    return _customer(row) if row else None


async def search(
    connection: Connection, account_id: str, words: Sequence[str], *, limit: int
) -> list[Customer]:
    """Return customers whose name holds a word beginning with each of `words`, by name.

    `words` come from `domain.names.search_words`: without accents, in small letters.
    """
    rows = await connection.fetch(
        f"""
        SELECT {_COLUMNS}
        FROM customers c,
             LATERAL (SELECT ' ' || lower(regexp_replace(
                 normalize(c.name, NFKD), '[\u0300-\u036f]', '', 'g')) AS plain) n
        WHERE c.account_id = $1 AND n.plain LIKE ALL ($2::text[])
        ORDER BY c.name, c.id
        LIMIT $3
        """,
        account_id,
        [f"% {_literal(word)}%" for word in words],
        limit,
    )
    return [_customer(row) for row in rows]


def _literal(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


async def change_email(
    connection: Connection,
    account_id: str,
    customer_id: int,
    *,
    old_email: str | None,
    new_email: str,
) -> bool:
    """Set the address if it is still `old_email`; whether it was."""
    changed = await connection.fetchval(
        """
        UPDATE customers SET email = $4
        WHERE account_id = $1 AND id = $2 AND email IS NOT DISTINCT FROM $3
        RETURNING id
        """,
        account_id,
        customer_id,
        old_email,
        new_email,
    )
    return changed is not None
