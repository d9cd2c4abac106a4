"""docs/time-limits.md against the code: each value, and that no limit is missing.

The trap: a timeout that is changed in one place makes another one wrong (an activity shorter than
its client, a grace shorter than a call), and nobody sees it in prose.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from workflows import options

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "time-limits.md"
ROOMS = [
    "domain",
    "tools",
    "channels",
    "llm",
    "gateways",
    "store",
    "activities",
    "workflows",
    "api",
]
UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
NAMED_LIKE_A_LIMIT = re.compile(r"(_S|_SECONDS|_TIMEOUT|RETRY_AFTER)$")
TEXT = re.compile(r"(\d+)(ms|s|m|h)")
NO_LIMITS = {
    "channels/whatsapp/error_codes.py: RETRY_SECONDS",  # Meta's delays, a table with its own tests
    "channels/whatsapp/items.py: _SECONDS",  # a pattern
    "tools/checks.py: _EFFECT",  # rules; its limit is MAX_TIMEOUT
    "workflows/turn.py: ZERO",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the page."""

    limit: str
    value: timedelta
    home: str


def _rows() -> list[Row]:
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] == "Limit" or set(line) <= set("|-"):
            continue
        limit, value, unit, reason, home = cells
        assert reason, f"{limit!r} has no reason"
        found.append(Row(limit=limit, value=float(value) * UNITS[unit], home=home.strip("`")))
    return found


ROWS = _rows()


def _as_time(value: Any) -> timedelta:
    match value:
        case timedelta():
            return value
        case int() | float():
            return timedelta(seconds=value)
        case str() if found := TEXT.fullmatch(value):
            unit = {"m": "min"}.get(found[2], found[2])
            return int(found[1]) * UNITS[unit]
    raise AssertionError(f"{value!r} is no time")


def _keyword(path: Path, name: str) -> Any:
    values = [
        keyword.value.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == name and isinstance(keyword.value, ast.Constant)
    ]
    assert len(values) == 1, f"{path.name}: {name}= stands there {len(values)} times"
    return values[0]


def _value(home: str) -> timedelta:
    file, _, name = home.partition(": ")
    if name.startswith("keyword "):
        return _as_time(_keyword(ROOT / file, name.removeprefix("keyword ")))
    if file.endswith(".yml"):
        place: Any = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    else:
        place = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        place = place[part] if isinstance(place, dict) else getattr(place, part)
    return _as_time(place)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.home)
def test_the_page_says_what_the_code_says(row: Row) -> None:
    """Each value of the page is the value of its home."""
    assert row.value == _value(row.home)


def test_every_home_stands_once() -> None:
    """A limit has one line."""
    homes = [row.home for row in ROWS]
    assert sorted(homes) == sorted(set(homes))


def _assigned(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _assigned(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
            yield f"{prefix}{node.target.id}", node.value
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                yield from (
                    (f"{prefix}{n.id}", node.value) for n in names if isinstance(n, ast.Name)
                )


def _holds_a_time(name: str, value: ast.expr) -> bool:
    if NAMED_LIKE_A_LIMIT.search(name):
        return True
    calls = (node.func for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(isinstance(call, ast.Name) and call.id == "timedelta" for call in calls)


def _limits_in_code() -> set[str]:
    found = set()
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for name, value in _assigned(ast.parse(path.read_text(encoding="utf-8")).body):
            if _holds_a_time(name, value):
                found.add(f"{path.relative_to(ROOT)}: {name}")
    return found - NO_LIMITS


def test_no_limit_is_missing() -> None:
    """Every constant that holds a time, or is named like one, stands on the page."""
    homes = [row.home for row in ROWS]
    told = {
        limit
        for limit in _limits_in_code()
        if any(f"{home}.".startswith(f"{limit}.") for home in homes)
    }
    told.add("workflows/options.py: _SQL_RETRY")  # told as SQL.retry_policy
    assert _limits_in_code() - told == set()


def _times_in(policy: dict[str, Any]) -> Iterator[str]:
    for key, value in policy.items():
        if isinstance(value, timedelta):
            yield key
        if key == "retry_policy":
            said = {"initial_interval": timedelta(seconds=1), "maximum_interval": None}
            yield from (
                f"{key}.{name}" for name, default in said.items() if getattr(value, name) != default
            )


@pytest.mark.parametrize("name", ["SQL", "THINK", "LOOK_UP", "SEND", "EXECUTE", "SETTLE"])
def test_every_timeout_of_an_activity_is_told(name: str) -> None:
    """A table of options is told entry by entry, its retry intervals too."""
    homes = {row.home for row in ROWS}
    wanted = {f"workflows/options.py: {name}.{key}" for key in _times_in(getattr(options, name))}
    assert wanted - homes == set()


def test_times_that_must_fit_into_each_other() -> None:
    """A client gives up before its activity, a worker's grace outlasts a call, a container's grace
    outlasts the worker's, the sweeper waits until Temporal gave up."""
    time = _value
    assert time("llm/client.py: TIMEOUT_SECONDS") < options.THINK["start_to_close_timeout"]
    assert time("gateways/transport.py: Timeouts.total") < time("workflows/workers.py: GRACE")
    assert time("gateways/transport.py: Timeouts.total") < options.SETTLE["start_to_close_timeout"]
    assert (
        time("channels/whatsapp/sender.py: TOTAL_SECONDS") * 3
        < options.SEND["start_to_close_timeout"]
    )
    assert time("activities/heartbeats.py: BEAT_S") * 3 < options.EXECUTE["heartbeat_timeout"]
    assert options.SEND["schedule_to_close_timeout"] < time(
        "activities/sending.py: TEMPORAL_TRIES_S"
    )
    container = time("docker-compose.yml: x-worker.stop_grace_period")
    assert container >= time("workflows/workers.py: GRACE") + timedelta(seconds=15)
    assert time("tools/checks.py: MAX_TIMEOUT") < options.EXECUTE["start_to_close_timeout"]
