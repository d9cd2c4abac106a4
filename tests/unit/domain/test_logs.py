"""A log line holds ids, counts and places; never what a person said or an exception quotes."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from domain.logs import JsonLines, configure_logging

SECRET = "João da Silva, CPF 529.982.247-25, R$ 150,00"


@pytest.fixture
def lines() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger that writes our lines into a text."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("tests.of.logs")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    yield logger, out
    logger.removeHandler(handler)
    logger.propagate = True


def one_line(out: io.StringIO) -> dict[str, Any]:
    """The only line that was written."""
    (line,) = out.getvalue().splitlines()
    fields: dict[str, Any] = json.loads(line)
    return fields


def _fail() -> None:
    try:
        raise KeyError(SECRET)
    except KeyError as cause:
        raise ValueError(f"cannot read {SECRET!r}") from cause


def test_of_an_exception_only_type_and_places_are_written(
    lines: tuple[logging.Logger, io.StringIO],
) -> None:
    """Its words may quote a person, and so may its cause's; type and places find the fault."""
    logger, out = lines
    try:
        _fail()
    except ValueError:
        logger.exception("could not read an item", extra={"action_id": "a" * 32})
    fields = one_line(out)
    assert fields["error"] == "ValueError"
    assert fields["event"] == "could not read an item"
    assert fields["action_id"] == "a" * 32
    assert any(place.endswith(" _fail") and "test_logs.py:" in place for place in fields["stack"])
    for word in ("João", "529", "150", "cannot", "KeyError"):
        assert word not in out.getvalue()


def test_the_stack_and_locals_of_a_call_are_not_written(
    lines: tuple[logging.Logger, io.StringIO],
) -> None:
    """`stack_info` would write source lines, in which a text to a person may stand."""
    logger, out = lines
    logger.warning("slow", stack_info=True)
    assert set(one_line(out)) == {"at", "level", "logger", "event"}


def test_a_line_is_one_json_object_whatever_is_in_it(
    lines: tuple[logging.Logger, io.StringIO],
) -> None:
    """A newline in a value cannot begin a line of its own: nobody writes our log for us."""
    logger, out = lines
    logger.info('first\n{"level": "error"}', extra={"key": "a\nb", "odd": {1, 2}, "count": 3})
    fields = one_line(out)
    assert fields["level"] == "info"
    assert fields["key"] == "a\nb"
    assert fields["count"] == 3


def test_a_line_says_when_in_utc_and_by_whom(lines: tuple[logging.Logger, io.StringIO]) -> None:
    """Times of two machines can be compared."""
    logger, out = lines
    logger.warning("x")
    fields = one_line(out)
    assert fields["at"].endswith("+00:00")
    assert fields["logger"] == "tests.of.logs"
    assert fields["level"] == "warning"


@pytest.mark.parametrize(
    "name", ["httpx", "httpcore", "httpx2", "anthropic", "uvicorn.access", "asyncio"]
)
def test_libraries_that_log_requests_are_quiet(name: str) -> None:
    """Even at DEBUG: an access line holds a query, a client's line the body that it sent."""
    root = logging.getLogger()
    before, handlers = root.level, root.handlers[:]
    try:
        configure_logging("DEBUG")
        assert not logging.getLogger(name).isEnabledFor(logging.INFO)
        assert logging.getLogger("store").isEnabledFor(logging.DEBUG)
        assert [type(handler.formatter) for handler in root.handlers] == [JsonLines]
    finally:
        root.handlers[:] = handlers
        root.setLevel(before)
