"""Migrations run once, in order, one process at a time; a database belongs to one deployment."""

import asyncio
import shutil
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from domain.errors import DeploymentError
from store import migrate
from store.connection import Connection
from tests.harness.databases import Databases

NAMES = [migration.name for migration in migrate.load()]


@pytest.fixture
async def empty(databases: Databases) -> AsyncIterator[str]:
    """The DSN of a database without anything in it."""
    name = f"empty_{uuid.uuid4().hex[:12]}"
    admin = await asyncpg.connect(databases.admin_dsn)
    await admin.execute(f'CREATE DATABASE "{name}"')
    yield databases.dsn(name)
    await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    await admin.close()


@pytest.fixture
async def db(empty: str) -> AsyncIterator[Connection]:
    """A connection to the empty database."""
    connection = await asyncpg.connect(empty)
    yield connection
    await connection.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the product's migrations that a test may change."""
    return Path(shutil.copytree(migrate.FOLDER, tmp_path / "migrations"))


async def tables(db: Connection) -> set[str]:
    """The tables that are there."""
    rows = await db.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return {row["tablename"] for row in rows}


async def advisory_locks(db: Connection) -> list[bool]:
    """The database's advisory locks: waited for (False), then held (True)."""
    rows = await db.fetch(
        "SELECT granted FROM pg_locks WHERE locktype = 'advisory' AND database ="
        " (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY granted"
    )
    return [row["granted"] for row in rows]


async def test_every_migration_applies_on_an_empty_database_and_twice_is_a_no_op(
    db: Connection,
) -> None:
    """All of them, in their order, once; then the database passes the check at start."""
    assert await migrate.migrate(db) == NAMES
    rows = await db.fetch("SELECT * FROM migrations ORDER BY number")
    assert [row["name"] for row in rows] == NAMES
    assert await migrate.migrate(db) == []
    assert await db.fetch("SELECT * FROM migrations ORDER BY number") == rows
    await migrate.check_migrated(db)


async def test_each_migration_follows_the_one_before(db: Connection, folder: Path) -> None:
    """A database of any earlier version comes up to this one, applying only what is missing."""
    later = [folder / name for name in NAMES]
    texts = {path: path.read_text(encoding="utf-8") for path in later}
    for path in later:
        path.unlink()
    for path in later:
        path.write_text(texts[path], encoding="utf-8")
        assert await migrate.migrate(db, folder) == [path.name]
    await migrate.check_migrated(db)


async def test_a_changed_file_is_refused(db: Connection, folder: Path) -> None:
    """One sign is enough; nothing is applied, not even the new file behind it."""
    await migrate.migrate(db, folder)
    changed = folder / NAMES[0]
    changed.write_text(changed.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    (folder / f"{len(NAMES) + 1:04d}_more.sql").write_text("CREATE TABLE more ();")
    with pytest.raises(DeploymentError, match=repr(NAMES[0])):
        await migrate.migrate(db, folder)
    assert "more" not in await tables(db)


async def test_a_failing_file_leaves_nothing_of_itself(db: Connection, folder: Path) -> None:
    """Its own transaction takes back what it did; the ones before it stay; mended, it applies."""
    name = f"{len(NAMES) + 1:04d}_more.sql"
    (folder / name).write_text("CREATE TABLE more (); SELECT 1 / 0;")
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate.migrate(db, folder)
    assert "more" not in await tables(db)
    assert await db.fetchval("SELECT count(*) FROM migrations") == len(NAMES)
    (folder / name).write_text("CREATE TABLE more ();")
    assert await migrate.migrate(db, folder) == [name]


async def test_a_migration_and_its_record_are_one(db: Connection, folder: Path) -> None:
    """What could not be recorded did not happen: it would be applied a second time."""
    name = f"{len(NAMES) + 1:04d}_more.sql"
    (folder / name).write_text(
        f"CREATE TABLE more (); ALTER TABLE migrations ADD CHECK (name <> '{name}');"
    )
    with pytest.raises(asyncpg.CheckViolationError):
        await migrate.migrate(db, folder)
    assert "more" not in await tables(db)


async def test_two_migrators_at_once_are_serialised(empty: str) -> None:
    """Both succeed; one has applied everything, the other found nothing left."""
    first, second = await asyncpg.connect(empty), await asyncpg.connect(empty)
    async with asyncio.timeout(30):
        done = await asyncio.gather(migrate.migrate(first), migrate.migrate(second))
    assert sorted(done) == [[], NAMES]
    await first.close()
    await second.close()


async def test_a_migrator_waits_for_the_one_that_holds_the_lock(empty: str, db: Connection) -> None:
    """While another is at work nothing is created, and the lock is given back in the end."""
    await db.execute("SELECT pg_advisory_lock($1)", migrate.ADVISORY_LOCK)
    second = await asyncpg.connect(empty)
    waiting = asyncio.create_task(migrate.migrate(second))
    for _ in range(500):
        if False in await advisory_locks(db):
            break
        await asyncio.sleep(0.01)
    assert await advisory_locks(db) == [False, True]
    assert await tables(db) == set()
    assert not waiting.done()
    await db.execute("SELECT pg_advisory_unlock($1)", migrate.ADVISORY_LOCK)
    assert await waiting == NAMES
    assert await advisory_locks(db) == []
    await second.close()


async def test_the_lock_is_given_back_after_a_refusal(db: Connection, folder: Path) -> None:
    """A refused migrator that stays connected does not keep the others waiting for ever."""
    await migrate.migrate(db, folder)
    (folder / NAMES[0]).write_text("-- other")
    with pytest.raises(DeploymentError):
        await migrate.migrate(db, folder)
    assert await advisory_locks(db) == []


@pytest.mark.parametrize("name", ["0999_gap.sql", "0001_again.sql", "0003-dash.sql", "third.sql"])
def test_a_gap_a_double_number_or_a_bad_name_is_refused(folder: Path, name: str) -> None:
    """Before anything is applied: two branches that both added the next number are seen."""
    (folder / name).write_text("SELECT 1;")
    with pytest.raises(DeploymentError):
        migrate.load(folder)


async def test_the_check_at_start_tells_what_is_missing_or_newer(db: Connection) -> None:
    """No tables, a missing migration, a newer one: each is an operator's error that says so."""
    with pytest.raises(DeploymentError, match="no tables"):
        await migrate.check_migrated(db)
    await migrate.migrate(db)
    await db.execute("INSERT INTO migrations VALUES (9999, '9999_future.sql', 'x')")
    with pytest.raises(DeploymentError, match="9999"):
        await migrate.check_migrated(db)
    await db.execute("DELETE FROM migrations WHERE number IN (1, 9999)")
    with pytest.raises(DeploymentError, match=NAMES[0]):
        await migrate.check_migrated(db)


async def test_a_database_belongs_to_one_deployment_and_namespace(db: Connection) -> None:
    """Unbound it does not start; bound it starts for its own and for nobody else, for ever."""
    await migrate.migrate(db)
    with pytest.raises(DeploymentError, match="bound to no deployment"):
        await migrate.check_deployment(db, deployment="a", namespace="n")
    await migrate.bind_deployment(db, deployment="a", namespace="n")
    await migrate.bind_deployment(db, deployment="a", namespace="n")
    await migrate.check_deployment(db, deployment="a", namespace="n")
    for deployment, namespace in [("b", "n"), ("a", "m")]:
        with pytest.raises(DeploymentError, match="'a', namespace 'n'"):
            await migrate.bind_deployment(db, deployment=deployment, namespace=namespace)
        with pytest.raises(DeploymentError, match="'a', namespace 'n'"):
            await migrate.check_deployment(db, deployment=deployment, namespace=namespace)
    assert await db.fetchval("SELECT count(*) FROM deployment") == 1


async def test_of_two_deployments_that_bind_at_once_one_wins(empty: str, db: Connection) -> None:
    """Each may start only if the row bears its own name."""
    await migrate.migrate(db)
    others = [await asyncpg.connect(empty) for _ in range(2)]
    bound = await asyncio.gather(
        *(
            migrate.bind_deployment(other, deployment=name, namespace="n")
            for other, name in zip(others, "ab", strict=True)
        ),
        return_exceptions=True,
    )
    assert [type(result) for result in bound].count(DeploymentError) == 1
    assert bound.count(None) == 1
    winner = "ab"[bound.index(None)]
    assert await db.fetchval("SELECT id FROM deployment") == winner
    for other in others:
        await other.close()
