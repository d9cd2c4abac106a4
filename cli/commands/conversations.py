"""`aval conversations list|pause|resume`: a human takes a conversation over, and gives it back."""

import argparse
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from cli import asking, database, output, people
from cli.arguments import conversation_prefix, person_ending, positive
from domain.errors import OperatorError
from domain.pausing import PAUSE, in_hours, pause_hours
from store import conversations, pauses
from store.connection import Connection
from store.conversations import ListedConversation
from store.pauses import Cause, Pause

if TYPE_CHECKING:
    from cli.main import Commands

SETTING = "AVAL_PAUSE_HOURS"
SHORT_ID = 13
_CAUSES = {"person": "the person asked", "echo": "a human wrote", "operator": "operator"}


def add(commands: "Commands") -> None:
    """Declare the commands."""
    group = commands.group("conversations", "conversations, and who answers in them")
    parser = group.add("list", run_list, "conversations, the paused ones first")
    parser.add_argument("--paused", action="store_true", help="only those that a human has")
    parser.add_argument("--account", type=people.account)
    parser.add_argument("--person", type=person_ending, help="phone or user id, or its last digits")
    parser.add_argument("--limit", type=positive, default=50)
    parser.add_argument("--json", action="store_true", help="one array, times in UTC")
    parser = group.add("pause", run_pause, "let a human answer: the agent is quiet")
    _add_conversation(parser)
    parser.add_argument("--hours", type=_hours, help=f"instead of {SETTING} ({in_hours(PAUSE)})")
    parser = group.add("resume", run_resume, "let the agent read on and answer")
    _add_conversation(parser)


def _add_conversation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "conversation", type=conversation_prefix, help="its id, or the beginning of it"
    )
    asking.add_operator_argument(parser, required=True)


def _hours(text: str) -> timedelta:
    try:
        return pause_hours(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run_list(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print conversations: ids, endings of persons, and who has them."""
    found = database.ask(
        environment,
        lambda connection: conversations.list_conversations(
            connection,
            account=arguments.account,
            person=arguments.person,
            paused=arguments.paused,
            limit=arguments.limit,
        ),
    )
    if arguments.json:
        print(output.as_json([output.fields(one) for one in found]))
        return 0
    head = ("CONVERSATION", "ACCOUNT", "PERSON", "LAST", "WAITING", "QUIET UNTIL", "WHY")
    print(output.table(head, [_row(one) for one in found]))
    return 0


def _row(one: ListedConversation) -> tuple[object, ...]:
    return (
        str(one.id)[:SHORT_ID],
        one.account,
        f"…{one.person}",
        output.local(one.last_at, one.time_zone),
        one.waiting,
        output.local(one.until, one.time_zone),
        _why(one),
    )


def _why(one: ListedConversation) -> str | None:
    if one.cause is None:
        return None
    return f"{_CAUSES[one.cause]} {one.by}" if one.by else _CAUSES[one.cause]


def run_pause(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Pause a conversation; one that is paused already is paused anew for so long from now."""
    lasts = arguments.hours or _setting(environment)

    async def work(connection: Connection) -> tuple[UUID, Pause | None]:
        found = await conversations.resolve_conversation(connection, arguments.conversation)
        async with connection.transaction():
            return found, await pauses.begin(
                connection,
                found,
                cause=Cause.OPERATOR,
                lasts=lasts,
                operator=arguments.operator,
            )

    found, pause = database.ask(environment, work)
    assert pause is not None, "a pause that begins now is not over"
    print(f"conversation {found}: the agent is quiet until {pause.until:%Y-%m-%d %H:%M} UTC")
    print("Buttons go on working, and what is pending stays pending until its own deadline.")
    return 0


def run_resume(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """End a pause. Raises OperatorError if there is none."""

    async def work(connection: Connection) -> UUID:
        found = await conversations.resolve_conversation(connection, arguments.conversation)
        if await pauses.end(connection, found, operator=arguments.operator) is None:
            raise OperatorError(f"conversation {str(found)!r} is not paused")
        return found

    print(f"conversation {database.ask(environment, work)}: the agent reads on")
    return 0


def _setting(environment: dict[str, str]) -> timedelta:
    try:
        return pause_hours(environment.get(SETTING, "").strip() or str(in_hours(PAUSE)))
    except ValueError as error:
        raise OperatorError(f"{SETTING}: {error}") from None
