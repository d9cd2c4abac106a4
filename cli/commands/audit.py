"""`aval audit`: prove that the evidence was not changed, keep its heads outside the database, and
write one action's evidence as a page."""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cli import anchors, database
from cli.arguments import action_prefix, moment
from cli.evidence_page import Evidence, page
from domain.errors import OperatorError
from store import evidence, reporting
from store.connection import Connection

if TYPE_CHECKING:
    from cli.main import Commands

OVERLAP = timedelta(hours=1)
"""Heads are taken from so long before the last seal on: a transaction may commit later than the
time of its link."""


def add(commands: "Commands") -> None:
    """Declare the commands."""
    group = commands.group("audit", "prove, anchor and export the evidence")
    parser = group.add("verify", run_verify, "prove the chains, digests and anchored heads")
    parser.add_argument("--since", type=moment, help="actions proposed since; default: all")
    parser.add_argument("--file", type=Path, help="the anchor file to compare with")
    parser = group.add("anchor", run_anchor, "append the chains' heads to a file kept elsewhere")
    parser.add_argument("--file", type=Path, required=True, help="is made if it is not there")
    parser = group.add("export", run_export, "one action's evidence as one HTML page")
    parser.add_argument("action", type=action_prefix, help="its id, or the beginning of it")
    parser.add_argument("--file", type=Path, help="default: evidence-ID.html here")


def run_verify(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print what does not hold. Returns 1 if anything does not."""
    anchored = anchors.read(arguments.file).heads if arguments.file else []
    if arguments.file and not anchored:
        raise OperatorError(f"anchor file {str(arguments.file)!r} holds no heads")

    async def look(connection: Connection) -> tuple[int, list[str]]:
        count, faults = 0, []
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            async for some in evidence.ids(connection, since=arguments.since):
                count += len(some)
                faults += [_broken(one) for one in await evidence.broken(connection, some)]
            faults += [_missing(one) for one in await evidence.missing(connection, anchored)]
        return count, faults

    count, faults = database.ask(environment, look)
    for fault in faults:
        print(fault)
    compared = f", {len(anchored)} anchored heads" if anchored else ""
    print(
        f"{count} actions{compared}: {len(faults) or 'no'} fault{'' if len(faults) == 1 else 's'}"
    )
    return 1 if faults else 0


def _broken(one: evidence.Broken) -> str:
    if one.n is None:
        return f"{one.action_id}: a frozen column is not what was shown"
    return f"{one.action_id}: the chain of evidence is broken at link {one.n}"


def _missing(one: evidence.Head) -> str:
    return f"{one.action_id}: link {one.n} was anchored and is changed or gone"


def run_anchor(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Append the heads that are new since the file's last seal, and print the new seal."""
    known = anchors.read(arguments.file)
    since = known.sealed_at - OVERLAP if known.sealed_at else None
    heads = database.ask(environment, lambda connection: evidence.heads(connection, since=since))
    before = set(known.heads)
    new = [head for head in heads if head not in before]
    seal = anchors.write(arguments.file, new)
    print(f"{datetime.now(UTC).isoformat(timespec='seconds')} {len(new)} heads, seal {seal}")
    return 0


def run_export(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Write the page. Returns 1 if the evidence does not hold; the page says so too."""

    async def collect(connection: Connection) -> Evidence:
        action_id = await reporting.resolve(connection, arguments.action)
        return Evidence(
            report=await reporting.report(connection, action_id),
            events=await evidence.events(connection, action_id),
            signed=await evidence.signed_items(connection, action_id),
            prompts=await evidence.prompts(connection, action_id),
            made_at=datetime.now(UTC),
        )

    found = database.ask(environment, collect)
    path: Path = arguments.file or Path(f"evidence-{found.report.action.id}.html")
    try:
        path.write_text(page(found), encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"{str(path)!r} cannot be written: {error.strerror}") from None
    for line in _faults(found):
        print(line)
    print(path)
    return 1 if list(_faults(found)) else 0


def _faults(found: Evidence) -> Iterator[str]:
    if not found.report.digest_holds:
        yield "a frozen column is not what was shown"
    if found.report.broken_links:
        yield f"the chain of evidence is broken at {found.report.broken_links}"
