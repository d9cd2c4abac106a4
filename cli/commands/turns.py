"""`aval turns list` and `show ID`: what was said, what the model was asked and answered, and what
came of it."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cli import database, output, people
from cli.arguments import moment, person_ending, positive, turn_prefix
from llm import prices
from store import tracing
from store.connection import Connection
from store.tracing import ListedTurn, ModelCall, TurnReport

if TYPE_CHECKING:
    from cli.main import Commands

SHORT_ID = 13
MOST_TEXT = 300
"""Characters of a text that are printed; `--json` has all of it."""


def add(commands: "Commands") -> None:
    """Declare the commands."""
    group = commands.group("turns", "turns of conversations, as they happened")
    parser = group.add("list", run_list, "which turns there were, newest first")
    parser.add_argument("--since", type=moment, help="2026-03-01, or 24h (ago)")
    parser.add_argument("--account", type=people.account)
    parser.add_argument("--person", type=person_ending, help="phone or user id, or its last digits")
    parser.add_argument("--limit", type=positive, default=50)
    parser.add_argument("--json", action="store_true", help="one array, times in UTC")
    parser = group.add("show", run_show, "everything about one turn")
    parser.add_argument("turn", type=turn_prefix, help="its id, or the beginning of it")
    parser.add_argument("--json", action="store_true", help="one object, times in UTC")


def run_list(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print the list."""

    async def find(connection: Connection) -> list[ListedTurn]:
        return await tracing.list_turns(
            connection,
            since=arguments.since,
            account=arguments.account,
            person=arguments.person,
            limit=arguments.limit,
        )

    found = database.ask(environment, find)
    if arguments.json:
        print(output.as_json([output.fields(one) for one in found]))
        return 0
    head = ("TURN", "OPENED", "ACCOUNT", "PERSON", "OUTCOME", "MESSAGES", "CALLS")
    rows = [
        (
            str(one.id)[:SHORT_ID],
            output.local(one.opened_at, one.time_zone),
            one.account,
            f"…{one.person}",
            one.outcome or "open",
            one.messages,
            one.calls,
        )
        for one in found
    ]
    print(output.table(head, rows))
    return 0


def run_show(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print everything about a turn."""

    async def find(connection: Connection) -> TurnReport:
        turn = await tracing.resolve_turn(connection, arguments.turn)
        return await tracing.turn_report(connection, turn)

    report = database.ask(environment, find)
    print(output.as_json(_object(report)) if arguments.json else "\n".join(_lines(report)))
    return 0


def _object(report: TurnReport) -> dict[str, Any]:
    return {
        **output.fields(report.turn),
        "messages": [output.fields(one) for one in report.messages],
        "model_calls": [
            {**output.fields(one), "cost_usd": prices.cost_usd(one.model, _tokens(one))}
            for one in report.calls
        ],
        "tool_results": [one.model_dump() for one in report.results],
        "proposals": [output.fields(one) for one in report.proposals],
        "sends": [output.fields(one) for one in report.sends],
    }


def _tokens(call: ModelCall) -> prices.Tokens:
    return prices.tokens_of(call.usage)


def _lines(report: TurnReport) -> Iterator[str]:
    turn, zone = report.turn, report.turn.time_zone
    yield f"Turn      {turn.id}"
    yield f"Account   {turn.account} ({zone})"
    yield f"Person    …{turn.person}"
    yield f"Opened    {output.local(turn.opened_at, zone)}"
    yield f"Closed    {output.local(turn.closed_at, zone)}, {turn.outcome or 'still open'}"
    said = [
        (output.local(one.sent_at or one.received_at, zone), one.kind, _short(one.text))
        for one in report.messages
    ]
    yield from output.section("The person's messages", ("SENT", "KIND", "TEXT"), said)
    if turn.claims:
        told = "the person was told the true state" if turn.claims_replaced else "sent as it was"
        claimed = [(one["kind"], ", ".join(one["about"]), told) for one in turn.claims]
        yield from output.section(
            "Claims that nothing supported", ("KIND", "ABOUT", "REPLY"), claimed
        )
    head = ("STEP", "AT", "MODEL", "STOP", "IN", "CACHED", "OUT", "USD", "MS", "REQUEST")
    yield from output.section("Model calls", head, [_call(one, zone) for one in report.calls])
    yield from output.section(
        "What it said and asked for", ("STEP", "KIND", "WHAT"), _asked(report)
    )
    answered = [
        (one.tool_use_id, "error" if one.is_error else "ok", _short(_value(one.content)))
        for one in report.results
    ]
    yield from output.section("What the tools answered", ("CALL", "RESULT", "CONTENT"), answered)
    made = [
        (one.id[:12], one.tool, one.status, output.local(one.created_at, zone))
        for one in report.proposals
    ]
    yield from output.section("Proposals", ("ACTION", "TOOL", "STATUS", "PROPOSED"), made)
    sent = [
        (
            one.key.partition(":")[2],
            one.purpose,
            one.state,
            one.copies,
            one.status,
            output.local(one.delivered_at, zone),
        )
        for one in report.sends
    ]
    columns = ("MESSAGE", "PURPOSE", "STATE", "COPIES", "STATUS", "DELIVERED")
    yield from output.section("Messages to the person", columns, sent)


def _call(call: ModelCall, zone: str) -> tuple[object, ...]:
    tokens = _tokens(call)
    cost = prices.cost_usd(call.model, tokens)
    return (
        call.step,
        output.local(call.created_at, zone),
        call.model,
        call.stop_reason,
        tokens.prompt,
        tokens.cached,
        tokens.out,
        "no price" if cost is None else f"{cost:.6f}",
        call.latency_ms,
        call.request_id,
    )


def _asked(report: TurnReport) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for call in report.calls:
        for block in call.content:
            match block.get("type"):
                case "text":
                    rows.append((call.step, "text", _short(str(block.get("text")))))
                case "tool_use":
                    given = _value(block.get("input"))
                    what = f"{block.get('name')} {given} ({block.get('id')})"
                    rows.append((call.step, "tool call", _short(what)))
                case other:
                    rows.append((call.step, str(other), None))
    return rows


def _value(value: object) -> str:
    return value if isinstance(value, str) else " ".join(output.as_json(value).split())


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…"
