"""`aval restored`: after PostgreSQL came back from a backup, before any worker starts."""

import argparse
from typing import TYPE_CHECKING

from cli import asking, database
from domain.errors import OperatorError
from store import restoring
from store.connection import Connection
from store.restoring import Restored

if TYPE_CHECKING:
    from cli.main import Commands

_TO_DO = """
What to do, before workers and API start:
 1. For each action named above: aval reconcile ID --look. The backup forgot what was sent after it.
    A frozen one is settled with --executed or --failed; workers will only look at it.
    A closed one that the provider has was done: tell the person, and write it into your books.
 2. aval doctor --providers --hours N, N from before the backup was taken: what else the provider
    and this database do not agree on.
 3. Charges, bookings and messages made after the backup are not in this database: compare with the
    provider's own list, and with what people were told.
 4. Start workers and API. Messages that people sent meanwhile come again from WhatsApp."""


def add(commands: "Commands") -> None:
    """Declare the command."""
    parser = commands.add(
        "restored", run, "after a database restore: close what is pending, freeze what is executing"
    )
    asking.add_operator_argument(parser, required=True)
    asking.add_yes_argument(parser)


def run(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Hold every open action. Raises OperatorError while other Aval processes are connected."""

    async def work(connection: Connection) -> Restored:
        if others := await restoring.others_connected(connection):
            raise OperatorError(
                f"{others} other sessions of Aval are connected; stop workers and API first"
            )
        what = "Close every pending action and freeze every executing one in this database."
        asking.confirm(what, word="restored", yes=arguments.yes)
        return await restoring.hold_all(connection, operator=arguments.operator)

    held = database.ask(environment, work)
    for word, ids in (
        ("closed, was pending", held.closed),
        ("failed, its effect would be in this database", held.failed),
        ("frozen, may have been sent", held.frozen),
    ):
        print(f"{word}: {len(ids)}")
        for one in ids:
            print(f"  {one}")
    print(_TO_DO)
    return 0
