"""The one clock for rules about time: PostgreSQL's, so that all workers agree.

`clock_timestamp()` stands unqualified on purpose: tests shadow it to move the clock.
"""

from datetime import datetime

from store.connection import Connection


async def current_time(connection: Connection) -> datetime:
    """Return the database's time now, with its zone."""
    moment: datetime = await connection.fetchval("SELECT clock_timestamp()")
    return moment
