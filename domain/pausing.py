"""For how long a human has a conversation to himself: one home for the figure and its bounds."""

from datetime import timedelta

PAUSE = timedelta(hours=12)
"""A working day: whoever took over in the morning is not interrupted in the afternoon."""
MOST_PAUSE = timedelta(days=7)
"""Beyond a week a forgotten pause would look like a broken agent."""


def in_hours(time: timedelta) -> int:
    """Whole hours."""
    return time // timedelta(hours=1)


def pause_hours(text: str) -> timedelta:
    """The time that a setting or an argument gives in whole hours. Raises ValueError."""
    most = in_hours(MOST_PAUSE)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise ValueError(f"{text!r} is not a whole number of hours from 1 to {most}")
    return timedelta(hours=int(text))
