"""The demo may not end well unless everything happened: its exit code follows what was counted."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from unittest.mock import AsyncMock

import pytest

import simulators.demo.__main__ as demo
from simulators.demo.script import EXPECTED, Counts, DemoFailedError


@contextlib.asynccontextmanager
async def _nobody() -> AsyncIterator[AsyncMock]:
    yield AsyncMock()


def _staged(
    monkeypatch: pytest.MonkeyPatch, counted: Counts, *, failure: Exception | None = None
) -> None:
    monkeypatch.setattr(demo, "far_side", _nobody)
    monkeypatch.setattr(demo, "play", AsyncMock(return_value=0, side_effect=failure))
    monkeypatch.setattr(demo, "count", AsyncMock(return_value=counted))


async def test_as_promised_is_0_and_the_line_is_the_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line on stdout is exactly what the README shows."""
    _staged(monkeypatch, EXPECTED)
    assert await demo.run() == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "demo: proposals=1 presses=3 deliveries=4 charges=1 duplicates=0 "
        "model_calls_between_click_and_feedback=0"
    )


@pytest.mark.parametrize("name", list(vars(EXPECTED)))
async def test_any_count_that_differs_is_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """One charge too many, or one model call: the demo has failed, and the true counts are told."""
    _staged(monkeypatch, replace(EXPECTED, **{name: 7}))
    assert await demo.run() == 1
    out, err = capsys.readouterr()
    assert f"{name}=7" in out.splitlines()[-1]
    assert "demo: failed" in err


@pytest.mark.parametrize("failure", [DemoFailedError("x"), TimeoutError("x")])
async def test_a_step_that_went_wrong_is_1_even_if_the_counts_are_right(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failure: Exception
) -> None:
    """Right counts do not excuse a wrong word to the person."""
    _staged(monkeypatch, EXPECTED, failure=failure)
    assert await demo.run() == 1
    assert type(failure).__name__ in capsys.readouterr().err
