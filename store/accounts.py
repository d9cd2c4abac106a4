"""Accounts, their numbers, members and customers: written by operators, read by everybody.

What an operator names wrongly comes back as an OperatorError with the value in it; the constraints
of the tables are the last line, not the first answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from domain.canonical import JsonValue
from domain.choosing import MOST_NAME_CHARS
from domain.errors import OperatorError
from domain.people import Person, Role
from domain.texts import texts_for
from store.connection import Connection


@dataclass(frozen=True, kw_only=True)
class Account:
    """A row of `accounts` with its business numbers."""

    id: str
    name: str
    time_zone: str
    language: str
    gateway: str | None
    settings: dict[str, Any]
    numbers: list[str]


@dataclass(frozen=True, kw_only=True)
class Member:
    """A row of `members` that is active."""

    id: int
    name: str
    role: Role
    person: Person


@dataclass(frozen=True, kw_only=True)
class CustomerRow:
    """A row of `customers`; `document` is complete: mask it before showing it."""

    id: int
    name: str
    document: str | None
    email: str | None
    blocked: bool


@dataclass(frozen=True, kw_only=True)
class Configured:
    """What of an account a worker checks at its start."""

    id: str
    language: str
    prompt_file: str | None
    gateway: str | None


async def configured(connection: Connection) -> list[Configured]:
    """Each account's language, prompt file and gateway, by id."""
    rows = await connection.fetch(
        "SELECT id, language, prompt_file, gateway FROM accounts ORDER BY id"
    )
    return [Configured(**row) for row in rows]


async def gateway_config_of(
    connection: Connection, *, account: str, gateway: str
) -> dict[str, Any] | None:
    """The configuration of an account's gateway, its secrets still references; None where the
    account is not there or has another gateway."""
    config: dict[str, Any] | None = await connection.fetchval(
        "SELECT gateway_config FROM accounts WHERE id = $1 AND gateway = $2", account, gateway
    )
    return config


async def real_gateways(connection: Connection) -> list[str]:
    """The accounts whose gateway may move real money, by id."""
    rows = await connection.fetch(
        "SELECT id, gateway_config FROM accounts WHERE gateway IS NOT NULL ORDER BY id"
    )
    return [row["id"] for row in rows if moves_real_money(row["gateway_config"])]


def moves_real_money(config: Mapping[str, object]) -> bool:
    """Whether a gateway's configuration may move real money.

    Its mode says so, which the gateway holds against its key when it is built; whatever else than
    `sandbox` stands there is real. One without a mode is real unless it is reached by plain http,
    which no provider speaks: a simulator.
    """
    if "mode" in config:
        return config["mode"] != "sandbox"
    return urlsplit(str(config.get("base_url", ""))).scheme != "http"


async def add_account(
    connection: Connection,
    *,
    account: str,
    name: str,
    time_zone: str,
    language: str,
    prompt_file: str | None,
    gateway: str | None,
    gateway_config: Mapping[str, JsonValue],
    settings: Mapping[str, JsonValue],
) -> None:
    """Make an account. Raises OperatorError if there is one of this id, or no texts are written in
    its language."""
    texts_for(language)
    made = await connection.fetchval(
        """
        INSERT INTO accounts
            (id, name, time_zone, language, prompt_file, gateway, gateway_config, settings)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING RETURNING id
        """,
        account,
        name,
        time_zone,
        language,
        prompt_file,
        gateway,
        dict(gateway_config),
        dict(settings),
    )
    if made is None:
        raise OperatorError(f"account {account!r} exists already")


async def list_accounts(connection: Connection) -> list[Account]:
    """All accounts by id."""
    rows = await connection.fetch(
        """
        SELECT a.id, a.name, a.time_zone, a.language, a.gateway, a.settings,
               array(SELECT n.phone_number_id FROM business_numbers n WHERE n.account_id = a.id
                     UNION ALL SELECT s.phone_number_id || ' (members)' FROM shared_numbers s
                     WHERE s.account_id = a.id ORDER BY 1) AS numbers
        FROM accounts a ORDER BY a.id
        """
    )
    return [Account(**dict(row)) for row in rows]


async def require_account(connection: Connection, account: str) -> None:
    """Raise OperatorError unless there is such an account."""
    if await connection.fetchval("SELECT 1 FROM accounts WHERE id = $1", account) is None:
        raise OperatorError(f"there is no account {account!r}; see `aval accounts list`")


async def add_number(
    connection: Connection, *, account: str, phone_number_id: str, display: str
) -> None:
    """Give a business number to an account. Raises OperatorError if another one has it."""
    await require_account(connection, account)
    await connection.execute(
        "INSERT INTO business_numbers (phone_number_id, account_id, display)"
        " VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        phone_number_id,
        account,
        display,
    )
    holder = await connection.fetchval(
        "SELECT account_id FROM business_numbers WHERE phone_number_id = $1", phone_number_id
    )
    if holder != account:
        raise OperatorError(f"number {phone_number_id!r} belongs to account {holder!r} already")


async def share_number(connection: Connection, *, account: str, phone_number_id: str) -> None:
    """Let the members of a further account work through a number. Raises OperatorError for an
    unknown number, its own account, or a name that is too long for every summary."""
    await require_account(connection, account)
    holder = await connection.fetchval(
        "SELECT account_id FROM business_numbers WHERE phone_number_id = $1", phone_number_id
    )
    if holder is None:
        raise OperatorError(f"there is no number {phone_number_id!r}; see `aval accounts list`")
    if holder == account:
        raise OperatorError(f"number {phone_number_id!r} is account {account!r}'s own")
    for row in await connection.fetch(
        "SELECT id, name FROM accounts WHERE id = ANY($1) AND length(name) > $2",
        [holder, account],
        MOST_NAME_CHARS,
    ):
        raise OperatorError(
            f"account {row['id']!r}: its name has more than {MOST_NAME_CHARS} characters; it has "
            "to stand in every summary, which tells members of several accounts which one it is"
        )
    await connection.execute(
        "INSERT INTO shared_numbers (phone_number_id, account_id) VALUES ($1, $2)"
        " ON CONFLICT DO NOTHING",
        phone_number_id,
        account,
    )


async def add_member(
    connection: Connection, *, account: str, name: str, role: Role, person: Person
) -> int:
    """Register a person with a role; the member's id. Raises OperatorError if one is active with
    this user id or phone."""
    await require_account(connection, account)
    try:
        member: int = await connection.fetchval(
            "INSERT INTO members (account_id, user_id, wa_id, name, role)"
            " VALUES ($1, $2, $3, $4, $5) RETURNING id",
            account,
            person.user_id,
            person.wa_id,
            name,
            role.value,
        )
    except asyncpg.UniqueViolationError:
        raise OperatorError(
            f"account {account!r} has an active member with this phone or user id; see "
            f"`aval members list {account}`"
        ) from None
    return member


async def remove_member(connection: Connection, *, account: str, member: int) -> None:
    """End a membership; the row stays, since actions tell of it. Raises OperatorError if there is
    no such active member."""
    gone = await connection.fetchval(
        "UPDATE members SET active = false WHERE account_id = $1 AND id = $2 AND active"
        " RETURNING id",
        account,
        member,
    )
    if gone is None:
        raise OperatorError(f"account {account!r} has no active member {member}")


async def list_members(connection: Connection, account: str) -> list[Member]:
    """The account's active members by id. Raises OperatorError if there is no such account."""
    await require_account(connection, account)
    rows = await connection.fetch(
        "SELECT id, name, role, user_id, wa_id FROM members"
        " WHERE account_id = $1 AND active ORDER BY id",
        account,
    )
    return [
        Member(
            id=row["id"],
            name=row["name"],
            role=Role(row["role"]),
            person=Person(user_id=row["user_id"], wa_id=row["wa_id"]),
        )
        for row in rows
    ]


async def add_customer(
    connection: Connection,
    *,
    account: str,
    name: str,
    document: str | None,
    email: str | None,
    person: Person | None,
) -> int:
    """Add a customer, linked to a person on WhatsApp if one is given; the customer's id. `document`
    is canonical. Raises OperatorError if document or person belong to a customer already."""
    await require_account(connection, account)
    try:
        async with connection.transaction():
            customer: int = await connection.fetchval(
                "INSERT INTO customers (account_id, name, document, email)"
                " VALUES ($1, $2, $3, $4) RETURNING id",
                account,
                name,
                document,
                email,
            )
            if person is not None:
                await connection.execute(
                    "INSERT INTO customer_links (account_id, customer_id, user_id, wa_id)"
                    " VALUES ($1, $2, $3, $4)",
                    account,
                    customer,
                    person.user_id,
                    person.wa_id,
                )
    except asyncpg.UniqueViolationError:
        raise OperatorError(
            f"account {account!r} has a customer with this document, phone or user id already"
        ) from None
    return customer


async def list_customers(connection: Connection, account: str) -> list[CustomerRow]:
    """The account's customers by id. Raises OperatorError if there is no such account."""
    await require_account(connection, account)
    rows = await connection.fetch(
        "SELECT id, name, document, email, blocked FROM customers"
        " WHERE account_id = $1 ORDER BY id",
        account,
    )
    return [CustomerRow(**dict(row)) for row in rows]
