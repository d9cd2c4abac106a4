"""How commands print: plain tables, times in the account's zone, JSON with UTC."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns as wide as their longest value."""
    lines = [[_cell(value) for value in row] for row in (head, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def side_by_side(left: str, right: str, *, titles: tuple[str, str]) -> str:
    """Two texts next to each other."""
    columns = [
        [title, "-" * len(title), *text.splitlines()]
        for title, text in zip(titles, (left, right), strict=True)
    ]
    height = max(len(column) for column in columns)
    for column in columns:
        column += [""] * (height - len(column))
    width = max(len(line) for line in columns[0])
    return "\n".join(f"{a:<{width}}  | {b}".rstrip() for a, b in zip(*columns, strict=True))


def section(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """The lines of a titled, indented table; "none" for no rows."""
    yield f"\n{title}"
    if not rows:
        yield "  none"
        return
    yield from (f"  {line}" for line in table(head, rows).splitlines())


def plain(text: str) -> str:
    """Text without control characters: a stored value must not steer the operator's terminal."""
    return _CONTROL.sub("?", text)


def local(moment: datetime | None, zone: str) -> str:
    """A time in the account's zone, to the second; `-` for none."""
    if moment is None:
        return "-"
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S %z")


def as_json(value: Any) -> str:
    """Indented JSON; times as ISO 8601 in UTC."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=_special)


def fields(item: Any) -> dict[str, Any]:
    """A dataclass as a dict."""
    return asdict(item)


def _special(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return plain(" ".join(str(value).split())) or "-"
