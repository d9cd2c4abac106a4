"""Every request the provider saw, in order: what a test holds against what the client believes."""

import hashlib
from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import Any

_KEPT = 20_000


@dataclass
class Entry:
    """One request. `status` None: none was sent back (yet)."""

    seq: int
    at: float
    method: str
    path: str
    key: str | None
    body: str
    body_sha256: str
    fault: str | None = None
    acted: bool = False
    replayed: bool = False
    status: int | None = None
    done: bool = False


class Journal:
    """The last 20,000 requests, in memory."""

    def __init__(self) -> None:
        """Start empty."""
        self._entries: deque[Entry] = deque(maxlen=_KEPT)
        self._next = 1
        self.in_flight = 0

    def begin(self, *, at: float, method: str, path: str, key: str | None, body: bytes) -> Entry:
        """Record the arrival of a request."""
        entry = Entry(
            seq=self._next,
            at=at,
            method=method,
            path=path,
            key=key,
            body=body.decode("utf-8", errors="backslashreplace"),
            body_sha256=hashlib.sha256(body).hexdigest(),
        )
        self._next += 1
        self.in_flight += 1
        self._entries.append(entry)
        return entry

    def end(self, entry: Entry) -> None:
        """Record that the provider is through with a request."""
        entry.done = True
        self.in_flight -= 1

    def clear(self) -> None:
        """Forget the entries; requests still in flight stay counted."""
        self._entries.clear()

    def entries(self) -> list[dict[str, Any]]:
        """Return all entries, oldest first."""
        return [asdict(entry) for entry in self._entries]


def count(effects: list[dict[str, Any]], *, in_flight: int) -> dict[str, Any]:
    """Return the counters a test asserts on.

    `duplicates` is the number of effects beyond one per key; `business_duplicates` counts
    effects beyond one per equal business (who, what, how much), so that a client that mints a
    second key is seen too.
    """
    by_key = Counter(str(effect["key"]) for effect in effects)
    by_business = Counter(str(effect["business"]) for effect in effects)
    return {
        "effects_total": len(effects),
        "effects_by_key": dict(by_key),
        "effects_by_business": dict(by_business),
        "effects_by_operation": dict(Counter(str(effect["operation"]) for effect in effects)),
        "duplicates": len(effects) - len(by_key),
        "business_duplicates": len(effects) - len(by_business),
        "in_flight": in_flight,
    }
