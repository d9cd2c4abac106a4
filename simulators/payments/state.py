"""What the simulated provider remembers, in SQLite: objects, answers kept by key, effects.

The provider outlives the client's crashes and its own, or a test of "never twice" would test its
forgetfulness. One act is one transaction: an effect without its kept answer cannot exist.
"""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Doc = dict[str, Any]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, seq INTEGER NOT NULL, code TEXT,
  visible_at REAL NOT NULL, doc TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS objects_by_code ON objects (kind, code);
CREATE TABLE IF NOT EXISTS keys (
  key TEXT PRIMARY KEY, first_at REAL NOT NULL, status INTEGER NOT NULL, doc TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS key_marks (key TEXT PRIMARY KEY, mark TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS effects (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, operation TEXT NOT NULL,
  business TEXT NOT NULL, amount_cents INTEGER NOT NULL, ref TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS numbers (name TEXT PRIMARY KEY, value REAL NOT NULL);
"""
_TABLES = ("objects", "keys", "key_marks", "effects", "numbers")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The first answer under a key. `mark` stands for the request that got it."""

    status: int
    doc: Doc
    mark: str | None


class State:
    """One provider's memory. Not shared between threads."""

    def __init__(self, path: Path | None) -> None:
        """Open `path`, or memory if None; what it holds from earlier is kept."""
        self._db = sqlite3.connect(
            ":memory:" if path is None else path, isolation_level=None, check_same_thread=False
        )
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all of the block or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def reset(self) -> None:
        """Forget everything, the moved clock too."""
        with self.transaction():
            for table in _TABLES:
                self._db.execute(f"DELETE FROM {table}")

    def now(self) -> float:
        """Return Unix seconds on the provider's own, movable clock."""
        return time.time() + self.number("clock_offset")

    def number(self, name: str) -> float:
        """Return a stored number, 0 if never written."""
        row = self._db.execute("SELECT value FROM numbers WHERE name = ?", (name,)).fetchone()
        return float(row[0]) if row else 0.0

    def add_number(self, name: str, change: float) -> None:
        """Add to a stored number."""
        self._db.execute(
            "INSERT INTO numbers VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            (name, change),
        )

    def put(self, kind: str, doc: Doc, *, code: str | None = None, visible_at: float = 0.0) -> None:
        """Write a new object; its id is `doc["id"]`."""
        self._db.execute(
            "INSERT INTO objects SELECT ?, ?, coalesce(max(seq), 0) + 1, ?, ?, ? FROM objects",
            (doc["id"], kind, code, visible_at, json.dumps(doc)),
        )

    def change(self, doc: Doc) -> None:
        """Write an existing object anew."""
        self._db.execute("UPDATE objects SET doc = ? WHERE id = ?", (json.dumps(doc), doc["id"]))

    def get(self, kind: str, identity: str, *, lagging: bool = False) -> Doc | None:
        """Return an object, None if absent or, for a `lagging` reader, not yet visible."""
        row = self._db.execute(
            "SELECT doc, visible_at FROM objects WHERE kind = ? AND id = ?", (kind, identity)
        ).fetchone()
        if row is None or (lagging and row[1] > self.now()):
            return None
        return _doc(row[0])

    def listed(self, kind: str, *, code: str | None, page: int, size: int) -> tuple[int, list[Doc]]:
        """Return the count and one page (from 1) of the visible objects, newest first."""
        where = "kind = ? AND visible_at <= ? AND (? IS NULL OR code = ?)"
        args = (kind, self.now(), code, code)
        total = self._db.execute(
            f"SELECT count(*) FROM objects WHERE {where}",
            args,
        ).fetchone()[0]
        rows = self._db.execute(
            f"SELECT doc FROM objects WHERE {where} ORDER BY seq DESC LIMIT ? OFFSET ?",
            (*args, size, (page - 1) * size),
        ).fetchall()
        return int(total), [_doc(row[0]) for row in rows]

    def kept(self, key: str, *, retention_seconds: float) -> Kept | None:
        """Return the first answer under `key` if it is younger than the retention."""
        row = self._db.execute(
            "SELECT status, doc, mark FROM keys LEFT JOIN key_marks USING (key) "
            "WHERE key = ? AND first_at > ?",
            (key, self.now() - retention_seconds),
        ).fetchone()
        if row is None:
            return None
        return Kept(status=int(row[0]), doc=_doc(row[1]), mark=row[2])

    def keep(self, key: str, status: int, doc: Doc, *, mark: str) -> None:
        """Keep the answer under `key`, in place of one past its retention."""
        self._db.execute(
            "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?)",
            (key, self.now(), status, json.dumps(doc)),
        )
        self._db.execute("INSERT OR REPLACE INTO key_marks VALUES (?, ?)", (key, mark))

    def add_effect(
        self, *, key: str, operation: str, business: str, amount_cents: int, ref: str
    ) -> None:
        """Record that money or a charge really came into being."""
        self._db.execute(
            "INSERT INTO effects (key, operation, business, amount_cents, ref, at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (key, operation, business, amount_cents, ref, self.now()),
        )

    def effects(self) -> list[Doc]:
        """Return all effects in the order they happened."""
        rows = self._db.execute(
            "SELECT seq, key, operation, business, amount_cents, ref, at FROM effects ORDER BY seq"
        ).fetchall()
        names = ("seq", "key", "operation", "business", "amount_cents", "ref", "at")
        return [dict(zip(names, row, strict=True)) for row in rows]


def _doc(text: str) -> Doc:
    doc: Doc = json.loads(text)
    return doc
