"""Ctrl-C, SIGTERM and a closed terminal stop a long command the same way, once.

The second Ctrl-C of an impatient person must not interrupt the stopping: the parts would be left
behind.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Somebody asked us to stop."""


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Raise StopRequested in the main thread at the first signal; later ones are ignored."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in _STOPPING:
            signal.signal(number, signal.SIG_IGN)
        raise StopRequested

    before = {number: signal.signal(number, stop) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
