"""`aval`: the command line.

Expected trouble is one line on stderr: exit code 2 for what was asked or set wrongly, 1 for what
went wrong on the way. A traceback is a bug of Aval. Every command leaves through
`domain.process.leave`, since it may have used a Temporal client.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from cli import environment
from cli.arguments import BadArgumentsError, OneLineParser, Run
from cli.commands import ALL
from cli.stack.errors import PartError
from domain.errors import OperatorError
from domain.process import leave


class Commands:
    """Where the commands of one level are declared."""

    def __init__(self, parser: argparse.ArgumentParser, *, dest: str) -> None:
        self._level = parser.add_subparsers(dest=dest, metavar="COMMAND", required=True)

    def add(self, name: str, run: Run, text: str) -> argparse.ArgumentParser:
        """Declare a command; its arguments go onto what is returned."""
        parser = self._level.add_parser(name, help=text, description=text)
        parser.set_defaults(run=run)
        return parser

    def group(self, name: str, text: str) -> "Commands":
        """Declare a word under which further commands stand."""
        parser = self._level.add_parser(name, help=text, description=text)
        return Commands(parser, dest=f"{name}_command")


def build_parser() -> argparse.ArgumentParser:
    """The parser with every command."""
    parser = OneLineParser(
        prog="aval", description="AI agents on WhatsApp that never act without a person's click"
    )
    commands = Commands(parser, dest="command")
    for module in ALL:
        module.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        arguments: Any = build_parser().parse_args(argv)
        code: int = arguments.run(arguments, environment.load())
        sys.stdout.flush()
        return code
    except PartError as error:
        return _fail(f"aval: {error}", 1)
    except OperatorError as error:
        return _fail(f"aval: {error}", 2)
    except BadArgumentsError as error:
        return _fail(str(error), 2)
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _fail("aval: interrupted", 130)


def _fail(message: str, code: int) -> int:
    sys.stdout.flush()
    sys.stderr.write(f"{message}\n")
    return code


def entry() -> None:
    """The console script."""
    try:
        code = main()
    except SystemExit as end:  # argparse's --help
        code = end.code if isinstance(end.code, int) else 0
    leave(code)


if __name__ == "__main__":
    entry()
