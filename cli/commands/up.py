"""`aval up`: everything on this machine, until Ctrl-C; the data stays for the next time."""

import argparse
import time
from typing import TYPE_CHECKING

from cli import environment as environment_module
from cli.signals import StopRequested, stop_on_signals
from cli.stack.ports import Ports
from cli.stack.stack import EmbeddedStack
from cli.stack.wiring import WEBHOOK

if TYPE_CHECKING:
    from cli.main import Commands


def add(commands: "Commands") -> None:
    """Declare the command."""
    commands.add("up", run, "start everything on this machine, until Ctrl-C")


def run(_arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Start, print where everything is, watch. Returns 0 after a stop that was asked for."""
    data = environment_module.data_folder(environment)
    began = time.monotonic()
    try:
        with stop_on_signals():
            ports = Ports.from_environment(environment)
            with EmbeddedStack(data, environment, ports=ports, say=_say) as stack:
                print(_welcome(stack, time.monotonic() - began), flush=True)
                stack.watch()
    except StopRequested:
        print("Aval is stopped; the data stays.", flush=True)
    return 0


def _say(line: str) -> None:
    print(f"  {line}", flush=True)


def _welcome(stack: EmbeddedStack, seconds: float) -> str:
    wiring = stack.wiring
    rows = wiring.parties.describe()
    if wiring.parties.whatsapp:
        rows.append(("Phone page", wiring.phone_page))
    else:
        rows.append(("Webhook", f"let Meta reach {wiring.url('api')}{WEBHOOK} by https"))
        rows.append(("Accounts", "aval accounts add, aval numbers add, aval members add"))
    if wiring.parties.temporal:
        rows.append(("Temporal UI", stack.temporal.ui_url))
    rows.append(("API", wiring.url("api")))
    if wiring.parties.database:
        rows.append(("psql", stack.postgres.psql("aval")))
        if not stack.postgres.folder.is_relative_to(stack.data):
            rows.append(("PostgreSQL's data", str(stack.postgres.folder)))
    rows += [("Data", str(stack.data)), ("Logs", str(stack.data / "logs"))]
    lines = [f"Aval is up, after {seconds:.1f} s."]
    lines += [f"  {name:<18} {value}" for name, value in rows]
    return "\n".join([*lines, "Ctrl-C stops it; the next `aval up` goes on where this one was."])
