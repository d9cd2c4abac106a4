"""One self-contained HTML page about one action, for a dispute: it opens without a network, prints
on paper, and shows no other person's messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from cli import output
from store.evidence import Event, SignedItem
from store.reporting import Report

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; color: #111; max-width: 60em; margin: 2em auto;
  padding: 0 1em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin: 1.6em 0 .4em; break-after: avoid; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid #999; padding: .25em .5em; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { background: #eee; font-weight: 600; }
tr { break-inside: avoid; }
pre { border: 1px solid #999; padding: .6em; white-space: pre-wrap; overflow-wrap: anywhere;
  background: #fafafa; margin: .4em 0; }
.shown { font: 15px/1.5 system-ui, sans-serif; background: #f4faf4; }
.bad { background: #fdd; font-weight: 600; }
@media print { body { margin: 0; max-width: none; font-size: 11px; } pre { background: none; } }
"""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the page is made of. `made_at`: UTC."""

    report: Report
    events: list[Event]
    signed: list[SignedItem]
    prompts: list[str]
    made_at: datetime


def page(evidence: Evidence) -> str:
    """The page, as one HTML document."""
    action = evidence.report.action
    body = "\n".join(
        [
            f"<h1>Action {escape(action.id)}</h1>",
            _facts(evidence),
            *_shown(evidence),
            "<h2>Payload, as frozen</h2>",
            _pre(output.as_json(action.payload)),
            "<h2>Request to the provider, as frozen</h2>",
            _pre(output.as_json(action.request) if action.request else "none: our own database"),
            *_decisions(evidence),
            *_sends(evidence),
            *_messages(evidence),
            *_timeline(evidence),
        ]
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Aval: evidence of action {escape(action.id)}</title>"
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _facts(evidence: Evidence) -> str:
    report, action = evidence.report, evidence.report.action
    zone = report.time_zone
    links = ", ".join(str(n) for n in report.broken_links)
    chain = f"BROKEN at link {links}" if links else f"sound, {len(evidence.events)} links"
    rows: list[tuple[str, object]] = [
        ("Account", f"{action.account_id} (times in {zone})"),
        ("Tool", f"{action.tool}, version {action.tool_version}; {action.risk}, {action.confirm}"),
        ("Person who may decide", _person(evidence)),
        ("Business number id", action.phone_number_id),
        ("Status", f"{action.status}{f' ({action.reason})' if action.reason else ''}"),
        ("Proposed", output.local(action.created_at, zone)),
        ("Valid until", output.local(action.expires_at, zone)),
        ("Decided", output.local(action.decided_at, zone)),
        ("Finished", output.local(action.finished_at, zone)),
        ("Digest of what was shown", action.digest),
        ("Digest now", "equal" if report.digest_holds else "NOT EQUAL: a frozen column changed"),
        ("Chain of evidence", chain),
        ("Head of the chain", evidence.events[-1].hash if evidence.events else "none"),
        ("This page was made", output.local(evidence.made_at, zone)),
    ]
    return _table(("", ""), rows, bad=("BROKEN", "NOT EQUAL"))


def _person(evidence: Evidence) -> str:
    person = evidence.report.action.person
    ids = [("user id", person.user_id), ("phone", person.wa_id)]
    named = ", ".join(f"{word} {value}" for word, value in ids if value)
    return f"{named} ({evidence.report.action.role})"


def _shown(evidence: Evidence) -> list[str]:
    texts = evidence.prompts or [evidence.report.action.summary]
    title = "The question, as the person saw it" if evidence.prompts else "Summary; not shown"
    return [f"<h2>{title}</h2>", *(_pre(text, css="shown") for text in texts)]


def _decisions(evidence: Evidence) -> list[str]:
    zone = evidence.report.time_zone
    rows = [
        (
            output.local(one.received_at, zone),
            one.verdict,
            one.source,
            one.operator or f"{one.name or 'not a member'} …{one.person}",
            "followed" if one.followed else f"refused: {one.refusal or 'another decision won'}",
            one.evidence,
        )
        for one in evidence.report.decisions
    ]
    head = ("Received", "Verdict", "By", "Who", "Effect", "Evidence given")
    lines = ["<h2>Decisions</h2>", _table(head, rows)]
    for item in evidence.signed:
        lines.append(
            "<p>The item of the signed webhook that carried it, received "
            f"{escape(output.local(item.received_at, zone))}; SHA-256 of the signed body: "
            f"<code>{escape(item.webhook_sha256)}</code></p>"
        )
        lines.append(_pre(item.raw.decode("utf-8", errors="backslashreplace")))
    return lines


def _sends(evidence: Evidence) -> list[str]:
    zone = evidence.report.time_zone
    rows = [
        (
            one.n,
            one.attempt,
            output.local(one.fenced_at, zone),
            one.outcome or "unknown",
            one.provider_ref,
            one.reason,
        )
        for one in evidence.report.sends
    ]
    head = ("Send", "Attempt", "Fenced", "Outcome", "Provider's reference", "Reason")
    lines = ["<h2>Sends to the provider</h2>", _table(head, rows)]
    for one in evidence.report.sends:
        if one.evidence is not None:
            lines.append(f"<p>The provider's answer to send {one.n}</p>")
            lines.append(_pre(output.as_json(one.evidence)))
    return lines


def _messages(evidence: Evidence) -> list[str]:
    rows = [
        (
            one.what,
            one.state,
            one.copies,
            one.status,
            output.local(one.delivered_at, evidence.report.time_zone),
        )
        for one in evidence.report.messages
    ]
    head = ("Message", "State", "Copies", "Status", "Delivered")
    return ["<h2>Messages to the person about it</h2>", _table(head, rows)]


def _timeline(evidence: Evidence) -> list[str]:
    rows = [
        (
            one.n,
            output.local(one.at, evidence.report.time_zone),
            one.event,
            output.as_json(one.detail),
            one.hash,
        )
        for one in evidence.events
    ]
    return ["<h2>Timeline</h2>", _table(("N", "At", "Event", "Detail", "Hash"), rows)]


def _pre(text: str, *, css: str = "") -> str:
    return f'<pre class="{css}">{escape(text)}</pre>' if css else f"<pre>{escape(text)}</pre>"


def _table(
    head: tuple[str, ...],
    rows: Sequence[Sequence[object]],
    *,
    bad: tuple[str, ...] = (),
) -> str:
    if not rows:
        return "<p>none</p>"
    top = "".join(f"<th>{escape(name)}</th>" for name in head) if any(head) else ""
    lines = []
    for row in rows:
        cells = ["-" if value is None else str(value) for value in row]
        mark = ' class="bad"' if any(cell.startswith(bad) for cell in cells if bad) else ""
        lines.append(
            f"<tr{mark}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        )
    return f"<table>{f'<tr>{top}</tr>' if top else ''}{''.join(lines)}</table>"
