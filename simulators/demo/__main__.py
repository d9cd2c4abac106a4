"""`python -m simulators.demo`: plays the demo against running simulators (SIM_DEMO_*).

Exit code 0 only if everything happened as promised. The last line on stdout is what was counted.
"""

import asyncio
import contextlib
import sys

import httpx

from simulators.demo.faces import far_side
from simulators.demo.script import EXPECTED, DemoFailedError, count, play


async def run() -> int:
    """Play, print, count; return the exit code."""
    async with far_side() as far:
        printing = asyncio.create_task(far.print_for_ever())
        calls, failed = 0, ""
        try:
            calls = await play(far)
        except (DemoFailedError, TimeoutError, httpx.HTTPError) as error:
            failed = f"{type(error).__name__}: {error}"
        printing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await printing
        await far.print_new()
        counted = await count(far, model_calls=calls)
        if not failed and counted != EXPECTED:
            failed = f"expected {EXPECTED.line()!r}"
        if failed:
            sys.stderr.write(f"demo: failed: {failed}\n")
            sys.stderr.flush()
        sys.stdout.write(f"{counted.line()}\n")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(run()))
