"""For how long a human has a conversation to himself: one home for the figure and its bounds."""

from datetime import timedelta

PAUSE_HOURS = 12
"""A working day: whoever took over in the morning is not interrupted in the afternoon."""
MOST_PAUSE_HOURS = 168
"""A week. Beyond that a forgotten pause would look like a broken agent."""


def pause_hours(text: str) -> timedelta:
    """The time that a setting or an argument gives in whole hours. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_PAUSE_HOURS:
        raise ValueError(f"{text!r} is not a whole number of hours from 1 to {MOST_PAUSE_HOURS}")
    return timedelta(hours=int(text))
