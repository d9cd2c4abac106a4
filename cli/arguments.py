"""Reading a command line: what cannot be read is one line on stderr and exit code 2, no usage page
in between, so that scripts and people see what was wrong."""

import argparse
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from domain.errors import ToolInputError
from domain.money import cents_of

Run = Callable[[argparse.Namespace, dict[str, str]], int]
"""A command: its arguments and the environment (with .env); returns the exit code."""

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class BadArgumentsError(Exception):
    """The command line cannot be used; the message is one line and quotes what was given."""


class OneLineParser(argparse.ArgumentParser):
    """A parser that raises BadArgumentsError instead of printing its usage and leaving."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of leaving."""
        raise BadArgumentsError(f"{self.prog}: {' '.join(message.split())}")


def duration(text: str) -> timedelta:
    """`90s`, `10m`, `24h`, `7d` as a duration. Raises ArgumentTypeError."""
    match = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write 90s, 10m, 24h or 7d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def moment(text: str) -> datetime:
    """An ISO 8601 date or time, UTC if it has no zone; or a duration, counted back from now.
    Raises ArgumentTypeError."""
    if re.fullmatch(r"[0-9]+[smhd]", text):
        return datetime.now(UTC) - duration(text)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time; write 2026-03-01, 2026-03-01T09:30-03:00, or 24h (ago)"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def amount(text: str) -> int:
    """Cents of an amount like `150.00`. Raises ArgumentTypeError."""
    try:
        return cents_of(text)
    except ToolInputError:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount; write it like 150.00") from None


def positive(text: str) -> int:
    """A whole number from 1 to 10000. Raises ArgumentTypeError."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 10000")
    return int(text)


def action_prefix(text: str) -> str:
    """An action's id or its beginning, in lower case. Raises ArgumentTypeError."""
    if re.fullmatch(r"[0-9a-fA-F]{4,32}", text) is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no action id; give at least four of its 32 hexadecimal digits"
        )
    return text.lower()


def turn_prefix(text: str) -> str:
    """A turn's id or its beginning, in lower case. Raises ArgumentTypeError."""
    return _uuid_prefix(text, "turn")


def conversation_prefix(text: str) -> str:
    """A conversation's id or its beginning, in lower case. Raises ArgumentTypeError."""
    return _uuid_prefix(text, "conversation")


def _uuid_prefix(text: str, what: str) -> str:
    if re.fullmatch(r"[0-9a-fA-F-]{4,36}", text) is None or len(text.replace("-", "")) > 32:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no {what} id; give at least four of its 32 hexadecimal digits"
        )
    return text.lower()


def person_ending(text: str) -> str:
    """A phone or user id, or the last four characters or more of one. Raises ArgumentTypeError."""
    if re.fullmatch(r"[0-9+().\s-]+", text):
        text = re.sub(r"[^0-9]", "", text)
    if not 4 <= len(text) <= 140:
        raise argparse.ArgumentTypeError(f"{text!r}: give at least the last four digits")
    return text
