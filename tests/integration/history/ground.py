"""What an example stands on: an account with one owner, and a clock that stands still until it is
moved."""

from datetime import UTC, datetime, timedelta

from domain.outcomes import LookupResult, Presence
from domain.people import Person
from store.connection import Connection

START = datetime(2026, 3, 11, 15, 0, tzinfo=UTC)
ACCOUNT, NUMBER = "shop", "100200300"
MARIA = Person(user_id="BR.1000000000000001", wa_id="5511988880001")

CLOCK = """
CREATE OR REPLACE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT current_setting('fake.at')::timestamptz $$;
CREATE OR REPLACE FUNCTION fake.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT current_setting('fake.at')::timestamptz $$;
"""

LOOKS = {
    "found": LookupResult(presence=Presence.FOUND, final=True, equal=True),
    "found_working": LookupResult(presence=Presence.FOUND, final=False, equal=True),
    "absent_final": LookupResult(presence=Presence.ABSENT, final=True, equal=False),
    "absent": LookupResult(presence=Presence.ABSENT, final=False, equal=False),
    "uncertain": LookupResult(presence=Presence.UNCERTAIN, final=False, equal=False),
}


SPEAKS = "only the system speaks as the system"
REFUSED = "the far side refuses nothing"


class BrokenPromiseError(AssertionError):
    """`name` says which promise."""

    def __init__(self, name: str, detail: object) -> None:
        self.name = name
        super().__init__(f"{name}: {detail}")


def moment(seconds: int) -> datetime:
    """So many seconds after the start."""
    return START + timedelta(seconds=seconds)


async def set_clock(db: Connection, seconds: int) -> None:
    """Set this session's clock."""
    await db.execute("SELECT set_config('fake.at', $1, false)", moment(seconds).isoformat())


async def seed(db: Connection) -> None:
    """The account has a direct tool; its one member is an owner."""
    await db.execute(CLOCK)
    await set_clock(db, 0)
    await db.execute(
        "INSERT INTO accounts (id, name, time_zone, settings)"
        " VALUES ($1, 'Shop', 'America/Sao_Paulo', $2)",
        ACCOUNT,
        {"direct_tools": ["mark_note"]},
    )
    await db.execute("INSERT INTO business_numbers VALUES ($1, $2)", NUMBER, ACCOUNT)
    await db.execute(
        "INSERT INTO members (account_id, user_id, wa_id, name, role)"
        " VALUES ($1, $2, $3, 'Owner', 'owner')",
        ACCOUNT,
        MARIA.user_id,
        MARIA.wa_id,
    )
