"""`aval numbers add|share`: which account a business number speaks for, and whose members may work
through it besides."""

import argparse
from typing import TYPE_CHECKING

from cli import database, people
from store import accounts

if TYPE_CHECKING:
    from cli.main import Commands


def add(commands: "Commands") -> None:
    """Declare the commands."""
    group = commands.group("numbers", "business numbers")
    parser = group.add("add", run, "give a business number to an account")
    parser.add_argument("account", type=people.account)
    parser.add_argument("phone_number_id", type=people.number_id, help="Meta's id of the number")
    parser.add_argument("--display", type=people.phone, help="the number as people see")
    parser = group.add("share", run_share, "let a further account's members work through a number")
    parser.add_argument("account", type=people.account)
    parser.add_argument("phone_number_id", type=people.number_id, help="Meta's id of the number")


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


def run_share(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Let the members of a further account work through the number."""
    database.ask(
        environment,
        lambda connection: accounts.share_number(
            connection, account=arguments.account, phone_number_id=arguments.phone_number_id
        ),
    )
    print(f"members of {arguments.account!r} may work through number {arguments.phone_number_id!r}")
    print("Who is a member of several of its accounts is asked for which; summaries name it.")
    return 0
