"""No wait for ever: what hangs ends as an error that names it.

The trap: a pool's acquire, a stopped process, a server between its death and its start each wait
without limit by default, and a run that hangs says nothing for an hour.
"""

import asyncio
import ctypes
import faulthandler
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class TooLongError(AssertionError):
    """Something took longer than it may."""


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    """The block ends within so many seconds. Raises TooLongError with `what`; a TimeoutError of the
    block's own passes through."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TooLongError(f"{what} took longer than {seconds:.0f} s") from error


@contextmanager
def watched(seconds: float) -> Iterator[None]:
    """The process ends after so many seconds with all its threads' stacks, also where a call that
    never returns holds the loop, so that no limit of the loop's own can pass."""
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def end_with_parent() -> None:
    """Be killed when the process that started us is gone (Linux): nobody else stops us then."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
