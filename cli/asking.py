"""Asking before something is written that cannot be taken back.

The trap: a script that pipes an answer, or a shell history that repeats a line, settles an action
that nobody looked at. So a terminal types the beginning of the id, and a script says `--yes`.
"""

import argparse
import sys

from cli import people
from domain.errors import OperatorError

TYPED = 6  # characters: enough that nobody types them by habit


def add_operator_argument(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """`--operator NAME`: who does it; written as evidence."""
    parser.add_argument(
        "--operator", type=people.name, required=required, metavar="NAME", help="who does it"
    )


def add_yes_argument(parser: argparse.ArgumentParser) -> None:
    """`--yes`: for scripts, instead of the question."""
    parser.add_argument("--yes", action="store_true", help="do not ask (for scripts)")


def confirm(what: str, *, word: str, yes: bool) -> None:
    """Go on only if the beginning of `word` is typed on a terminal, or `yes`. Raises
    OperatorError."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise OperatorError("this asks on a terminal; a script says --yes")
    wanted = word[:TYPED]
    sys.stdout.write(f"{what}\nType {wanted!r} to go on: ")
    sys.stdout.flush()
    if sys.stdin.readline().strip() != wanted:
        raise OperatorError("not typed; nothing was done")
