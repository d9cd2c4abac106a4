"""`aval accounts add|list`: the tenants whose data and money are acted on."""

import argparse
import re
from typing import TYPE_CHECKING

from cli import database, output, people
from cli.arguments import BadArgumentsError
from domain.canonical import JsonValue
from domain.texts import LANGUAGES
from gateways.registry import GatewayRegistry
from store import accounts

if TYPE_CHECKING:
    from cli.main import Commands

WITHOUT_MODE = frozenset({"pagarme"})
"""Gateways whose configuration says nothing of sandbox or live: any https address is live."""

_OPTION = re.compile(r"([a-z][a-z_]{0,40})=(.{1,500})")
_SAID_ELSEWHERE = frozenset({"api_key", "recipient_id", "mode", "base_url", "allow_plain_http"})


def add(commands: "Commands") -> None:
    """Declare the commands."""
    group = commands.group("accounts", "the tenants")
    group.add("list", run_list, "all accounts with their numbers")
    parser = group.add("add", run_add, "add an account")
    parser.add_argument("account", type=people.account, help="its id, such as estudio-ipanema")
    parser.add_argument("--name", type=people.name, required=True)
    parser.add_argument("--time-zone", type=people.time_zone, required=True)
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0])
    parser.add_argument("--prompt-file", help="file in AVAL_PROMPTS; the shipped one without it")
    parser.add_argument("--read-only", action="store_true", help="offer tools that only read")
    parser.add_argument("--gateway", choices=GatewayRegistry().names())
    parser.add_argument(
        "--gateway-mode",
        choices=("sandbox", "live"),
        help="whether real money moves; has to be that of the key (not for pagarme)",
    )
    parser.add_argument("--gateway-url", help="where the provider is; its own address without it")
    parser.add_argument("--gateway-secret", help="name of the variable with the key, AVAL_...")
    parser.add_argument("--recipient", help="the provider's id of the account that is paid out to")
    parser.add_argument(
        "--gateway-option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what else the gateway asks for, never a secret; may be repeated (docs/gateways.md)",
    )


def run_add(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Add an account."""
    config = _gateway_config(arguments)
    settings: dict[str, JsonValue] = {"read_only": True} if arguments.read_only else {}
    database.ask(
        environment,
        lambda connection: accounts.add_account(
            connection,
            account=arguments.account,
            name=arguments.name,
            time_zone=arguments.time_zone,
            language=arguments.language,
            prompt_file=arguments.prompt_file,
            gateway=arguments.gateway,
            gateway_config=config,
            settings=settings,
        ),
    )
    print(f"account {arguments.account!r} added; next: aval numbers add, aval members add")
    return 0


def _gateway_config(arguments: argparse.Namespace) -> dict[str, JsonValue]:
    given = (
        arguments.gateway_mode,
        arguments.gateway_url,
        arguments.gateway_secret,
        arguments.recipient,
        arguments.gateway_option,
    )
    if arguments.gateway is None:
        if any(given):
            raise BadArgumentsError("aval accounts add: --gateway is missing")
        return {}
    if not arguments.gateway_secret or not arguments.gateway_secret.startswith("AVAL_"):
        raise BadArgumentsError(
            "aval accounts add: --gateway-secret must name a variable that begins with AVAL_ "
            "(the key itself never goes into the database)"
        )
    if not arguments.recipient:
        raise BadArgumentsError("aval accounts add: --recipient is missing")
    config: dict[str, JsonValue] = {
        "api_key": {"secret": arguments.gateway_secret},
        "recipient_id": arguments.recipient,
    }
    if (arguments.gateway_mode is None) != (arguments.gateway in WITHOUT_MODE):
        says = "takes no" if arguments.gateway in WITHOUT_MODE else "needs a"
        raise BadArgumentsError(
            f"aval accounts add: gateway {arguments.gateway!r} {says} --gateway-mode"
        )
    if arguments.gateway_mode is not None:
        config["mode"] = arguments.gateway_mode
    if url := arguments.gateway_url:
        if not url.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
            raise BadArgumentsError(
                f"aval accounts add: --gateway-url: {url!r} must begin with https://, or with "
                "http://127.0.0.1: for a simulator"
            )
        config["base_url"] = url
        if url.startswith("http://"):
            config["allow_plain_http"] = True
    return {**config, **_options(arguments.gateway_option)}


def _options(given: list[str]) -> dict[str, JsonValue]:
    options: dict[str, JsonValue] = {}
    for one in given:
        found = _OPTION.fullmatch(one)
        if found is None:
            # Nothing of it is shown: whoever mistakes the option may have put a secret there.
            raise BadArgumentsError("aval accounts add: a --gateway-option is not NAME=VALUE")
        name = found[1]
        if name in _SAID_ELSEWHERE or name in options:
            raise BadArgumentsError(
                f"aval accounts add: --gateway-option {name!r} is given twice, or has an option of "
                "its own"
            )
        if "secret" in name or "password" in name or "token" in name:
            raise BadArgumentsError(
                f"aval accounts add: --gateway-option {name!r} looks like a secret; the database "
                "holds only the name of a variable (--gateway-secret)"
            )
        options[name] = found[2]
    return options


def run_list(_arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print all accounts."""
    found = database.ask(environment, accounts.list_accounts)
    rows = [
        (
            one.id,
            one.name,
            one.time_zone,
            one.language,
            one.gateway,
            "read only" if one.settings.get("read_only") else "-",
            ", ".join(one.numbers),
        )
        for one in found
    ]
    head = ("ACCOUNT", "NAME", "TIME ZONE", "LANGUAGE", "GATEWAY", "TOOLS", "NUMBERS")
    print(output.table(head, rows))
    return 0
