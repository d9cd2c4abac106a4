"""Items that need no understanding: quarantined, unknown, and what only gets stored."""

import re
from datetime import UTC, datetime

from channels.whatsapp.jsontext import dump, sha256_key, storable
from domain.inbound import InboundItem, InboundKind, Sender

MAX_ID = 512
"""Characters. Meta's ids have at most 128; an index row of PostgreSQL ends at about 2,700 bytes,
so a longer id could not be stored under its unique key."""

_SECONDS = re.compile(r"[0-9]{1,11}", re.ASCII)
_END_OF_TIME = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())


def usable_id(value: object) -> str | None:
    """`value` if it can be an id in our tables (text, not empty, storable, short), else None."""
    if isinstance(value, str) and 0 < len(value) <= MAX_ID and storable(value):
        return value
    return None


def read_time(value: object) -> tuple[datetime | None, bool]:
    """(UTC time of Meta's Unix seconds, whether they were there but unreadable)."""
    if value is None:
        return None, False
    if isinstance(value, int) and not isinstance(value, bool):
        seconds = value
    elif isinstance(value, str) and _SECONDS.fullmatch(value):
        seconds = int(value)
    else:
        return None, True
    if not 0 < seconds <= _END_OF_TIME:
        return None, True
    return datetime.fromtimestamp(seconds, UTC), False


def quoted(value: object) -> str:
    """`value` for a reason: ASCII, on one line, at most 80 characters."""
    return ascii(value if isinstance(value, str) else type(value).__name__)[:80]


def item_key(value: object, raw: bytes) -> str:
    """The id of an item if it has a usable one, else the digest of its bytes."""
    own = usable_id(value.get("id")) if isinstance(value, dict) else None
    return own or sha256_key(raw)


def quarantined(
    value: object,
    reason: str,
    *,
    phone_number_id: str | None = None,
    sender: Sender | None = None,
    by_id: bool = True,
) -> InboundItem:
    """`value` kept whole, with the reason why nobody may act on it.

    `by_id=False` for things whose id is not theirs alone (statuses and calls share one).
    """
    raw = dump(value)
    when = read_time(value.get("timestamp")) if isinstance(value, dict) else (None, False)
    return InboundItem(
        kind=InboundKind.QUARANTINED,
        phone_number_id=phone_number_id,
        key=item_key(value, raw) if by_id else sha256_key(raw),
        sender=sender,
        sent_at=when[0],
        sent_at_invalid=when[1],
        reason=reason,
        raw=raw,
    )


def stored_only(
    value: object,
    kind: InboundKind,
    *,
    phone_number_id: str | None,
    reason: str | None = None,
    by_id: bool = False,
) -> InboundItem:
    """`value` as an item that is kept and counted, but from nobody and never input."""
    raw = dump(value)
    when = read_time(value.get("timestamp")) if isinstance(value, dict) else (None, False)
    return InboundItem(
        kind=kind,
        phone_number_id=phone_number_id,
        key=item_key(value, raw) if by_id else sha256_key(raw),
        sent_at=when[0],
        sent_at_invalid=when[1],
        reason=reason,
        raw=raw,
    )
