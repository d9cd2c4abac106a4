"""`aval demo`: the same stack, thrown away afterwards, with people who follow a script.

Nothing of the caller's environment but what a program needs to run gets in: a credential in the
shell or in `.env` must never turn a demo into a real charge. The people are a process of the
simulators' room, which knows the far side alone.
"""

import argparse
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from cli.signals import StopRequested, stop_on_signals
from cli.stack import data_folder
from cli.stack.errors import PartError
from cli.stack.ports import Ports
from cli.stack.stack import WATCH_EVERY_S, EmbeddedStack
from cli.stack.wiring import ROOT, Wiring, bare

if TYPE_CHECKING:
    from cli.main import Commands

PLAY_WITHIN_S = 100.0  # of the 120 that the whole may take; the stack starts and stops in the rest


def add(commands: "Commands") -> None:
    """Declare the command."""
    commands.add("demo", run, "a scripted conversation on a throw-away stack; no credentials used")


def run(_arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Play the demo. Returns 0 only if everything happened as promised."""
    kept = bare(environment)
    try:
        with (
            stop_on_signals(),
            data_folder.throw_away("aval-demo-") as data,
            EmbeddedStack(data, kept, ports=Ports.free()) as stack,
        ):
            return _play(stack, kept)
    except StopRequested:
        return 130


def _play(stack: EmbeddedStack, environment: dict[str, str]) -> int:
    print("Aval runs on this machine; WhatsApp, Claude and payments are simulated.", flush=True)
    script = subprocess.Popen(
        [sys.executable, "-m", "simulators.demo"],
        cwd=ROOT,
        env={**environment, **_far_side(stack.wiring), "SIM_DEMO_FOLDER": str(stack.data)},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    until = time.monotonic() + PLAY_WITHIN_S
    try:
        while (code := script.poll()) is None:
            stack.check_alive()
            _kill_if_asked(stack)
            if time.monotonic() > until:
                raise PartError(f"the demo did not end within {PLAY_WITHIN_S:.0f} s")
            time.sleep(WATCH_EVERY_S)
    finally:
        script.kill()
        script.wait()
    return code


def _kill_if_asked(stack: EmbeddedStack) -> None:
    """The script sees from outside when the provider has acted; the worker is ours to kill."""
    asked = stack.data / "kill-worker"
    if asked.exists():
        asked.unlink()
        stack.kill_and_restart("Worker")
        (stack.data / "worker-is-back").touch()


def _far_side(wiring: Wiring) -> dict[str, str]:
    return {
        "SIM_DEMO_WHATSAPP_URL": wiring.url("whatsapp"),
        "SIM_DEMO_WHATSAPP_SECRET": wiring.secrets.page_key,
        "SIM_DEMO_CLAUDE_URL": wiring.url("claude"),
        "SIM_DEMO_CLAUDE_SECRET": wiring.secrets.claude_admin,
        "SIM_DEMO_PAYMENTS_URL": wiring.url("payments"),
        "SIM_DEMO_PAYMENTS_SECRET": wiring.secrets.payments_admin,
    }
