"""Numbered migrations in plain SQL: each runs once, in its own transaction, under one lock.

An advisory lock serialises two processes that start at once; a lock timeout keeps a migration from
queueing behind a long transaction with every query behind it. A file that changed after it was
applied is refused: the database would no longer be what the files say.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from domain.errors import DeploymentError
from store.connection import Connection

FOLDER = Path(__file__).parent / "migrations"
ADVISORY_LOCK = 0x4176616C  # "Aval"
LOCK_TIMEOUT = "5s"
_NAME = re.compile(r"^(\d{4})_[a-z0-9_]+\.sql$")


@dataclass(frozen=True)
class Migration:
    """A file of the folder."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """The hash of the text, as 64 hex."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def load(folder: Path = FOLDER) -> list[Migration]:
    """The migrations in their order. Raises DeploymentError for a gap or a bad name."""
    found = []
    for path in sorted(folder.glob("*.sql")):
        match = _NAME.match(path.name)
        if match is None:
            raise DeploymentError(f"migration {path.name!r}: the name must be NNNN_words.sql")
        found.append(Migration(int(match[1]), path.name, path.read_text(encoding="utf-8")))
    if [m.number for m in found] != list(range(1, len(found) + 1)):
        names = ", ".join(m.name for m in found)
        raise DeploymentError(f"migrations must be numbered without a gap or a double: {names}")
    return found


async def migrate(connection: Connection, folder: Path = FOLDER) -> list[str]:
    """Apply what is missing and return its names. Raises DeploymentError for a changed file."""
    migrations = load(folder)
    await connection.execute("SELECT pg_advisory_lock($1)", ADVISORY_LOCK)
    try:
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number int PRIMARY KEY, name text NOT NULL,"
            " sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        done = {
            row["number"]: row["sha256"]
            for row in await connection.fetch("SELECT number, sha256 FROM migrations")
        }
        return [m.name for m in migrations if await _apply(connection, m, done.get(m.number))]
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", ADVISORY_LOCK)


async def _apply(connection: Connection, migration: Migration, applied: str | None) -> bool:
    if applied == migration.sha256:
        return False
    if applied is not None:
        raise DeploymentError(
            f"migration {migration.name!r} was applied with other content; add a new file instead"
        )
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
        await connection.execute(migration.sql)
        await connection.execute(
            "INSERT INTO migrations (number, name, sha256) VALUES ($1, $2, $3)",
            migration.number,
            migration.name,
            migration.sha256,
        )
    return True


async def check_migrated(connection: Connection) -> None:
    """Raise DeploymentError unless every migration of this version is applied, and no newer one."""
    if await connection.fetchval("SELECT to_regclass('migrations')") is None:
        raise DeploymentError("the database has no tables yet; run `aval setup`")
    known = {m.number: m.name for m in load()}
    applied = {r["number"] for r in await connection.fetch("SELECT number FROM migrations")}
    if missing := sorted(set(known) - applied):
        names = ", ".join(known[number] for number in missing)
        raise DeploymentError(f"migrations not applied: {names}; run `aval setup`")
    if newer := sorted(applied - set(known)):
        raise DeploymentError(f"the database has migrations {newer!r} of a newer Aval; upgrade")


async def bind_deployment(connection: Connection, *, deployment: str, namespace: str) -> None:
    """Bind the database to this deployment and Temporal namespace, once.

    Raises DeploymentError when it belongs to another: two deployments on one database would ring
    each other's workflows.
    """
    await connection.execute(
        "INSERT INTO deployment (id, namespace) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        deployment,
        namespace,
    )
    await check_deployment(connection, deployment=deployment, namespace=namespace)


async def check_deployment(connection: Connection, *, deployment: str, namespace: str) -> None:
    """Raise DeploymentError unless the database is bound to this deployment and namespace."""
    row = await connection.fetchrow("SELECT id, namespace FROM deployment")
    if row is None:
        raise DeploymentError("the database is bound to no deployment yet; run `aval setup`")
    if (row["id"], row["namespace"]) != (deployment, namespace):
        raise DeploymentError(
            f"the database belongs to deployment {row['id']!r}, namespace {row['namespace']!r}; "
            f"this is {deployment!r}, {namespace!r} (AVAL_DEPLOYMENT, TEMPORAL_NAMESPACE)"
        )
