"""`aval members add|remove|list`: who may see and decide for an account, and as what."""

import argparse
from typing import TYPE_CHECKING

from cli import database, output, people
from cli.arguments import positive
from domain.people import Role
from store import accounts

if TYPE_CHECKING:
    from cli.main import Commands


def add(commands: "Commands") -> None:
    """Declare the commands."""
    group = commands.group("members", "who belongs to an account, with which role")
    listing = group.add("list", run_list, "the members of an account")
    listing.add_argument("account", type=people.account)
    adding = group.add("add", run_add, "register a person for an account")
    adding.add_argument("account", type=people.account)
    adding.add_argument("name", type=people.name)
    adding.add_argument("--role", choices=[Role.OWNER.value, Role.STAFF.value], required=True)
    people.add_person_arguments(adding)
    removing = group.add("remove", run_remove, "end a membership")
    removing.add_argument("account", type=people.account)
    removing.add_argument("member", type=positive, help="its number in `aval members list`")


def run_add(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Register a person."""
    person = people.person(arguments)
    member = database.ask(
        environment,
        lambda connection: accounts.add_member(
            connection,
            account=arguments.account,
            name=arguments.name,
            role=Role(arguments.role),
            person=person,
        ),
    )
    print(f"member {member} of {arguments.account!r} added as {arguments.role}")
    return 0


def run_remove(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """End a membership; a pending action of that person can no longer be confirmed."""
    database.ask(
        environment,
        lambda connection: accounts.remove_member(
            connection, account=arguments.account, member=arguments.member
        ),
    )
    print(f"member {arguments.member} of {arguments.account!r} removed")
    return 0


def run_list(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print the members of an account."""
    found = database.ask(
        environment, lambda connection: accounts.list_members(connection, arguments.account)
    )
    rows = [(one.id, one.name, one.role.value, people.shown(one.person)) for one in found]
    print(output.table(("MEMBER", "NAME", "ROLE", "PERSON"), rows))
    return 0
