"""Attacks on alerts: who gives them, how often, until when, and what they must not say."""

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from prometheus_client import REGISTRY, generate_latest

from domain.logs import JsonLines
from store import alerts
from store.connection import Connection
from tests.harness.receiver import Receiver, receiving
from tests.integration.store.kit import MARIA, World
from tests.integration.store.test_settle import unknown
from workflows import alert_post
from workflows import alerts as loop
from workflows.alert_post import AlertPost
from workflows.alerts import MOST_A_ROUND, Alerter

PERSONAL = ("João", "Silva", "Maria", "15000", "150,00", "150.00", MARIA.wa_id, MARIA.user_id)


@dataclass
class Watch:
    """Two workers' loops and the API's on one database, and who hears them."""

    world: World
    receiver: Receiver
    first: Alerter
    second: Alerter
    api: Alerter

    async def look(self) -> int:
        """All three look at once; how many alerts were tried."""
        return sum(await asyncio.gather(*(one.look_once() for one in self.all)))

    @property
    def all(self) -> tuple[Alerter, ...]:
        """The three of them."""
        return self.first, self.second, self.api

    def numbers(self, action: str) -> list[int]:
        """The numbers of the action's alerts, as they were heard."""
        return [one["alert"] for one in self.receiver.of(action)]

    async def dead_workers(self) -> None:
        """As if no worker had beaten for a minute."""
        await self.world.pool.execute(
            "UPDATE workers SET last_seen = last_seen - interval '1 minute'"
        )


@pytest.fixture
async def watch(world: World) -> AsyncIterator[Watch]:
    """Three loops that are driven by hand."""
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(receiving())
        post = [await stack.enter_async_context(AlertPost(receiver.url)) for _ in range(3)]
        yield Watch(
            world,
            receiver,
            Alerter(world.pool, post=post[0], worker_id="one"),
            Alerter(world.pool, post=post[1], worker_id="two"),
            Alerter(world.pool, post=post[2], worker_id=None),
        )


def _count(kind: str) -> float:
    return REGISTRY.get_sample_value("aval_alerts_total", {"kind": kind}) or 0.0


def _gauge(name: str) -> float | None:
    return REGISTRY.get_sample_value(f"aval_actions_executing_{name}")


# ---------------------------------------------------------------- when, and how often


async def test_nothing_is_alerted_before_a_minute(watch: Watch) -> None:
    """A send in doubt for 55 s is not told: most are settled by the first looks."""
    await unknown(watch.world, "drop")
    await watch.world.move(seconds=55)
    assert await watch.look() == 0
    await watch.world.move(seconds=10)
    assert await watch.look() == 1


async def test_an_alert_an_hour_and_no_more(watch: Watch) -> None:
    """One alert after a minute, the next ones an hour apart, numbered, for days on end, however
    often and from however many processes it is looked."""
    action = await unknown(watch.world, "drop")
    await watch.world.move(seconds=65)
    for hour in range(1, 31):
        for _ in range(3):
            await watch.look()
        assert watch.numbers(action) == list(range(1, hour + 1))
        await watch.world.move(minutes=59)
        assert await watch.look() == 0
        await watch.world.move(minutes=1, seconds=1)


async def test_what_is_told(watch: Watch) -> None:
    """Slack's `text`, and beside it ids and counts: nothing else."""
    action = await unknown(watch.world, "drop")
    await watch.world.move(minutes=5)
    await watch.look()
    (told,) = watch.receiver.got
    text, age = told.pop("text"), told.pop("age_seconds")
    assert 300 <= age < 330
    assert told == {
        "kind": "unknown",
        "action_id": action,
        "tool": "create_pix_charge",
        "account": "demo",
        "sends": 1,
        "alert": 1,
    }
    assert "outcome unknown for 5 min" in text
    assert f"aval actions show {action}" in text


async def test_it_ends_when_it_is_settled(watch: Watch) -> None:
    """Found late → executed, and no further alert, neither now nor after hours."""
    action = await unknown(watch.world, "act_drop")
    await watch.world.move(minutes=2)
    assert await watch.look() == 1
    await watch.world.settle(action)
    assert (await watch.world.row(action))["status"] == "executed"
    for _ in range(5):
        await watch.world.move(hours=1, seconds=1)
        assert await watch.look() == 0
    assert watch.numbers(action) == [1]
    assert await watch.world.pool.fetchval("SELECT due_at FROM alerts") is None


async def test_what_is_settled_before_its_delivery_works_is_not_told_again(watch: Watch) -> None:
    """The receiver is down, meanwhile the outcome is found: an alert about it would be false."""
    action = await unknown(watch.world, "act_drop")
    watch.receiver.status = 503
    await watch.world.move(minutes=2)
    assert await watch.look() == 1
    await watch.world.settle(action)
    watch.receiver.status = 200
    await watch.world.move(minutes=2)
    assert await watch.look() == 0
    assert watch.receiver.got == []


async def test_confirmed_and_never_sent_is_told_if_nobody_closes_it(watch: Watch) -> None:
    """Without a send an action closes when it is not fresh any more (120 s); a minute later it is
    clear that nobody works on it."""
    action = await watch.world.executing()
    await watch.world.move(seconds=170)
    assert await watch.look() == 0
    await watch.world.move(seconds=15)
    await watch.look()
    assert watch.numbers(action) == [1]
    assert watch.receiver.got[0]["sends"] == 0


async def test_what_is_pending_or_done_is_not_alerted(watch: Watch) -> None:
    """Waiting for a person is no trouble, nor is an effect that was proved at once."""
    await watch.world.pending()
    await watch.world.move(minutes=5)
    done = await watch.world.executing(arguments={"customer": "João Silva", "amount_cents": 100})
    await watch.world.execute(done)
    await watch.world.move(hours=2)
    assert await watch.look() == 0


# ---------------------------------------------------------------- events


async def test_a_contradiction_is_told_once(watch: Watch) -> None:
    """Closed, and yet the provider acted: told at once, and once, whatever comes later."""
    action = await unknown(watch.world, "act_drop")
    async with watch.world.pool.acquire() as connection, connection.transaction():
        await connection.execute("UPDATE actions SET status = 'failed' WHERE id = $1", action)
        for _ in range(2):
            await connection.execute(
                "SELECT append_audit($1, 'contradiction', $2)", action, {"closed_as": "failed"}
            )
    before = _count("contradiction")
    for _ in range(4):
        await watch.look()
        await watch.world.move(hours=1, seconds=1)
    (told,) = watch.receiver.got
    assert (told["kind"], told["action_id"]) == ("contradiction", action)
    assert "CONTRADICTION" in told["text"]
    assert _count("contradiction") == before + 1


async def test_books_that_could_not_be_written_are_told_once(watch: Watch) -> None:
    """The effect happened and the tool's own tables do not say so: told once."""
    action = await watch.world.executing(tool="charge_with_failing_books")
    await watch.world.execute(action)
    assert "mirror_failed" in await watch.world.events(action)
    for _ in range(3):
        await watch.look()
        await watch.world.move(hours=1, seconds=1)
    assert [one["kind"] for one in watch.receiver.of(action)] == ["mirror_failed"]


# ---------------------------------------------------------------- who


async def test_two_workers_and_the_api_at_once_give_one(watch: Watch) -> None:
    """No worker has beaten for a while, so that the API looks too: all three at once, again and
    again for ten hours, and each hour's alert is given by one of them."""
    action = await unknown(watch.world, "drop")
    await watch.world.move(seconds=65)
    before = _count("unknown")
    for _ in range(10):
        await watch.dead_workers()
        await asyncio.gather(*(one.look_once() for one in watch.all * 3))
        await watch.world.move(hours=1, seconds=1)
    assert watch.numbers(action) == list(range(1, 11))
    assert _count("unknown") == before + 10


async def test_takers_that_meet_share_the_rows(watch: Watch) -> None:
    """A hundred due alerts, ten takers at the same moment: each row goes to one of them, and a row
    that somebody holds delays nobody."""
    pool = watch.world.pool
    action = await watch.world.executing()
    await pool.execute(
        "INSERT INTO alerts (action_id, kind, since, due_at)"
        " SELECT $1, 'contradiction', now(), now()",
        action,
    )
    held_by = await pool.acquire()
    try:
        async with held_by.transaction():
            await held_by.execute("SELECT 1 FROM alerts FOR UPDATE")
            async with asyncio.timeout(2), pool.acquire() as connection:
                assert await alerts.take_due(connection, most=5) == []
    finally:
        await pool.release(held_by)
    for _ in range(30):
        await pool.execute("UPDATE alerts SET due_at = now() - interval '1 second'")
        taken = await asyncio.gather(*(_take(watch.world) for _ in range(8)))
        assert sum(taken) == 1


async def _take(world: World) -> int:
    async with world.pool.acquire() as connection:
        return len(await alerts.take_due(connection, most=5))


async def test_a_lock_on_the_action_delays_no_alert(watch: Watch) -> None:
    """A stalled process holds the action's row: it is told all the same, and at once."""
    action = await unknown(watch.world, "drop")
    await watch.world.move(seconds=65)
    async with watch.world.pool.acquire() as holding, holding.transaction():
        await holding.execute("SELECT 1 FROM actions WHERE id = $1 FOR UPDATE", action)
        async with asyncio.timeout(3):
            assert await watch.first.look_once() == 1


async def test_the_api_alerts_only_when_no_worker_lives(watch: Watch) -> None:
    """A worker's beat of less than 30 s ago keeps the API silent; it says nothing even if the
    worker has not looked since. After 30 s the API tells."""
    action = await unknown(watch.world, "drop")
    await watch.first.look_once()
    await watch.world.pool.execute(
        "UPDATE sends SET fenced_at = fenced_at - interval '1 hour' WHERE action_id = $1", action
    )
    await watch.world.move(seconds=25)
    assert await watch.api.look_once() == 0
    await watch.world.move(seconds=6)
    assert await watch.api.look_once() == 1
    assert watch.numbers(action) == [1]


async def test_workers_long_gone_are_forgotten(watch: Watch) -> None:
    """Each start is a row; after a day without a beat it goes."""
    await watch.first.look_once()
    await watch.world.move(hours=25)
    await watch.second.look_once()
    rows = await watch.world.pool.fetch("SELECT id FROM workers")
    assert [row["id"] for row in rows] == ["two"]


# ---------------------------------------------------------------- delivery


@pytest.mark.parametrize("status", [500, 429, 404, 302])
async def test_a_receiver_that_fails_is_tried_again_in_a_minute(watch: Watch, status: int) -> None:
    """Not 2xx → the same alert again each minute until it is taken; then the next in an hour. In
    log and metric it stands once."""
    action = await unknown(watch.world, "drop")
    before = _count("unknown")
    watch.receiver.status = status
    await watch.world.move(seconds=65)
    for tries in range(1, 4):
        await watch.look()
        assert watch.receiver.tries == tries
        assert await watch.look() == 0
        await watch.world.move(seconds=61)
    watch.receiver.status = 204
    await watch.look()
    assert watch.numbers(action) == [1]
    await watch.world.move(minutes=59)
    assert await watch.look() == 0
    await watch.world.move(seconds=61)
    await watch.look()
    assert watch.numbers(action) == [1, 2]
    assert _count("unknown") == before + 2


async def test_whoever_dies_while_delivering_loses_no_alert(watch: Watch) -> None:
    """Taken by a process that is gone before it posted: a minute later another gives it."""
    action = await unknown(watch.world, "drop")
    await watch.world.move(seconds=65)
    assert await _take(watch.world) == 1
    assert await watch.look() == 0
    await watch.world.move(seconds=61)
    await watch.look()
    assert watch.numbers(action) == [1]


async def test_a_receiver_that_hangs_is_left(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole POST is bounded, and what is not there, or no HTTP, is a failure like any other."""
    await unknown(watch.world, "drop")
    monkeypatch.setattr(alert_post, "POST_WITHIN_S", 0.2)
    watch.receiver.stall_s = 1.0
    await watch.world.move(seconds=65)
    async with asyncio.timeout(0.9):
        assert await watch.first.look_once() == 1
    async with AlertPost("http://127.0.0.1:1/nobody") as post:
        await watch.world.move(seconds=61)
        nobody = Alerter(watch.world.pool, post=post, worker_id="three")
        assert await nobody.look_once() == 1
    row = await watch.world.pool.fetchrow("SELECT number, said FROM alerts")
    assert row is not None
    assert tuple(row) == (0, True)


async def test_without_an_address_log_and_metric_are_the_alert(
    watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    """No AVAL_ALERT_URL: one line at level error and one count, and the next in an hour."""
    alone = Alerter(watch.world.pool, post=None, worker_id="alone")
    action = await unknown(watch.world, "drop")
    await watch.world.move(seconds=65)
    before = _count("unknown")
    for _ in range(3):
        await alone.look_once()
    lines = [one for one in caplog.records if one.name == "workflows.alerts"]
    assert [one.levelno for one in lines] == [logging.ERROR]
    said = json.loads(JsonLines().format(lines[0]))
    assert (said["event"], said["action_id"], said["alert"]) == ("alert", action, 1)
    assert _count("unknown") == before + 1


async def test_a_storm_is_told_one_after_the_other(watch: Watch) -> None:
    """A provider that is down makes many: a few each round, and none is forgotten."""
    world = watch.world
    ids = set()
    for n in range(MOST_A_ROUND + 2):
        arguments = {"customer": "João Silva", "amount_cents": 1000 + n}
        ids.add(await world.executing(arguments=arguments))
    await world.move(minutes=5)
    assert await watch.first.look_once() == MOST_A_ROUND
    assert await watch.first.look_once() == 2
    assert {one["action_id"] for one in watch.receiver.got} == ids


async def test_no_fault_ends_the_loop(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database away for a while, then a fault of our own: the gauges show no old figure
    meanwhile, and afterwards the alert is given."""
    action = await unknown(watch.world, "drop")
    await watch.world.move(seconds=65)
    await watch.first.look_once()
    await watch.world.move(hours=1, seconds=1)
    faults: list[Exception] = [KeyError("a fault"), ConnectionRefusedError("away")]
    shown = []
    real = alerts.stuck

    async def failing(connection: Connection) -> alerts.Stuck:
        shown.append(_gauge("unknown"))
        if faults:
            raise faults.pop()
        return await real(connection)

    monkeypatch.setattr(alerts, "stuck", failing)
    monkeypatch.setattr(loop, "LOOK_EVERY_S", 0.05)
    task = asyncio.create_task(watch.first.look_for_ever())
    for _ in range(100):
        if len(watch.receiver.got) == 2:
            break
        await asyncio.sleep(0.05)
    assert not task.done()
    task.cancel()
    assert watch.numbers(action) == [1, 2]
    assert shown[0] == 1
    assert all(math.isnan(one or 0) for one in shown[1:3])


# ---------------------------------------------------------------- what it shows


async def test_the_gauges_show_what_is_stuck(watch: Watch) -> None:
    """How many execute with a send in doubt and how old the oldest is; 0 when it is settled."""
    action = await unknown(watch.world, "act_drop")
    await watch.world.move(minutes=10)
    await watch.api.look_once()
    assert _gauge("unknown") == 1
    assert 600 <= (_gauge("oldest_seconds") or 0) < 660
    await watch.world.settle(action)
    await watch.api.look_once()
    assert (_gauge("unknown"), _gauge("oldest_seconds")) == (0, 0)


async def test_nothing_personal_and_no_address_is_said(
    watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the POST, the log nor the metrics hold a name, phone, amount or the receiver's
    token, also when the delivery fails."""
    caplog.set_level(logging.DEBUG, logger="workflows")
    action = await unknown(watch.world, "drop")
    await watch.world.move(minutes=2)
    watch.receiver.status = 500
    await watch.look()
    watch.receiver.status = 200
    await watch.world.move(minutes=2)
    await watch.look()
    lines = [one for one in caplog.records if one.name.startswith("workflows.")]
    assert len(lines) == 2
    log = "\n".join(JsonLines().format(one) for one in lines)
    metrics = generate_latest().decode()
    posted = json.dumps(watch.receiver.got, ensure_ascii=False)
    assert action in log
    assert action in posted
    assert action not in metrics
    for said in (log, metrics, posted):
        assert not [word for word in PERSONAL if str(word) in said]
        assert "secret-token" not in said
