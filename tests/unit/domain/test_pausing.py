"""Hours that a setting or an argument gives: whole, at least one, at most a week."""

from datetime import timedelta

import pytest

from domain.pausing import MOST_PAUSE, PAUSE, in_hours, pause_hours


@pytest.mark.parametrize(("text", "hours"), [("1", 1), ("12", 12), ("168", 168)])
def test_whole_hours(text: str, hours: int) -> None:
    """As they are written."""
    assert pause_hours(text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["0", "169", "-1", "1.5", "1e2", "", " 1", "²", "doze"])
def test_anything_else_is_refused_with_the_value(text: str) -> None:
    """The message names it."""
    with pytest.raises(ValueError, match="whole number of hours from 1 to 168") as raised:
        pause_hours(text)
    assert repr(text) in str(raised.value)


def test_the_figures_are_whole_hours() -> None:
    """The setting is written in hours."""
    assert (in_hours(PAUSE), in_hours(MOST_PAUSE)) == (12, 168)
