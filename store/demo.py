"""The demo's account: a small business, its people, agenda, wallet. Running it again changes
nothing, so that `aval demo` may be started as often as one likes.

Documents are valid by their check digits and belong to nobody in particular.
"""

from dataclasses import dataclass

from domain.canonical import JsonValue
from domain.errors import DeploymentError
from store.connection import Connection

ACCOUNT = "demo"
ACCOUNT_NAME = "Estúdio Ipanema"
TIME_ZONE = "America/Sao_Paulo"
OPENING_BALANCE_CENTS = 100_000
API_KEY_VARIABLE = "AVAL_PAGARME_API_KEY"

ALL_WEEK = [1, 2, 3, 4, 5, 6, 7]
"""The demo is tried on any day; a closed Sunday would look like a fault."""


@dataclass(frozen=True, kw_only=True)
class _Customer:
    name: str
    document: str
    email: str | None = None
    blocked: bool = False
    user_id: str | None = None
    wa_id: str | None = None


OWNER_NAME = "Maria Souza"
OWNER_USER_ID = "BR.1000000000000001"
OWNER_WA_ID = "5511988880001"

_CUSTOMERS = (
    _Customer(name="João Silva", document="52912345634", email="joao.silva@exemplo.com.br"),
    _Customer(name="João Souza", document="30498765490", blocked=True),
    _Customer(
        name="Carlos Lima",
        document="11144477735",
        email="carlos@exemplo.com.br",
        user_id="BR.1000000000000002",
        wa_id="5511988880002",
    ),
    _Customer(name="Ana Prado", document="52998224725", user_id="BR.1000000000000003"),
    _Customer(name="Padaria Estrela Ltda", document="12ABC34501DE35"),
)

_PROFESSIONALS = (("Dra. Ana Torres", 60, "09:00", "18:00"), ("Bruno Reis", 30, "10:00", "20:00"))


async def seed_demo(
    connection: Connection,
    *,
    phone_number_id: str,
    display: str = "",
    gateway: str = "pagarme",
    base_url: str,
    recipient_id: str,
    mode: str | None = None,
    allow_plain_http: bool = False,
) -> None:
    """Make the account `demo` on this business number, with all that belongs to it.

    `recipient_id`: the provider's id of the account that transfers pay out to. `mode`: `sandbox`,
    for gateways that want it said. An account `demo` that exists keeps what it has; only where its
    gateway is reached is written anew, since a simulator may come up on another port. Raises
    DeploymentError if the number is another's.
    """
    config: dict[str, JsonValue] = {
        "base_url": base_url,
        "api_key": {"secret": API_KEY_VARIABLE},
        "recipient_id": recipient_id,
    }
    if mode is not None:
        config["mode"] = mode
    if allow_plain_http:
        config["allow_plain_http"] = True
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext('aval demo'))")
        fresh = await _account(connection, gateway=gateway, config=config)
        await _business_number(connection, phone_number_id, display)
        if fresh:
            await _people(connection)
            await _business(connection, recipient_id=recipient_id)


async def _account(connection: Connection, *, gateway: str, config: dict[str, JsonValue]) -> bool:
    fresh = await connection.fetchval(
        """
        INSERT INTO accounts (id, name, time_zone, language, gateway, gateway_config)
        VALUES ($1, $2, $3, 'pt-BR', $4, $5) ON CONFLICT (id) DO NOTHING RETURNING id
        """,
        ACCOUNT,
        ACCOUNT_NAME,
        TIME_ZONE,
        gateway,
        config,
    )
    if fresh is None:
        await connection.execute(
            "UPDATE accounts SET gateway = $2, gateway_config = $3 WHERE id = $1",
            ACCOUNT,
            gateway,
            config,
        )
        await connection.execute(
            "UPDATE recipients SET provider_ref = $2 WHERE account_id = $1",
            ACCOUNT,
            config["recipient_id"],
        )
    return fresh is not None


async def _business_number(connection: Connection, phone_number_id: str, display: str) -> None:
    await connection.execute(
        "INSERT INTO business_numbers (phone_number_id, account_id, display)"
        " VALUES ($1, $2, $3) ON CONFLICT (phone_number_id) DO NOTHING",
        phone_number_id,
        ACCOUNT,
        display,
    )
    holder = await connection.fetchval(
        "SELECT account_id FROM business_numbers WHERE phone_number_id = $1", phone_number_id
    )
    if holder != ACCOUNT:
        raise DeploymentError(
            f"the business number {phone_number_id!r} belongs to account {holder!r}; "
            "give the demo another one"
        )


async def _people(connection: Connection) -> None:
    await connection.execute(
        "INSERT INTO members (account_id, user_id, wa_id, name, role)"
        " VALUES ($1, $2, $3, $4, 'owner')",
        ACCOUNT,
        OWNER_USER_ID,
        OWNER_WA_ID,
        OWNER_NAME,
    )
    for one in _CUSTOMERS:
        customer_id = await connection.fetchval(
            "INSERT INTO customers (account_id, name, document, email, blocked)"
            " VALUES ($1, $2, $3, $4, $5) RETURNING id",
            ACCOUNT,
            one.name,
            one.document,
            one.email,
            one.blocked,
        )
        if one.user_id is not None:
            await connection.execute(
                "INSERT INTO customer_links (account_id, customer_id, user_id, wa_id)"
                " VALUES ($1, $2, $3, $4)",
                ACCOUNT,
                customer_id,
                one.user_id,
                one.wa_id,
            )


async def _business(connection: Connection, *, recipient_id: str) -> None:
    for name, minutes, opens, closes in _PROFESSIONALS:
        await connection.execute(
            "INSERT INTO professionals (account_id, name, slot_minutes, opens, closes, weekdays)"
            " VALUES ($1, $2, $3, $4::text::time, $5::text::time, $6)",
            ACCOUNT,
            name,
            minutes,
            opens,
            closes,
            ALL_WEEK,
        )
    await connection.execute(
        "INSERT INTO wallets (account_id, available_cents) VALUES ($1, $2)",
        ACCOUNT,
        OPENING_BALANCE_CENTS,
    )
    await connection.execute(
        "INSERT INTO recipients (account_id, name, provider_ref) VALUES ($1, $2, $3)",
        ACCOUNT,
        f"Conta {ACCOUNT_NAME}",
        recipient_id,
    )
