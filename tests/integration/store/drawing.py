"""How sequences are drawn, and how one that breaks a promise is made short.

Not by hypothesis: a tenth of its examples are the trivial one, a fifth are repeated, and a quarter
of the time is its own. What a machine does most is said here by weights; each sequence changes
them, so that no two dwell on the same.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

F = TypeVar("F", bound=Callable[..., None])
STEPS = 10
"""Moves that are drawn for a sequence; some are several steps, some find nothing to do."""

ACCENTS = (0, 1, 1, 2, 4)
"""By which the weight of each rule is multiplied for one sequence."""

TO_THE_END = 5
"""Every fifth sequence is brought to its end afterwards, which costs as much as the moves."""


def always(_machine: Any) -> bool:
    """No condition."""
    return True


@dataclass(frozen=True, eq=False)
class Rule:
    """A method that may be drawn `when` it makes sense, each argument from its choices."""

    name: str
    when: Callable[[Any], bool]
    choices: dict[str, Sequence[Any]]


def rule(*, when: Callable[[Any], bool] = always, **choices: Sequence[Any]) -> Callable[[F], F]:
    """Make a rule of a machine's method."""

    def mark(method: F) -> F:
        method.__dict__["rule"] = Rule(method.__name__, when, choices)
        return method

    return mark


class Machine(Protocol):
    """What can be driven. `weights`: how often each rule is drawn, 0 for never."""

    beginnings: ClassVar[Sequence[str]]
    weights: ClassVar[dict[str, int]]

    def begin(self, so_far: str) -> None:
        """Come to the beginning with this name."""

    def finish(self, *, to_the_end: bool) -> None:
        """Check what is checked once; perhaps bring everything to its end before."""

    def forget(self) -> None:
        """Leave no trace."""


@dataclass(frozen=True)
class Move:
    """A rule with its arguments."""

    rule: Rule
    arguments: dict[str, Any]

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.rule.name}({arguments})"

    def make(self, machine: Machine) -> None:
        """Make it, unless it makes no sense now, as may be in a shortened sequence."""
        if self.rule.when(machine):
            getattr(machine, self.rule.name)(**self.arguments)


class Sequences:
    """Draws sequences for a kind of machine, plays them, and shortens one that fails."""

    def __init__(self, machine: Callable[[], Machine], first_seed: int) -> None:
        self._machine = machine
        self._seed = first_seed

    def play_next(self) -> None:
        """Draw one and play it. Raises what it finds, with the shortest way there as a note."""
        chance = random.Random(self._seed)
        self._seed += 1
        machine = self._machine()
        so_far = chance.choice(machine.beginnings)
        to_the_end = chance.randrange(TO_THE_END) == 0
        moves: list[Move] = []
        try:
            self._play(machine, so_far, _drawn(machine, chance, moves), to_the_end=to_the_end)
        except Exception as error:
            self._shorten(error, so_far, moves, to_the_end=to_the_end)
            raise

    def _play(
        self, machine: Machine, so_far: str, moves: Iterable[Move], *, to_the_end: bool
    ) -> None:
        try:
            machine.begin(so_far)
            for move in moves:
                move.make(machine)
            machine.finish(to_the_end=to_the_end)
        finally:
            machine.forget()

    def _shorten(
        self, error: Exception, so_far: str, moves: list[Move], *, to_the_end: bool
    ) -> None:
        """Leave out, from the last one on, whatever the same error does not need."""
        needed = list(moves)
        for move in reversed(moves):
            fewer = [one for one in needed if one is not move]
            try:
                self._play(self._machine(), so_far, fewer, to_the_end=to_the_end)
            except Exception as again:
                if _kind(again) == _kind(error):
                    needed = fewer
        way = [f"from {so_far}", *map(str, needed)] + ["to the end"] * to_the_end
        error.add_note("\n".join(["The shortest way there:", *(f"    {one}" for one in way)]))


def _kind(error: Exception) -> tuple[type[Exception], str]:
    return type(error), getattr(error, "name", "")


def _drawn(machine: Machine, chance: random.Random, moves: list[Move]) -> Iterator[Move]:
    """Each move when its turn comes; kept in `moves`."""
    weights = {
        one: machine.weights[one.name] * chance.choice(ACCENTS)
        for one in rules_of(type(machine)).values()
    }
    for _ in range(STEPS):
        enabled = [one for one in weights if weights[one] and one.when(machine)]
        if not enabled:
            return
        drawn = chance.choices(enabled, [weights[one] for one in enabled])[0]
        move = Move(drawn, {name: chance.choice(list(of)) for name, of in drawn.choices.items()})
        moves.append(move)
        yield move


def rules_of(machine: type) -> dict[str, Rule]:
    """All rules of a machine, by name."""
    methods = [getattr(machine, name) for name in dir(machine)]
    rules = [method.rule for method in methods if hasattr(method, "rule")]
    return {one.name: one for one in rules}
