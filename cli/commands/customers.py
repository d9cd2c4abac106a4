"""`aval customers add|list`: the customers that the bundled tools know."""

import argparse
from typing import TYPE_CHECKING

from cli import database, output, people
from domain.documents import mask_document
from store import accounts

if TYPE_CHECKING:
    from cli.main import Commands


def add(commands: "Commands") -> None:
    """Declare the commands."""
    group = commands.group("customers", "an account's customers")
    listing = group.add("list", run_list, "the customers of an account")
    listing.add_argument("account", type=people.account)
    adding = group.add("add", run_add, "add a customer")
    adding.add_argument("account", type=people.account)
    adding.add_argument("name", type=people.name)
    adding.add_argument("--document", type=people.document, help="CPF or CNPJ")
    adding.add_argument("--email", type=people.email)
    people.add_person_arguments(adding)


def run_add(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Add a customer; with a phone or user id he is known when he writes himself."""
    customer = database.ask(
        environment,
        lambda connection: accounts.add_customer(
            connection,
            account=arguments.account,
            name=arguments.name,
            document=arguments.document,
            email=arguments.email,
            person=people.person_or_none(arguments),
        ),
    )
    print(f"customer {customer} of {arguments.account!r} added")
    return 0


def run_list(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print the customers of an account, documents masked."""
    found = database.ask(
        environment, lambda connection: accounts.list_customers(connection, arguments.account)
    )
    rows = [
        (
            one.id,
            one.name,
            mask_document(one.document) if one.document else None,
            one.email,
            "blocked" if one.blocked else "-",
        )
        for one in found
    ]
    print(output.table(("CUSTOMER", "NAME", "DOCUMENT", "E-MAIL", "STATE"), rows))
    return 0
