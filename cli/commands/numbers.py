"""`aval numbers add`: which account a business number speaks for."""

import argparse
from typing import TYPE_CHECKING

from cli import database, people
from store import accounts

if TYPE_CHECKING:
    from cli.main import Commands


def add(commands: "Commands") -> None:
    """Declare the command."""
    group = commands.group("numbers", "business numbers")
    parser = group.add("add", run, "give a business number to an account")
    parser.add_argument("account", type=people.account)
    parser.add_argument("phone_number_id", type=people.number_id, help="Meta's id of the number")
    parser.add_argument("--display", type=people.phone, help="the number as people see")


def run(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Give the number to the account."""
    database.ask(
        environment,
        lambda connection: accounts.add_number(
            connection,
            account=arguments.account,
            phone_number_id=arguments.phone_number_id,
            display=arguments.display or "",
        ),
    )
    print(f"number {arguments.phone_number_id!r} speaks for {arguments.account!r}")
    return 0
