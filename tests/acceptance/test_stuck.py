"""An outcome that stays unknown: looked up ever more rarely, told to operators each hour, also when
no worker lives, and settled by a late find. Counted at the provider and at the receiver of
alerts."""

import asyncio
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.testing import WorkflowEnvironment

from tests.acceptance.test_running import environment
from tests.chaos.processes import with_moved_clock
from tests.harness.databases import Databases
from tests.harness.receiver import Receiver, receiving
from tests.harness.scenes import heard, propose
from tests.harness.stack import Stack, running_stack
from workflows import alerts

ROOT = Path(__file__).parents[2]
PERSONAL = ("João", "Silva", "Maria", "15000", "150,00", "150.00", "5511988880001", "secret-token")


@dataclass
class Stuck:
    """A system with an action whose outcome nobody knows, and who hears its alerts."""

    stack: Stack
    receiver: Receiver
    action: str

    async def looks(self) -> int:
        """How often the outcome was looked up."""
        looks: int = (await self.stack.action(self.action))["looks"]
        return looks

    async def next_look(self) -> float:
        """Move both clocks to the next look and wait for it; the seconds that were moved."""
        before = await self.looks()
        wait: float = await self.stack.pool.fetchval(
            "SELECT extract(epoch FROM look_at - clock_timestamp())::float8 FROM actions"
            " WHERE id = $1",
            self.action,
        )
        await self.stack.move_clock(self.action, timedelta(seconds=wait + 1))
        for _ in range(400):
            if await self.looks() > before:
                return wait
            await asyncio.sleep(0.05)
        raise AssertionError(f"not looked up after {wait:.0f} s; looks: {before}")

    async def alerts(self, count: int) -> list[int]:
        """The numbers of the alerts that were taken, once there are so many."""
        for _ in range(400):
            if len(self.receiver.got) >= count:
                break
            await asyncio.sleep(0.05)
        return [one["alert"] for one in self.receiver.of(self.action)]


@asynccontextmanager
async def stuck(
    databases: Databases, temporal_env: WorkflowEnvironment, *, fault: str, lookups_fail: bool
) -> AsyncIterator[Stuck]:
    """Confirmed, sent, and told to the person that it is being verified."""
    async with AsyncExitStack() as exits:
        receiver = await exits.enter_async_context(receiving())
        stack = await exits.enter_async_context(
            running_stack(databases, temporal_env, alert_url=receiver.url)
        )
        await stack.payments.add_fault(fault)
        if lookups_fail:
            await stack.payments.add_fault("lookup_503", times=9999)
        action = await propose(stack)
        await stack.whatsapp.press("maria", "confirm")
        await stack.whatsapp.wait_message("maria", contains="verificando", timeout_seconds=20)
        yield Stuck(stack, receiver, action["id"])


async def _requests(stack: Stack, method: str) -> list[dict[str, Any]]:
    return [one for one in await stack.payments.journal() if one["method"] == method]


@pytest.mark.slow
async def test_a_late_find_after_hours_settles_it(
    databases: Databases, temporal_env: WorkflowEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider acted, its answer was lost, and for three hours its look-up is down → looked up
    after 5, 10, 20 … at most 900 s and never sent again; the person hears once that it is being
    verified, operators each hour. Then it is found: executed, one feedback, no further alert."""
    monkeypatch.setattr(alerts, "LOOK_EVERY_S", 0.2)
    async with stuck(databases, temporal_env, fault="act_drop", lookups_fail=True) as scene:
        stack = scene.stack
        first = await scene.looks()
        asked = len(await _requests(stack, "GET"))
        waits: list[float] = []
        while sum(waits) < timedelta(hours=3).total_seconds():
            waits.append(await scene.next_look())
            told = 1 + int(sum(waits) // 3600) if sum(waits) > 60 else 0
            await scene.alerts(told)
        usual = [min(5.0 * 2 ** (first - 1 + n), 900) for n in range(len(waits))]
        assert waits == pytest.approx(usual, abs=3)
        looks = await scene.looks() - first
        assert looks == len(waits)
        assert len(await _requests(stack, "GET")) - asked == looks
        assert (await stack.action(scene.action))["status"] == "executing"
        assert sum("verificando" in text for text in await heard(stack)) == 1
        heard_by_operators = await scene.alerts(3)
        assert heard_by_operators == list(range(1, len(heard_by_operators) + 1))
        assert 3 <= len(heard_by_operators) <= 4
        await stack.payments.clear_faults()
        await stack.move_clock(scene.action, timedelta(seconds=901))
        await stack.wait_status(scene.action, "executed", seconds=30)
        await stack.quiet()
        await stack.pool.execute("UPDATE fake.skew SET seconds = seconds + 7300")
        await asyncio.sleep(1)
        assert await scene.alerts(0) == heard_by_operators
        texts = await heard(stack)
        assert [text[:6] for text in texts[-1:]] == ["000201"]
        assert len(texts) == 3  # being verified, done, the code
        assert await stack.charges() == 1
        assert len(await _requests(stack, "POST")) == 1


@pytest.mark.slow
async def test_without_a_worker_the_api_alerts(
    databases: Databases, temporal_env: WorkflowEnvironment, tmp_path: Path
) -> None:
    """The outcome is in doubt and the worker goes → the API, a process of its own, gives the alert.
    When a worker is back, the next hour's alert is one, whoever gives it. Nothing personal stands
    in alerts, the API's log or its metrics."""
    async with stuck(databases, temporal_env, fault="drop", lookups_fail=False) as scene:
        async with api_process(scene, tmp_path / "api.log") as metrics_url:
            await scene.stack.stop_worker()
            await _move_database(scene.stack, seconds=100)
            assert await scene.alerts(1) == [1]
            await scene.stack.start_worker()
            await _move_database(scene.stack, seconds=3601)
            assert await scene.alerts(2) == [1, 2]
            await asyncio.sleep(6)
            assert len(scene.receiver.got) == scene.receiver.tries == 2
            async with httpx.AsyncClient(trust_env=False) as http:
                metrics = (await http.get(metrics_url)).text
        assert "\naval_actions_executing_unknown 1.0\n" in metrics
        log = (tmp_path / "api.log").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in log.splitlines()]
        given = [line for line in lines if line["event"] == "alert"]
        assert [line["alert"] for line in given][:1] == [1]
        assert {line["action_id"] for line in given} == {scene.action}
        for said in (log, metrics, json.dumps(scene.receiver.got, ensure_ascii=False)):
            assert not [word for word in PERSONAL if word in said]


async def _move_database(stack: Stack, *, seconds: float) -> None:
    """PostgreSQL's clock alone."""
    stack.skew += seconds
    await stack.pool.execute("UPDATE fake.skew SET seconds = $1", stack.skew)


@asynccontextmanager
async def api_process(scene: Stuck, log: Path) -> AsyncIterator[str]:
    """The API as a process of its own, that sees the moved clock; where its metrics are."""
    port, metrics = _free_ports()
    settings = scene.stack.settings
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "api",
            cwd=ROOT,
            env={
                **environment(scene.stack),
                "AVAL_DATABASE_URL": with_moved_clock(settings.database_url.get_secret_value()),
                "AVAL_API_PORT": str(port),
                "AVAL_ALERT_URL": scene.receiver.url,
                "AVAL_METRICS_PORT": str(metrics),
            },
            stderr=out,
        )
    try:
        async with asyncio.timeout(30), httpx.AsyncClient(trust_env=False) as http:
            while True:
                if await _ready(http, f"http://127.0.0.1:{port}/health/ready"):
                    break
                assert process.returncode is None, "the API ended before it was ready"
                await asyncio.sleep(0.1)
        yield f"http://127.0.0.1:{metrics}/metrics"
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), 20)


async def _ready(http: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await http.get(url)).status_code == 200
    except httpx.HTTPError:
        return False


def _free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("", 0)) as two:
        return one.getsockname()[1], two.getsockname()[1]
