"""The sweeper ends when it is told to, in whichever moment that is."""

import asyncio
from typing import Any, cast

import pytest
from temporalio.client import Client

from store.connection import Pool
from workflows import sweeper


class Slow:
    """A Temporal whose health check ends when the test says."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.service_client = self

    async def check_health(self) -> bool:
        """Wait for the test's word."""
        self.asked.set()
        return await self.answer


@pytest.mark.parametrize("steps", range(6))
async def test_a_stop_is_heard_while_temporal_answers(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told to stop in the very moment in which Temporal's answer arrives, it stops: Python 3.11's
    `asyncio.wait_for` swallows such a cancellation, and the worker never ended."""
    monkeypatch.setattr(sweeper, "SWEEP_EVERY_S", 0.001)
    slow = Slow()
    pool = cast(Pool, None)  # a sweep fails on it, and the loop goes on
    task = asyncio.create_task(sweeper.sweep_for_ever(pool, cast(Client, cast(Any, slow))))
    await slow.asked.wait()
    slow.answer.set_result(True)
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=0.5)
    task.cancel()
    assert done, "the cancellation was swallowed"
    assert task.cancelled()
