"""`aval setup`: make a database ready for this deployment. Running it again changes nothing."""

import argparse
from typing import TYPE_CHECKING

from cli import database
from cli.stack.database import real_namespace
from domain.errors import OperatorError
from store import migrate
from store.connection import Connection

if TYPE_CHECKING:
    from cli.main import Commands


def add(commands: "Commands") -> None:
    """Declare the command."""
    commands.add("setup", run, "apply migrations and bind the database to this deployment")


def run(_arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Migrate and bind. Raises OperatorError if the database belongs to another deployment."""
    deployment = environment.get("AVAL_DEPLOYMENT", "").strip()
    if not 1 <= len(deployment) <= 100:
        raise OperatorError("AVAL_DEPLOYMENT is missing (a name of at most 100 characters)")
    namespace = environment.get("TEMPORAL_NAMESPACE", "").strip() or real_namespace()

    async def work(connection: Connection) -> list[str]:
        applied = await migrate.migrate(connection)
        await migrate.bind_deployment(connection, deployment=deployment, namespace=namespace)
        return applied

    applied = database.ask(environment, work, migrated=False)
    print(f"migrations applied: {', '.join(applied) or 'none, all were there'}")
    print(f"bound to deployment {deployment!r}, Temporal namespace {namespace!r}")
    return 0
