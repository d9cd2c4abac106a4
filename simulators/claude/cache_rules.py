"""Rules of `cache_control`: what it looks like, how many there may be, longest life first."""

from typing import Any

from simulators.claude.errors import bad_request
from simulators.claude.fields import as_dict, one_of, only

MAX_BREAKPOINTS = 4


def check_cache_control(value: Any, at: str) -> str | None:
    """Return the time to live (`5m` or `1h`) of one `cache_control`, None if it is null."""
    if value is None:
        return None
    control = as_dict(value, at)
    only(control, ("type", "ttl"), at)
    one_of(control.get("type"), ("ephemeral",), f"{at}.type")
    return one_of(control.get("ttl", "5m"), ("5m", "1h"), f"{at}.ttl")


def check_breakpoints(lives: list[str]) -> None:
    """Check the lives of all breakpoints of a request, in prompt order.

    At most four; a `1h` one may not follow a `5m` one (prompt-caching page).
    """
    if len(lives) > MAX_BREAKPOINTS:
        raise bad_request(
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {len(lives)}."
        )
    seen_short = False
    for life in lives:
        if life == "1h" and seen_short:
            raise bad_request(
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
            )
        seen_short = seen_short or life == "5m"
