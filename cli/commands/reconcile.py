"""`aval reconcile ID`: look at the provider, or settle a stuck action by an operator's word."""

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from activities.reconcile import Looked, Reconcile
from cli import asking, database, far_side, output
from cli.arguments import BadArgumentsError, action_prefix, positive
from domain.actions import Status, Verdict
from domain.errors import OperatorError
from domain.settling import Wish
from store import actions, reporting
from store.actions import Action
from store.connection import Connection
from store.operators import NotAllowedError, Operator

if TYPE_CHECKING:
    from cli.main import Commands

MOST_EVIDENCE = 4000


def add(commands: "Commands") -> None:
    """Declare the command."""
    parser = commands.add("reconcile", run, "look at a stuck action's provider, or settle it")
    parser.add_argument("action", type=action_prefix, help="its id, or the beginning of it")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--look", action="store_true", help="ask the provider by key, read-only")
    for verdict, text in (
        (Verdict.EXECUTED, "the effect is there: you saw it at the provider"),
        (Verdict.FAILED, "nothing was done and nothing can still turn up"),
        (Verdict.RESEND, "send once more under the same key"),
    ):
        what.add_argument(
            f"--{verdict.value}", dest="verdict", action="store_const", const=verdict, help=text
        )
    parser.add_argument("--evidence", type=_evidence, help="what you saw and where")
    parser.add_argument("--as-send", type=positive, metavar="N", help="the next send's number")
    asking.add_operator_argument(parser, required=False)
    asking.add_yes_argument(parser)


def run(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Look or settle. Returns 1 if a look contradicts how the action was closed. Raises
    OperatorError for what the rules refuse."""
    _check(arguments)

    async def work(connection: Connection) -> int:
        action_id = await reporting.resolve(connection, arguments.action)
        async with far_side.reconciling(environment) as reconcile:
            if arguments.look:
                return await _look(connection, reconcile, action_id, arguments.operator)
            return await _settle(connection, reconcile, action_id, arguments)

    return database.ask(environment, work)


def _check(arguments: argparse.Namespace) -> None:
    verdict: Verdict | None = arguments.verdict
    if verdict is not None and arguments.operator is None:
        raise BadArgumentsError("aval reconcile: --operator NAME is missing: who says so?")
    if verdict in {Verdict.EXECUTED, Verdict.FAILED} and arguments.evidence is None:
        raise BadArgumentsError("aval reconcile: --evidence TEXT is missing: what did you see?")
    if (verdict is Verdict.RESEND) != (arguments.as_send is not None):
        raise BadArgumentsError("aval reconcile: --resend and --as-send N belong together")


def _evidence(text: str) -> str:
    if not text.strip() or len(text) > MOST_EVIDENCE:
        raise argparse.ArgumentTypeError(
            f"say what you saw, in at most {MOST_EVIDENCE} characters; this has {len(text)}"
        )
    return text.strip()


# ---------------------------------------------------------------- looking


async def _look(
    connection: Connection, reconcile: Reconcile, action_id: str, operator: str | None
) -> int:
    looked = await reconcile.look(connection, action_id, operator=operator)
    print("\n".join(_lines(looked)))
    return 1 if looked.contradicts else 0


def _lines(looked: Looked) -> Iterator[str]:
    action, seen = looked.action, looked.seen
    final = "final" if seen.final else "not final"
    yield f"Action    {action.id}  {action.tool}, {action.status.value}"
    yield f"Provider  {seen.presence.value}, {final}"
    if seen.differences:
        yield "Differs   " + "\n          ".join(output.plain(one) for one in seen.differences)
    elif seen.equal:
        yield "Compared  everything is as confirmed"
    data = {**seen.data, "provider_ref": seen.provider_ref} if seen.data else {}
    yield ""
    yield output.side_by_side(
        _fields(action.payload), _fields(data), titles=("As confirmed", "At the provider")
    )
    yield ""
    yield "Evidence  " + ", ".join(f"{key}: {_short(v)}" for key, v in seen.evidence.items())
    if looked.contradicts:
        yield f"CONTRADICTION: the action was closed as {action.status.value}"


def _fields(values: Mapping[str, object]) -> str:
    return "\n".join(f"{key}: {_short(value)}" for key, value in values.items()) or "nothing"


def _short(value: object) -> str:
    text = " ".join(output.plain(str(value)).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


# ---------------------------------------------------------------- settling


async def _settle(
    connection: Connection, reconcile: Reconcile, action_id: str, arguments: argparse.Namespace
) -> int:
    wish = Wish(verdict=arguments.verdict, as_send=arguments.as_send)
    refused = (await reconcile.weigh(connection, action_id, wish)).refused
    if refused is not None:
        raise NotAllowedError(f"action {action_id!r}: {refused}")
    action = await actions.get(connection, action_id)
    asking.confirm(_question(action, wish), word=action_id, yes=arguments.yes)
    by = Operator(name=arguments.operator, evidence=arguments.evidence)
    settled = await reconcile.settle(connection, action_id, wish, by=by)
    print(f"action {action_id}: {_done(settled, wish)}")
    return 0


def _question(action: Action, wish: Wish) -> str:
    doing = {
        Verdict.EXECUTED: "Settle as EXECUTED; the person is told that it is done",
        Verdict.FAILED: "Settle as FAILED; the person is told that it was not done",
        Verdict.RESEND: f"Let send {wish.as_send} go to the provider under the same key",
    }
    return f"{output.plain(action.summary)}\n\n{doing[wish.verdict]}."


def _done(action: Action, wish: Wish) -> str:
    if wish.verdict is Verdict.RESEND:
        return f"send {wish.as_send} is allowed once, for two minutes; a worker makes it"
    if action.status not in {Status.EXECUTED, Status.FAILED}:
        raise OperatorError(f"action {action.id!r} is {action.status.value!r} after it was settled")
    return f"{action.status.value}; the person is told as soon as a worker runs"
