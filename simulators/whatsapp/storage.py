"""What survives a restart of the simulator: chats, persons, undelivered webhooks, counters.

Written through on each change, so that a kill loses nothing that a phone has shown. Without
a file nothing is kept.
"""

import sqlite3
from collections.abc import Iterator

from simulators.whatsapp.config import Person
from simulators.whatsapp.models import ChatMessage, Counters

_SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS persons (id TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counters (one INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS webhooks (
    id TEXT PRIMARY KEY, seq INTEGER, kind TEXT, wamids TEXT, click INTEGER, raw BLOB
);
"""


class Storage:
    """A small SQLite file, or nothing at all when `path` is none."""

    def __init__(self, path: str | None) -> None:
        self._db: sqlite3.Connection | None = None
        if path is None:
            return
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")  # survives a kill of this process
        self._db.executescript(_SCHEMA)

    def save_message(self, message: ChatMessage) -> None:
        """Insert or replace a chat message."""
        if self._db is None:
            return
        self._run(
            "INSERT OR REPLACE INTO messages VALUES (?, ?)",
            (message.seq, message.model_dump_json()),
        )

    def save_person(self, person: Person) -> None:
        """Insert or replace a person."""
        self._run(
            "INSERT OR REPLACE INTO persons VALUES (?, ?)", (person.id, person.model_dump_json())
        )

    def save_counters(self, counters: Counters) -> None:
        """Replace the counters."""
        if self._db is None:
            return
        self._run("INSERT OR REPLACE INTO counters VALUES (1, ?)", (counters.model_dump_json(),))

    def save_webhook(
        self, webhook_id: str, *, seq: int, kind: str, wamids: list[str], click: bool, raw: bytes
    ) -> None:
        """Keep a webhook until it is answered with 200."""
        self._run(
            "INSERT OR REPLACE INTO webhooks VALUES (?, ?, ?, ?, ?, ?)",
            (webhook_id, seq, kind, "\n".join(wamids), int(click), raw),
        )

    def drop_webhook(self, webhook_id: str) -> None:
        """Forget a webhook that was answered with 200 or given up."""
        self._run("DELETE FROM webhooks WHERE id = ?", (webhook_id,))

    def messages(self) -> Iterator[ChatMessage]:
        """Yield the kept messages in order."""
        for (text,) in self._rows("SELECT json FROM messages ORDER BY seq"):
            yield ChatMessage.model_validate_json(str(text))

    def persons(self) -> Iterator[Person]:
        """Yield the kept persons."""
        for (text,) in self._rows("SELECT json FROM persons ORDER BY rowid"):
            yield Person.model_validate_json(str(text))

    def counters(self) -> Counters:
        """Return the kept counters, or fresh ones."""
        for (text,) in self._rows("SELECT json FROM counters"):
            return Counters.model_validate_json(str(text))
        return Counters()

    def webhooks(self) -> Iterator[tuple[str, str, list[str], bool, bytes]]:
        """Yield undelivered webhooks as (id, kind, wamids, click, raw) in order."""
        query = "SELECT id, kind, wamids, click, raw FROM webhooks ORDER BY seq"
        for webhook_id, kind, wamids, click, raw in self._rows(query):
            names = [name for name in str(wamids).split("\n") if name]
            assert isinstance(raw, bytes)
            yield str(webhook_id), str(kind), names, bool(click), raw

    def clear(self) -> None:
        """Forget everything."""
        for table in ("messages", "persons", "counters", "webhooks"):
            self._run(f"DELETE FROM {table}", ())

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def _run(self, sql: str, values: tuple[object, ...]) -> None:
        if self._db is not None:
            self._db.execute(sql, values)

    def _rows(self, sql: str) -> list[tuple[object, ...]]:
        return [] if self._db is None else list(self._db.execute(sql))
