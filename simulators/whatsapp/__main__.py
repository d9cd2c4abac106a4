"""`python -m simulators.whatsapp`: one process, one business number.

Each option may also come from SIM_WHATSAPP_<OPTION>; secrets had better, since arguments are
visible to everyone on the machine. Nothing secret is printed.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from simulators.whatsapp.config import DEMO_PERSONS, Person, SimulatorConfig
from simulators.whatsapp.server import SimulatorServer

_OPTIONS = {
    "host": "address to listen on (127.0.0.1)",
    "port": "port to listen on (8101)",
    "webhook-url": "where webhooks are posted",
    "app-secret": "key of the webhook signature",
    "token": "Bearer token the product must send",
    "phone-number-id": "id of the business number",
    "display-phone-number": "the business number, digits only",
    "page-secret": "key of the phone page and the admin API (closed to all without one)",
    "state": "file in which chats survive a restart",
    "persons": "JSON list of persons, or @FILE",
    "retry-initial": "seconds before the first redelivery",
    "retry-max": "longest pause between redeliveries, seconds",
    "admin-from-anywhere": "1: the admin API answers other machines too",
}


def read_options(argv: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the given options; an argument wins over its environment variable."""
    parser = argparse.ArgumentParser(prog="python -m simulators.whatsapp", description=__doc__)
    for name, text in _OPTIONS.items():
        parser.add_argument(f"--{name}", default=environ.get(_variable(name)), help=text)
    given = vars(parser.parse_args(argv))
    return {key: value for key, value in given.items() if value is not None}


def config_from(options: Mapping[str, str]) -> SimulatorConfig:
    """Return the settings, or raise ValueError that names what is missing or wrong."""
    for name in ("webhook-url", "app-secret", "token"):
        if not options.get(name.replace("-", "_")):
            raise ValueError(f"--{name} or {_variable(name)} is required")
    renamed = {
        "state": "state_file",
        "retry_initial": "retry_initial_seconds",
        "retry_max": "retry_max_seconds",
    }
    values: dict[str, object] = {
        renamed.get(key, key): value
        for key, value in options.items()
        if key not in ("host", "port", "persons")
    }
    values["persons"] = _persons(options.get("persons"))
    try:
        return SimulatorConfig.model_validate(values)
    except ValidationError as error:
        wrong = ", ".join(str(e["loc"][0]) + ": " + e["msg"] for e in error.errors())
        raise ValueError(wrong) from None  # the original would print the values, secrets too


def main() -> int:
    """Serve until a signal; return the exit code."""
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        options = read_options(sys.argv[1:], os.environ)
        config = config_from(options)
        port = int(options.get("port", "8101"))
    except ValueError as error:
        sys.stderr.write(f"simulators.whatsapp: {error}\n")
        return 2
    if "page_secret" not in options:
        sys.stderr.write("no page secret given: phone page and admin API stay closed\n")
    server = SimulatorServer(config, host=options.get("host", "127.0.0.1"), port=port)
    server.run()
    return 0 if server.started else 1


def _variable(name: str) -> str:
    return "SIM_WHATSAPP_" + name.upper().replace("-", "_")


def _persons(text: str | None) -> tuple[Person, ...]:
    if not text:
        return DEMO_PERSONS
    if text.startswith("@"):
        text = Path(text[1:]).read_text(encoding="utf-8")
    try:
        return TypeAdapter(tuple[Person, ...]).validate_python(json.loads(text))
    except (json.JSONDecodeError, ValidationError) as error:
        raise ValueError(f"persons: {error}") from None


if __name__ == "__main__":
    sys.exit(main())
