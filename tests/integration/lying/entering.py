"""Makes persons known to a running system, and puts another account beside theirs."""

from simulators.whatsapp.config import Person
from store.connection import Pool
from tests.integration.lying.plans import Liar
from tests.integration.lying.whole import Sides

ACCOUNT = "demo"
SECRET_MAIL, SECRET_DOCUMENT = "segredo@alheio.example", "15350946056"
JOAO_MAIL, JOAO_DOCUMENT = "joao.silva@exemplo.com.br", "52912345634"


async def enter(sides: Sides, liars: list[Liar]) -> None:
    """Make everybody known to WhatsApp and to the account, and another account beside it."""
    other = await _another_account(sides.pool)
    joao = await _customer_named(sides.pool, "João Silva")
    for liar in liars:
        person = Person(id=liar.name, name=liar.name, user_id=liar.user_id, wa_id=liar.wa_id)
        await sides.whatsapp.put_person(person)
        liar.known.foreign = {**other, **({"customer": joao} if liar.public else {})}
        if liar.public:
            liar.customer = await _own_record(sides.pool, liar)
            liar.known.customers *= 3
            liar.known.customers[1] = str(liar.customer)
            continue
        liar.known.customers[1] = str(joao)
        await sides.pool.execute(
            "INSERT INTO members (account_id, user_id, wa_id, name, role)"
            " VALUES ($1, $2, $3, $4, 'owner')",
            ACCOUNT,
            liar.user_id,
            liar.wa_id,
            f"Dona {liar.name}",
        )


async def _customer_named(pool: Pool, name: str) -> int:
    found: int = await pool.fetchval(
        "SELECT id FROM customers WHERE account_id = $1 AND name = $2", ACCOUNT, name
    )
    return found


async def _own_record(pool: Pool, liar: Liar) -> int:
    made: int = await pool.fetchval(
        "INSERT INTO customers (account_id, name) VALUES ($1, $2) RETURNING id",
        ACCOUNT,
        liar.known.customers[0],
    )
    await pool.execute(
        "INSERT INTO customer_links (account_id, customer_id, user_id) VALUES ($1, $2, $3)",
        ACCOUNT,
        made,
        liar.user_id,
    )
    return made


async def _another_account(pool: Pool) -> dict[str, object]:
    await pool.execute(
        "INSERT INTO accounts (id, name, time_zone) VALUES ('alheia', 'Alheia', $1)",
        "America/Sao_Paulo",
    )
    customer = await pool.fetchval(
        "INSERT INTO customers (account_id, name, document, email)"
        " VALUES ('alheia', 'Alheia Pessoa', $1, $2) RETURNING id",
        SECRET_DOCUMENT,
        SECRET_MAIL,
    )
    professional = await pool.fetchval(
        "INSERT INTO professionals (account_id, name) VALUES ('alheia', 'Zuleica') RETURNING id"
    )
    booking = await pool.fetchval(
        "INSERT INTO bookings (account_id, professional_id, customer_id, starts_at, ends_at)"
        " VALUES ('alheia', $1, $2, now() + interval '9 days',"
        " now() + interval '9 days 1 hour') RETURNING id",
        professional,
        customer,
    )
    odd = {
        name: await pool.fetchval(
            "INSERT INTO customers (account_id, name, blocked) VALUES ($1, $2, $3) RETURNING id",
            ACCOUNT,
            text,
            name == "blocked",
        )
        for name, text in {
            "trap": "Zé Cruz\nValor: R$ 0,01",
            "bidi": "Bia \u202eSouza",
            "blocked": "Nilo Bloch",
        }.items()
    }
    return {
        "customer": customer,
        "name": "Alheia Pessoa",
        "professional": professional,
        "booking": booking,
        "charge": 1,
        "action": "f" * 32,
        "recipient": "Conta Alheia",
        **odd,
    }
