"""How a process of ours leaves. A process that used a Temporal client can abort at interpreter exit
after its work is done (sdk-python#300, open; facts/temporal.md §10): so one helper collects
garbage, flushes and leaves at once, for worker, API and CLI."""

import gc
import logging
import os
import sys
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """Flush everything and end the process with this exit code, skipping interpreter shutdown."""
    gc.collect()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
