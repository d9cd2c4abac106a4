"""Time as the account lives it: its days, and moments written in its zone."""

from datetime import date, datetime

from domain.dates import zone
from domain.people import Who
from store.clock import current_time
from store.connection import Connection


def local_iso(moment: datetime, who: Who) -> str:
    """Return the moment as ISO 8601 in the account's zone: what the model reads and writes."""
    return moment.astimezone(zone(who.time_zone)).isoformat(timespec="minutes")


async def today(db: Connection, who: Who) -> date:
    """Return the day that it is now in the account's zone, by the database's clock."""
    return (await current_time(db)).astimezone(zone(who.time_zone)).date()
