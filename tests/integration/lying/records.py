"""What the far sides saw, in order: WhatsApp, the model, the provider, the business's own books.

Nothing here comes from the product's rows about actions: whoever judges by these cannot be told by
the product that all went well.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Record:
    """Something that happened at `at` (UTC)."""

    at: datetime


@dataclass(frozen=True, kw_only=True)
class Sent(Record):
    """A message that WhatsApp took for `to` (a user id) from the business number `number`."""

    number: str
    to: str
    wamid: str
    body: Json


@dataclass(frozen=True, kw_only=True)
class Delivered(Record):
    """That message reached the phone."""

    wamid: str


@dataclass(frozen=True, kw_only=True)
class Pressed(Record):
    """A button, pressed by `by` (a user id; a phone where none is known). `under`: the message that
    the press names, if it names one."""

    number: str
    by: str
    button: str
    under: str | None = None


@dataclass(frozen=True, kw_only=True)
class Wrote(Record):
    """A text of a person; `plain`: neither quoted nor forwarded."""

    number: str
    by: str
    text: str
    plain: bool = True


@dataclass(frozen=True, kw_only=True)
class Answered(Record):
    """The model's answer in the conversation of `by`. `offered`: the tools of that request, none if
    it allowed no call. `request`: what it was shown, as text. `turn`: which of his turns."""

    number: str
    by: str
    kind: str
    offered: frozenset[str]
    stop_reason: str | None
    calls: tuple[Any, ...]
    request: str = field(repr=False)
    turn: str = ""


@dataclass(frozen=True, kw_only=True)
class Trip(Record):
    """A request that reached the provider; `acted`: it did what was asked."""

    key: str
    method: str
    path: str
    body: str
    acted: bool


@dataclass(frozen=True, kw_only=True)
class Changed(Record):
    """The business's own books changed as a prompt of this title would; `key`: the action that the
    row names, if it names one."""

    account: str
    title: str
    about: dict[str, str]
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Died(Record):
    """A worker was killed: an answer that it had not stored is asked for again."""


R = TypeVar("R", bound=Record)


@dataclass
class FarSide:
    """All records in order."""

    records: list[Record] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """It happened after all before."""
        self.records.append(record)

    def of(self, kind: type[R]) -> Iterator[tuple[int, R]]:
        """The records of one kind, each with its place."""
        return ((n, one) for n, one in enumerate(self.records) if isinstance(one, kind))


class BrokenPromiseError(AssertionError):
    """`name` says which promise."""

    def __init__(self, name: str, detail: object) -> None:
        self.name = name
        super().__init__(f"{name}: {detail}")


def promise(name: str, *, kept: bool, detail: object) -> None:
    """Raise BrokenPromiseError unless it was kept."""
    if not kept:
        raise BrokenPromiseError(name, detail)
