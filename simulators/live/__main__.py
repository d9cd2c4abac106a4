"""`python -m simulators.live`: plays all scenes against running simulators (SIM_LIVE_*).

At the beginning of a scene, and after each burst and press, one line of JSON goes to stdout and the
play waits for a line on stdin: whoever pays for the model says whether it goes on. Exit code 0 if
all was played.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from simulators.live.playing import Stage
from simulators.live.scenes import DEMO, FURTHER
from simulators.payments.client import PaymentsSimulatorClient
from simulators.whatsapp.client import WhatsAppSimulatorClient


class NobodyListensError(Exception):
    """Whoever was told has gone."""


async def tell(event: Mapping[str, Any]) -> None:
    """Write one event and wait for the word to go on. Raises NobodyListensError at the end of
    stdin."""
    sys.stdout.write(f"{json.dumps(event, ensure_ascii=False)}\n")
    sys.stdout.flush()
    if not await asyncio.to_thread(sys.stdin.readline):
        raise NobodyListensError


async def run() -> int:
    """Play everything; return the exit code."""
    given = {
        name: os.environ[f"SIM_LIVE_{name}"]
        for name in ("WHATSAPP_URL", "WHATSAPP_SECRET", "PAYMENTS_URL", "PAYMENTS_SECRET")
    }
    async with (
        WhatsAppSimulatorClient(given["WHATSAPP_URL"], given["WHATSAPP_SECRET"]) as whatsapp,
        PaymentsSimulatorClient(
            given["PAYMENTS_URL"], admin_secret=given["PAYMENTS_SECRET"]
        ) as payments,
    ):
        stage = Stage(whatsapp=whatsapp, payments=payments, tell=tell)
        try:
            for scene in (DEMO, *FURTHER):
                await stage.play(scene)
        except NobodyListensError:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(run()))
