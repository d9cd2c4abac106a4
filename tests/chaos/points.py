"""Named places in a worker's work at which it dies, stalls or dawdles once, as a test ordered.

The trap: a hook in the product would be one more thing that has to be right. So the points are put
around the product's functions from outside, in the test's worker alone (worker.py beside this
file). Orders are files in a folder, `<point>.<how>.<nth>`: taking the file away is winning the
order, so that two workers on one folder obey it once.
"""

import asyncio
import functools
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from activities.take import Take
from channels.whatsapp.sender import WhatsAppSender
from store import actions, deciding, executing, outbox, proposing, turns
from tools.contract import ProviderTool

REACHED = "reached.jsonl"
SLOW_S = 0.4  # long against the milliseconds between a check and its write


class Point(StrEnum):
    """Where in the life of a turn and its action."""

    TAKE = "take"  # after the turn has its messages
    THOUGHT = "thought"  # after the model's answer is stored, before it is used
    PROPOSE = "propose"  # after the proposal is committed, before its workflow is started
    BEFORE_PROMPT = "before_prompt"  # after the prompt's fence, before the wire
    PROMPTED = "prompted"  # after WhatsApp answered, before that is written
    CHECKED = "checked"  # an equal effect was looked for, nothing is written yet
    DECIDE = "decide"  # after the decision is committed
    BEFORE_CLAIM = "before_claim"  # before an attempt is opened
    CLAIMED = "claimed"  # after it, before the fence
    FENCED = "fenced"  # after the fence, before the wire
    ACTED = "acted"  # after the provider answered, before that is written
    RECORDED = "recorded"  # after the outcome is written, before anybody is told
    LOOKED = "looked"  # an unknown was looked up, what was seen is not written yet
    ANNOUNCING = "announcing"  # before the feedback's fence
    BEFORE_FEEDBACK = "before_feedback"  # after the feedback's fence, before the wire
    FED_BACK = "fed_back"  # after WhatsApp took the feedback, before that is written


class How(StrEnum):
    """What happens to the process at the point."""

    KILL = "kill"
    STOP = "stop"  # until somebody sends SIGCONT
    SLOW = "slow"


@dataclass(frozen=True, kw_only=True)
class Reached:
    """A point that was obeyed. `what` is the action, turn or message key, if the place knows it;
    `at` is Unix seconds."""

    point: Point
    how: How
    what: str
    pid: int
    at: float


class Orders:
    """The folder by which a test orders and learns what was obeyed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def from_environment(cls) -> Self:
        """The folder of this worker process. Raises KeyError without one."""
        return cls(Path(os.environ["CHAOS_FOLDER"]))

    def give(self, point: Point, how: How, *, nth: int = 1) -> None:
        """At the `nth` passing of `point` from now on, by whichever worker."""
        (self.folder / f"{point}.{how}.{nth}").touch()

    def withdraw(self) -> None:
        """Take back what nobody has obeyed."""
        for file in self.folder.glob("*.*.*"):
            file.unlink(missing_ok=True)

    def take(self, point: Point) -> How | None:
        """What to do at this passing of the point, if anything. Every order for the point counts
        it; one order is obeyed."""
        obeyed: How | None = None
        for file in sorted(self.folder.glob(f"{point}.*.*")):
            _, how, nth = file.name.split(".")
            try:
                if int(nth) > 1:
                    file.rename(file.with_name(f"{point}.{how}.{int(nth) - 1}"))
                elif obeyed is None:
                    file.unlink()
                    obeyed = How(how)
            except FileNotFoundError:
                continue  # another worker passed at the same moment and took it
        return obeyed

    def say(self, reached: Reached) -> None:
        """Append a line; one write, so that lines of two workers do not mix."""
        line = json.dumps(reached.__dict__).encode() + b"\n"
        handle = os.open(self.folder / REACHED, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def reached(self) -> list[Reached]:
        """All that was obeyed, in order."""
        file = self.folder / REACHED
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [_reached(json.loads(line)) for line in lines]


def _reached(raw: dict[str, Any]) -> Reached:
    return Reached(**{**raw, "point": Point(raw["point"]), "how": How(raw["how"])})


async def pass_point(orders: Orders, point: Point, what: str) -> None:
    """Pass the point, or die, stall or dawdle here if a test ordered so."""
    how = orders.take(point)
    if how is None:
        return
    orders.say(Reached(point=point, how=how, what=what, pid=os.getpid(), at=time.time()))
    if how is How.SLOW:
        await asyncio.sleep(SLOW_S)
    else:
        os.kill(os.getpid(), signal.SIGKILL if how is How.KILL else signal.SIGSTOP)


_Step = Callable[..., Awaitable[Any]]
_Names = Callable[[tuple[Any, ...], dict[str, Any], Any], str | None]
"""What the call is about; None where the point does not lie on this call."""


def install(orders: Orders) -> None:
    """Put all points around the product's functions, in this process."""
    second = _argument(1)
    _around(orders, Take, "run", after=Point.TAKE, names=_result("turn_id"))
    _around(orders, turns, "store_answer", after=Point.THOUGHT, names=_keyword("turn"))
    _around(orders, proposing, "propose", after=Point.PROPOSE, names=_always)
    _around(orders, actions, "live_equal", after=Point.CHECKED, names=_always)
    _around(orders, deciding, "decide", after=Point.DECIDE, names=second)
    _around(
        orders,
        executing,
        "open_attempt",
        before=Point.BEFORE_CLAIM,
        after=Point.CLAIMED,
        names=_if_won,
    )
    _around(orders, executing, "fence", after=Point.FENCED, names=_if_won)
    _around(orders, ProviderTool, "execute", after=Point.ACTED, names=_argument(2))
    _around(orders, executing, "record_outcome", after=Point.RECORDED, names=second)
    _around(orders, executing, "record_look", before=Point.LOOKED, names=second)
    _around(orders, outbox, "claim", before=Point.ANNOUNCING, names=_message(1, "feedback"))
    for purpose, before, after in (
        ("prompt", Point.BEFORE_PROMPT, Point.PROMPTED),
        ("feedback", Point.BEFORE_FEEDBACK, Point.FED_BACK),
    ):
        names = _message("callback_data", purpose)
        _around(orders, WhatsAppSender, "send", before=before, after=after, names=names)


def _around(
    orders: Orders,
    owner: object,
    name: str,
    *,
    names: _Names,
    before: Point | None = None,
    after: Point | None = None,
) -> None:
    inner: _Step = getattr(owner, name)

    @functools.wraps(inner)
    async def step(*args: Any, **kwargs: Any) -> Any:
        if before is not None and (what := names(args, kwargs, _NOT_YET)) is not None:
            await pass_point(orders, before, what)
        result = await inner(*args, **kwargs)
        if after is not None and (what := names(args, kwargs, result)) is not None:
            await pass_point(orders, after, what)
        return result

    setattr(owner, name, step)


_NOT_YET = object()


def _always(_args: tuple[Any, ...], _kwargs: dict[str, Any], _result: Any) -> str:
    return ""


def _argument(n: int) -> _Names:
    return lambda args, _kwargs, _result: str(args[n])


def _keyword(name: str) -> _Names:
    return lambda _args, kwargs, _result: str(kwargs[name])


def _result(name: str) -> _Names:
    def names(_args: tuple[Any, ...], _kwargs: dict[str, Any], result: Any) -> str | None:
        found = getattr(result, name)
        return None if found is None else str(found)

    return names


def _if_won(args: tuple[Any, ...], _kwargs: dict[str, Any], result: Any) -> str | None:
    """The action, unless the attempt or the fence was refused."""
    return None if result is None else str(args[1])


def _message(where: int | str, purpose: str) -> _Names:
    """The key of a message of this purpose (`action:<id>:<purpose>`)."""

    def names(args: tuple[Any, ...], kwargs: dict[str, Any], _result: Any) -> str | None:
        key = str(args[where] if isinstance(where, int) else kwargs[where])
        return key if key.endswith(f":{purpose}") else None

    return names
