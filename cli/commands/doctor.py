"""`aval doctor`: whether PostgreSQL, Temporal and the providers agree. Changes nothing."""

import argparse
import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from temporalio.service import RPCError

from activities.reconcile import Reconcile
from cli import database, far_side, output
from cli.arguments import positive
from cli.stack.database import real_namespace
from domain.actions import Status
from domain.errors import DeploymentError, OperatorError
from domain.outcomes import LookupResult, Presence
from store import checking, migrate
from store.actions import Action
from store.checking import Finding
from store.connection import Connection
from workflows import checking as workflow_checking
from workflows.temporal import connect

if TYPE_CHECKING:
    from cli.main import Commands

TEMPORAL_WITHIN_S = 20.0


def add(commands: "Commands") -> None:
    """Declare the command."""
    parser = commands.add("doctor", run, "compare PostgreSQL, Temporal and the providers")
    parser.add_argument(
        "--providers", action="store_true", help="look actions up at their providers, read-only"
    )
    parser.add_argument(
        "--hours", type=positive, default=24, help="how far back what is over is compared"
    )
    parser.add_argument("--json", action="store_true", help="a list of objects")


def run(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print each disagreement. Returns 1 if there is any."""
    since = datetime.now(UTC) - timedelta(hours=arguments.hours)
    full = far_side.completed(environment)

    async def work(connection: Connection) -> list[Finding]:
        found = await _deployment(connection, full)
        if any(one.row == "migrations" for one in found):
            return found  # with other tables no other question can be asked
        found += await checking.findings(connection, since=since)
        found += await _temporal(connection, full, found)
        if arguments.providers:
            async with far_side.reconciling(environment) as reconcile:
                found += await _providers(connection, reconcile, since)
        return found

    found = database.ask(environment, work, migrated=False)
    _print(found, as_json=arguments.json, providers=arguments.providers)
    return 1 if found else 0


def _print(found: list[Finding], *, as_json: bool, providers: bool) -> None:
    if as_json:
        print(output.as_json([output.fields(one) for one in found]))
        return
    if found:
        rows = [(one.kind, one.row, one.what) for one in found]
        print(output.table(("DISAGREEMENT", "ROW", "WHAT"), rows))
        return
    whom = "PostgreSQL, Temporal and the providers" if providers else "PostgreSQL and Temporal"
    print(f"{whom} agree")


async def _deployment(connection: Connection, environment: dict[str, str]) -> list[Finding]:
    try:
        await migrate.check_migrated(connection)
    except DeploymentError as error:
        return [Finding(kind="deployment", row="migrations", what=str(error))]
    named = environment.get("AVAL_DEPLOYMENT", "").strip()
    if not named:
        what = "AVAL_DEPLOYMENT is not set, so nobody knows whether this database is ours"
        return [Finding(kind="deployment", row="deployment", what=what)]
    with far_side.as_environment(environment):
        namespace = environment.get("TEMPORAL_NAMESPACE", "").strip() or real_namespace()
    try:
        await migrate.check_deployment(connection, deployment=named, namespace=namespace)
    except DeploymentError as error:
        return [Finding(kind="deployment", row="deployment", what=str(error))]
    return []


async def _temporal(
    connection: Connection, environment: dict[str, str], found: list[Finding]
) -> list[Finding]:
    overdue = [one.row for one in found if one.kind == "overdue"]
    try:
        async with asyncio.timeout(TEMPORAL_WITHIN_S):
            with far_side.as_environment(environment):
                client = await connect()
            return await workflow_checking.findings(client, connection, overdue)
    except (RPCError, RuntimeError, TimeoutError) as error:
        what = f"cannot be reached ({type(error).__name__}), so it was not compared"
        return [Finding(kind="temporal", row="server", what=what)]


# ---------------------------------------------------------------- providers


async def _providers(
    connection: Connection, reconcile: Reconcile, since: datetime
) -> list[Finding]:
    found = []
    for action in await checking.to_look_up(connection, since=since):
        try:
            what = _disagrees(action, await reconcile.see(connection, action))
        except OperatorError as error:
            what = str(error)
        if what is not None:
            found.append(Finding(kind="provider", row=action.id, what=what))
    return found


def _disagrees(action: Action, seen: LookupResult) -> str | None:
    """None where row and provider agree. An executing one is told with what is there: it is for an
    operator to settle."""
    here, there = action.status.value, seen.presence.value
    differs = "; ".join(seen.differences)
    if seen.presence is Presence.UNCERTAIN:
        return f"{here} here; the look-up gave no answer{f' ({differs})' if differs else ''}"
    if action.status is Status.EXECUTING:
        return f"{here} here, {there} there{f' ({differs})' if differs else ''}"
    if action.status is not Status.EXECUTED:
        return f"{here} here, yet {there} there" if seen.presence is Presence.FOUND else None
    if seen.presence is Presence.ABSENT:
        return f"{here} here, yet {there} there"
    if not seen.equal and action.compensated_by is None:
        return f"{here} here, and different there ({differs or 'not final'})"
    return None
