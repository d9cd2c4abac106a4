"""The demo's account comes up once, and says so when its number is another's."""

import pytest

from domain.errors import DeploymentError
from store.connection import Connection
from store.demo import seed_demo
from tests.integration.tools.kit import BUSINESS


async def counts(db: Connection) -> list[int]:
    """How many rows each of the demo's tables has."""
    tables = ("accounts", "members", "customers", "customer_links", "professionals", "recipients")
    return [await db.fetchval(f"SELECT count(*) FROM {table}") for table in tables]


async def test_seeding_twice_changes_nothing_but_the_address(db: Connection) -> None:
    """What people changed stays; the gateway's address may move."""
    before = await counts(db)
    await db.execute("UPDATE wallets SET available_cents = 7")
    await seed_demo(
        db, phone_number_id=BUSINESS, base_url="http://127.0.0.1:2", recipient_id="re_2"
    )
    assert await counts(db) == before
    assert await db.fetchval("SELECT available_cents FROM wallets") == 7
    config = await db.fetchval("SELECT gateway_config FROM accounts")
    assert config["base_url"] == "http://127.0.0.1:2"
    assert config["api_key"] == {"secret": "AVAL_PAGARME_API_KEY"}
    assert await db.fetchval("SELECT provider_ref FROM recipients") == "re_2"


async def test_anothers_number_is_not_taken(db: Connection) -> None:
    """Messages to that number belong to another account."""
    await db.execute("INSERT INTO accounts (id, name, time_zone) VALUES ('other', 'O', 'UTC')")
    await db.execute("INSERT INTO business_numbers VALUES ('999', 'other', '')")
    with pytest.raises(DeploymentError, match="'999' belongs to account 'other'"):
        await seed_demo(db, phone_number_id="999", base_url="http://x", recipient_id="re_1")
