"""Accounts, their numbers and members: written by operators, read by everybody."""

from urllib.parse import urlsplit

from store.connection import Connection


async def real_gateways(connection: Connection) -> list[str]:
    """The accounts whose gateway may move real money: any that is not reached by plain http on
    this machine or marked as simulated."""
    rows = await connection.fetch(
        "SELECT id, gateway_config FROM accounts WHERE gateway IS NOT NULL ORDER BY id"
    )
    return [row["id"] for row in rows if not is_simulated(row["gateway_config"])]


def is_simulated(config: dict[str, object]) -> bool:
    """Whether the configuration points at a simulator: plain http, which no provider speaks."""
    return urlsplit(str(config.get("base_url", ""))).scheme == "http"
