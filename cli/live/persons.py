"""The people: a process of the simulators' room, which tells what it saw and waits for our word.

It knows the far side alone; what the model did stands in our tables. So it stops after every burst
and every press until the caller has looked there, too, and has counted what that cost.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from cli.stack.errors import PartError
from cli.stack.wiring import ROOT, Wiring, bare

NOTHING_FOR_S = 300.0  # an answer may take the 210 s for which the people wait
LOOK_EVERY_S = 0.05


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Answer(_Frozen):
    """A message of Aval's, as the phone shows it."""

    text: str
    buttons: tuple[str, ...]


class Event(_Frozen):
    """That a scene begins, or what a person did and what came back. `held`: each invariant that was
    looked at, counted at the far side; `confirmed`, `presses`, `effects`: how many until now."""

    scene: str
    person: str
    did: Literal["begins", "said", "pressed"]
    what: tuple[str, ...]
    answers: tuple[Answer, ...]
    held: dict[str, bool]
    confirmed: int
    presses: int
    effects: int


def _event(line: str) -> Event:
    try:
        return Event.model_validate_json(line)
    except ValueError as error:
        raise PartError(f"the people told nonsense: {type(error).__name__}") from error


class Persons:
    """The running process."""

    def __init__(self, process: subprocess.Popen[str], told: Path) -> None:
        self._process = process
        self._told = told
        self._read = 0

    def events(self, meanwhile: Callable[[], None]) -> Iterator[Event]:
        """What they tell, one by one, until all is played; asking for the next lets them go on.
        `meanwhile` is called again and again while nothing is told. Raises PartError if they end
        early, tell nonsense, or tell nothing for five minutes."""
        told = 0
        while (line := self._next(meanwhile)) is not None:
            yield _event(line)
            told += 1
            self._go_on()
        if self._process.returncode or not told:
            raise PartError(f"the people left with exit code {self._process.returncode}")

    def _next(self, meanwhile: Callable[[], None]) -> str | None:
        until = time.monotonic() + NOTHING_FOR_S
        while True:
            ended = self._process.poll() is not None
            rest = self._told.read_bytes()[self._read :]
            line, newline, _ = rest.partition(b"\n")
            if newline:
                self._read += len(line) + 1
                return line.decode()
            if ended:
                return None
            if time.monotonic() > until:
                raise PartError(f"the people told nothing for {NOTHING_FOR_S:.0f} s")
            meanwhile()
            time.sleep(LOOK_EVERY_S)

    def _go_on(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("go on\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return  # they have left; their exit code says why


@contextmanager
def persons(wiring: Wiring, environment: Mapping[str, str], folder: Path) -> Iterator[Persons]:
    """Start them on the simulators of a stack; they are gone at the end."""
    told = folder / "live.jsonl"
    far_side = {
        "SIM_LIVE_WHATSAPP_URL": wiring.url("whatsapp"),
        "SIM_LIVE_WHATSAPP_SECRET": wiring.secrets.page_key,
        "SIM_LIVE_PAYMENTS_URL": wiring.url("payments"),
        "SIM_LIVE_PAYMENTS_SECRET": wiring.secrets.payments_admin,
    }
    with told.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "simulators.live"],
            cwd=ROOT,
            env={**bare(environment), **far_side, "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.PIPE,
            stdout=out,
            start_new_session=True,
            text=True,
        )
    try:
        yield Persons(process, told)
    finally:
        process.kill()
        process.communicate()
