"""What each of Meta's error codes means for a send, as data.

The trap: HTTP statuses and titles mislead, and codes 1, 2 and 131000 ("something went wrong") have
been seen on messages that arrived, so a blind retry doubled them. The code decides; a code that is
not here is refused with a 4xx and unknown otherwise. The same codes come later, in `failed`
statuses. Source: Meta's errors page and public bug reports.
"""

from channels.whatsapp.outcome import Refusal

RETRY_SECONDS: dict[int, float] = {
    4: 60.0,  # the app's calls an hour are used up
    80007: 60.0,  # the account's calls an hour are used up
    80008: 60.0,  # the same, for the business management side
    130429: 2.0,  # messages a second of the number
    131056: 6.0,  # one message per 6 s to the same person; see pair_rate_delay
    131057: 60.0,  # the number is being upgraded, up to a minute
    133004: 10.0,  # Meta says: temporarily down
    131016: 10.0,  # Meta says: overloaded
}
"""Codes that prove that nothing was sent, and the seconds to wait before the next try."""

HTTP_429_SECONDS = 30.0
"""Too many calls, without a code of the table: nothing was processed."""

AMBIGUOUS = frozenset({1, 2, 131000})
"""Codes that prove nothing, whatever their HTTP status."""

_AUTH = {0, 3, 10, 190, 368, 130497, 131005, 131031, 131037, 131042, 131044, 131045, 131063}
_RECIPIENT = {131026, 131030, 131050, 131062, 137000}
_BUG = {100, 131008, 131009, 131021, 131051, 131052, 131053}
_LONG_WAIT = {130472, 131048, 131049, 131064}

REFUSALS: dict[int, Refusal] = {
    131047: Refusal.WINDOW,
    **dict.fromkeys({*_AUTH, 133010, *range(200, 300)}, Refusal.AUTH),
    **dict.fromkeys(_RECIPIENT, Refusal.RECIPIENT),
    **dict.fromkeys({*_BUG, *range(132000, 133000)}, Refusal.BUG),
    **dict.fromkeys(_LONG_WAIT, Refusal.LONG_WAIT),
}
"""Codes that prove that nothing was sent and that the same again is useless."""


def pair_rate_delay(attempt: int) -> float:
    """Seconds to wait after 131056 on try number `attempt` (from 1): 4^n, at least 6, at most 256.

    Raises `ValueError` for an attempt below 1.
    """
    if attempt < 1:
        raise ValueError(f"attempts count from 1, got {attempt!r}")
    return min(256.0, max(6.0, 4.0 ** min(attempt - 1, 10)))
