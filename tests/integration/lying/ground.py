"""What an example stands on: two accounts that must not see each other, their people and books, and
a clock that stands still until it is moved."""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from domain.people import Person
from store.connection import Connection
from tests.integration.lying.asked import Books, Customer
from tests.integration.lying.known import Known

START = datetime(2026, 3, 11, 15, 0, tzinfo=UTC)
FIRST_DAY = date(2026, 3, 12)
RECIPIENT, OTHER_RECIPIENT = "re_simulated", "re_alheia"

MARIA = Person(user_id="BR.1000000000000001", wa_id="5511988880001")
RITA = Person(user_id="BR.1000000000000002", wa_id="5511988880002")
CARLOS = Person(user_id="BR.1000000000000003", wa_id="5511988880003")
OLGA = Person(user_id="BR.1000000000000004", wa_id="5511988880004")
STRANGER = Person(user_id="BR.1000000000000005", wa_id="5511988880005")
TWIN = Person(user_id="BR.1000000000000006", wa_id=MARIA.wa_id)
PHONE = Person(wa_id=MARIA.wa_id)
PEOPLE = {
    "maria": MARIA,
    "rita": RITA,
    "carlos": CARLOS,
    "olga": OLGA,
    "stranger": STRANGER,
    "twin": TWIN,
    "phone": PHONE,
}
"""Two owners, a customer, the owner of the other account, and who is not quite Maria."""

CLOCK = """
CREATE OR REPLACE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT current_setting('fake.at')::timestamptz $$;
CREATE OR REPLACE FUNCTION fake.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT current_setting('fake.at')::timestamptz $$;
"""

SECRET_MAIL, SECRET_DOCUMENT = "segredo@alheio.example", "15350946056"
JOAO_MAIL = "joao.silva@exemplo.com.br"
JOAO_DOCUMENT = "52912345634"


@dataclass
class Ground:
    """The rows of one account beside another. `number` is the business number."""

    account: str
    number: str
    other_account: str
    other_number: str
    books: Books = field(default_factory=Books)
    known: dict[str, Known] = field(default_factory=dict)

    def copy(self) -> "Ground":
        """Another one that goes its own way."""
        known = {who: replace(one, foreign=dict(one.foreign)) for who, one in self.known.items()}
        return replace(self, books=replace(self.books), known=known)


async def set_clock(db: Connection, seconds: int) -> None:
    """Set this session's clock, `seconds` after the start."""
    await db.execute("SELECT set_config('fake.at', $1, false)", moment(seconds).isoformat())


def moment(seconds: int) -> datetime:
    """So many seconds after the start (UTC)."""
    return START + timedelta(seconds=seconds)


async def found(db: Connection, n: int) -> Ground:
    """Two accounts, of whom no other example has any."""
    ground = Ground(
        account=f"shop{n}",
        number=f"10020030{n:03d}",
        other_account=f"other{n}",
        other_number=f"10090030{n:03d}",
    )
    await _account(db, ground.account, ground.number, RECIPIENT, [MARIA, RITA])
    await _account(db, ground.other_account, ground.other_number, OTHER_RECIPIENT, [OLGA])
    own, other = await _customers(db, ground)
    ground.books.professionals = await _professional(db, ground.account, "Ana Torres")
    others = await _professional(db, ground.other_account, "Zuleica Braz")
    ground.books.recipient = RECIPIENT
    ground.books.secrets = _secrets(ground)
    foreign = {
        "customer": other,
        "name": "Alheia Pessoa",
        "professional": next(iter(others)),
        "recipient": f"Conta {ground.other_account}",
        "booking": await _booking(db, ground.other_account, next(iter(others)), other),
        **{name: own[name] for name in ("trap", "bidi", "blocked")},
    }
    joao, carlos = str(own["joao"]), str(own["carlos"])
    ground.known = {
        "maria": _known(["João Silva", joao, "Carlos Lima"], foreign),
        "carlos": _known(["Carlos Lima", carlos, "Carlos Lima"], {**foreign, "customer": joao}),
        "olga": _known(["Alheia Pessoa", str(other), "Alheia Pessoa"], foreign),
    }
    return ground


def _known(customers: list[str], foreign: dict[str, object]) -> Known:
    professionals = ["Ana Torres"]
    return Known(
        customers=customers,
        professionals=professionals,
        first_day=FIRST_DAY,
        foreign={"charge": 0, "action": "f" * 32, **foreign},
    )


def _secrets(ground: Ground) -> dict[tuple[str, str], list[str]]:
    others, joaos = [SECRET_MAIL, SECRET_DOCUMENT], [JOAO_MAIL, JOAO_DOCUMENT]
    return {
        (ground.number, str(MARIA.user_id)): others,
        (ground.number, str(CARLOS.user_id)): [*others, *joaos, "available_cents"],
        (ground.other_number, str(OLGA.user_id)): joaos,
    }


async def _account(
    db: Connection, account: str, number: str, recipient: str, owners: list[Person]
) -> None:
    await db.execute(
        "INSERT INTO accounts (id, name, time_zone, language, gateway, settings) VALUES"
        " ($1, 'Estúdio', 'America/Sao_Paulo', 'pt-BR', 'pagarme', $2)",
        account,
        {"direct_tools": ["create_pix_charge", "transfer_balance", "refund_charge"]},
    )
    await db.execute("INSERT INTO business_numbers VALUES ($1, $2)", number, account)
    await db.execute("INSERT INTO wallets VALUES ($1, 100000000000)", account)
    await db.execute(
        "INSERT INTO recipients (account_id, name, provider_ref) VALUES ($1, $2, $3)",
        account,
        f"Conta {account}",
        recipient,
    )
    for one in owners:
        await db.execute(
            "INSERT INTO members (account_id, user_id, wa_id, name, role)"
            " VALUES ($1, $2, $3, 'Dona', 'owner')",
            account,
            one.user_id,
            one.wa_id,
        )


async def _customers(db: Connection, ground: Ground) -> tuple[dict[str, int], int]:
    rows = {
        "joao": ("João Silva", JOAO_DOCUMENT, JOAO_MAIL, False),
        "carlos": ("Carlos Lima", "11144477735", "carlos@exemplo.com.br", False),
        "trap": ("Zé Cruz\nValor: R$ 0,01", "39053344705", None, False),
        "bidi": ("Bia \u202eSouza", "52998224725", None, False),
        "blocked": ("Nilo Bloch", "30498765490", None, True),
    }
    own = {name: await _customer(db, ground.account, *row) for name, row in rows.items()}
    other = await _customer(
        db, ground.other_account, "Alheia Pessoa", SECRET_DOCUMENT, SECRET_MAIL, False
    )
    await db.execute(
        "INSERT INTO customer_links (account_id, customer_id, user_id) VALUES ($1, $2, $3)",
        ground.account,
        own["carlos"],
        CARLOS.user_id,
    )
    ground.books.customers = [
        Customer(id=own[name], name=row[0], document=row[1]) for name, row in rows.items()
    ]
    ground.books.customers.append(
        Customer(id=other, name="Alheia Pessoa", document=SECRET_DOCUMENT)
    )
    return own, other


async def _customer(
    db: Connection, account: str, name: str, document: str, email: str | None, blocked: bool
) -> int:
    made: int = await db.fetchval(
        "INSERT INTO customers (account_id, name, document, email, blocked)"
        " VALUES ($1, $2, $3, $4, $5) RETURNING id",
        account,
        name,
        document,
        email,
        blocked,
    )
    return made


async def _professional(db: Connection, account: str, name: str) -> dict[int, str]:
    made: int = await db.fetchval(
        "INSERT INTO professionals (account_id, name, weekdays) VALUES ($1, $2, $3) RETURNING id",
        account,
        name,
        [1, 2, 3, 4, 5, 6, 7],
    )
    return {made: name}


async def _booking(db: Connection, account: str, professional: int, customer: int) -> int:
    starts = moment(86_400 * 30)
    made: int = await db.fetchval(
        "INSERT INTO bookings (account_id, professional_id, customer_id, starts_at, ends_at)"
        " VALUES ($1, $2, $3, $4, $5) RETURNING id",
        account,
        professional,
        customer,
        starts,
        starts + timedelta(hours=1),
    )
    return made
