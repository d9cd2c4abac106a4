"""`aval actions list`: which actions there are and where they stand, newest first."""

import argparse
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cli import database, output, people
from cli.arguments import amount, duration, moment, person_ending, positive
from domain.actions import Status
from store import reporting
from store.reporting import Listed, Wanted

if TYPE_CHECKING:
    from cli.main import Commands

SHORT_ID = 12  # characters of an id that tell actions apart on a screen


def add(group: "Commands") -> None:
    """Declare the command."""
    parser = group.add("list", run, "actions, newest first")
    parser.add_argument("--status", choices=[status.value for status in Status])
    parser.add_argument("--older-than", type=duration, help="proposed longer ago than 10m, 24h")
    parser.add_argument("--since", type=moment, help="proposed after: 2026-03-01, or 24h (ago)")
    parser.add_argument("--until", type=moment, help="proposed before: the same forms")
    parser.add_argument("--amount", type=amount, help="of the payload, as 150.00")
    parser.add_argument("--person", type=person_ending, help="phone or user id, or its last digits")
    parser.add_argument("--tool")
    parser.add_argument("--account", type=people.account)
    parser.add_argument("--limit", type=positive, default=50)
    parser.add_argument("--json", action="store_true", help="a list of objects, times in UTC")


def run(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print the actions wanted."""
    older = arguments.older_than
    before = [datetime.now(UTC) - older] if older else []
    before += [arguments.until] if arguments.until else []
    wanted = Wanted(
        status=Status(arguments.status) if arguments.status else None,
        created_before=min(before, default=None),
        amount_cents=arguments.amount,
        created_since=arguments.since,
        person=arguments.person,
        tool=arguments.tool,
        account=arguments.account,
        limit=arguments.limit,
    )
    found = database.ask(environment, lambda connection: reporting.list_actions(connection, wanted))
    if arguments.json:
        print(output.as_json([output.fields(one) for one in found]))
        return 0
    if wanted.status is Status.EXECUTING:
        print(output.table(_EXECUTING, [_executing(one) for one in found]))
    else:
        print(output.table(_HEAD, [_row(one) for one in found]))
    if len(found) == arguments.limit:
        print(f"(the newest {arguments.limit}; --limit shows more)")
    return 0


_HEAD = ("ACTION", "PROPOSED", "ACCOUNT", "TOOL", "STATUS", "REASON", "PERSON", "FINISHED")


def _row(one: Listed) -> tuple[object, ...]:
    return (
        one.id[:SHORT_ID],
        output.local(one.created_at, one.time_zone),
        one.account,
        one.tool,
        one.status.value,
        one.reason,
        f"{one.role} …{one.person}",
        output.local(one.finished_at, one.time_zone),
    )


_EXECUTING = ("ACTION", "ACCOUNT", "TOOL", "AGE", "SENDS", "LAST EVIDENCE", "SEEN")


def _executing(one: Listed) -> tuple[object, ...]:
    """What an operator asks of an action whose outcome is open; `aval reconcile` takes the id."""
    return (
        one.id[:SHORT_ID],
        one.account,
        one.tool,
        _age(one.age),
        one.sends,
        f"{output.local(one.last_event_at, one.time_zone)} {one.last_event or 'none'}",
        f"{one.seen or '-'}{', frozen' if one.frozen else ''}",
    )


def _age(age: timedelta) -> str:
    seconds = int(age.total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
