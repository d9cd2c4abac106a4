"""`aval actions show ID`: what was shown and what was frozen, side by side; who decided, what went
over the wire, what the provider said, what the person was told, and whether the evidence holds."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cli import database, output
from cli.arguments import action_prefix
from store import reporting
from store.connection import Connection
from store.reporting import Report

if TYPE_CHECKING:
    from cli.main import Commands


def add(group: "Commands") -> None:
    """Declare the command."""
    parser = group.add("show", run, "everything about one action")
    parser.add_argument("action", type=action_prefix, help="its id, or the beginning of it")
    parser.add_argument("--json", action="store_true", help="one object, times in UTC")


def run(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print everything about an action. Returns 1 if its evidence does not hold."""

    async def find(connection: Connection) -> Report:
        action_id = await reporting.resolve(connection, arguments.action)
        return await reporting.report(connection, action_id)

    report = database.ask(environment, find)
    if arguments.json:
        print(output.as_json(_object(report)))
    else:
        print("\n".join(_lines(report)))
    return 0 if report.digest_holds and not report.broken_links else 1


def _object(report: Report) -> dict[str, Any]:
    action = report.action
    left_out = {"person", "digest", "payload_hash", "business_key", "conversation_id"}
    made = {k: v for k, v in output.fields(action).items() if k not in left_out}
    return {
        **made,
        "person": _last_four(report),
        "digest_holds": report.digest_holds,
        "decisions": [output.fields(one) for one in report.decisions],
        "sends": [output.fields(one) for one in report.sends],
        "messages": [output.fields(one) for one in report.messages],
        "evidence": [output.fields(one) for one in report.chain],
        "broken_links": report.broken_links,
    }


def _last_four(report: Report) -> str:
    person = report.action.person
    return (person.user_id or person.wa_id or "")[-4:]


def _lines(report: Report) -> Iterator[str]:
    action, zone = report.action, report.time_zone
    yield f"Action    {action.id}"
    yield f"Account   {action.account_id} ({zone})"
    yield f"Turn      {action.turn_id}"
    how = f"{action.risk}, confirm: {action.confirm}"
    yield f"Tool      {action.tool} v{action.tool_version}, {how}"
    yield f"For       {action.role.value} …{_last_four(report)}"
    why = f" ({action.reason})" if action.reason else ""
    yield f"Status    {action.status.value}{why}"
    for word, moment in (
        ("Proposed", action.created_at),
        ("Expires", action.expires_at),
        ("Decided", action.decided_at),
        ("Finished", action.finished_at),
    ):
        yield f"{word:<9} {output.local(moment, zone)}"
    if action.detail:
        yield f"Detail    {output.plain(action.detail)}"
    yield ""
    payload = "\n".join(f"{key}: {_value(value)}" for key, value in action.payload.items())
    yield output.side_by_side(
        output.plain(action.summary), payload, titles=("Summary, as shown", "Payload, as frozen")
    )
    if action.result is not None:
        yield "\nResult"
        yield from (f"  {key}: {_value(value)}" for key, value in action.result.items())
    yield from _history(report)
    yield from _evidence(report)


def _history(report: Report) -> Iterator[str]:
    zone = report.time_zone
    decided = [
        (
            output.local(one.received_at, zone),
            one.verdict,
            one.source,
            one.operator or f"{one.name or 'not a member'}, {one.role or 'public'} …{one.person}",
            _followed(one.followed, one.refusal),
        )
        for one in report.decisions
    ]
    yield from output.section("Decisions", ("RECEIVED", "VERDICT", "BY", "WHO", "EFFECT"), decided)
    sent = [
        (
            one.n,
            one.attempt,
            output.local(one.fenced_at, zone),
            one.outcome or "unknown yet: it may have been sent",
            one.provider_ref,
            one.reason,
        )
        for one in report.sends
    ]
    yield from output.section(
        "Sends", ("N", "ATTEMPT", "FENCED", "OUTCOME", "REFERENCE", "REASON"), sent
    )
    for one in report.sends:
        if one.evidence is not None:
            yield f"  provider's answer to send {one.n}: {_value(one.evidence)}"
        if one.data is not None:
            yield f"  data of send {one.n}: {_value(one.data)}"
    told = [
        (
            one.what,
            one.purpose,
            one.state,
            one.copies,
            one.status,
            output.local(one.delivered_at, zone),
            one.reason or one.error_code,
        )
        for one in report.messages
    ]
    head = ("MESSAGE", "PURPOSE", "STATE", "COPIES", "STATUS", "DELIVERED", "REASON")
    yield from output.section("Messages to the person", head, told)


def _evidence(report: Report) -> Iterator[str]:
    rows = [(one.n, output.local(one.at, report.time_zone), one.event) for one in report.chain]
    yield from output.section("Evidence", ("N", "AT", "EVENT"), rows)
    broken = ", ".join(str(n) for n in report.broken_links)
    yield f"  chain: {f'BROKEN at {broken}' if broken else 'verifies'}"
    yield f"  digest: {'verifies' if report.digest_holds else 'DOES NOT MATCH the frozen columns'}"


def _followed(followed: bool | None, refusal: str | None) -> str:
    if followed is None:
        return "not answered yet"
    return "followed" if followed else f"refused: {refusal or 'another decision won'}"


def _value(value: object) -> str:
    if isinstance(value, dict | list):
        return output.plain(" ".join(output.as_json(value).split()))
    return output.plain(str(value))
