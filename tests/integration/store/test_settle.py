"""Attacks on an unknown outcome: it is looked up, never sent again, and told once."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from domain.outcomes import LookupResult, Presence
from domain.texts import texts_for
from gateways.pagarme import PagarmeGateway
from store import executing
from store.actions import Action
from store.executing import Success
from tests.integration.store.kit import World
from tools.registry import Registry


async def unknown(world: World, fault: str | None = "act_drop", **order: Any) -> str:
    """An action whose send ended in doubt: the provider acted, or not, as the fault says."""
    action = await world.executing()
    if fault is not None:
        await world.payments.add_fault(fault, **order)
    await world.execute(action)
    assert await world.sends(action) == ["unknown"]
    assert (await world.decide(action)).do == "settle"
    return action


async def test_found_and_equal_is_executed_with_one_feedback(world: World) -> None:
    """The provider acted and its answer was lost: the look finds it, the person gets the code,
    once, and our books hold the charge."""
    action = await unknown(world)
    for _ in range(3):
        await world.settle(action)
    assert (await world.decide(action)).status == "executed"
    assert await world.charges() == 1
    assert await world.messages(action, "feedback%") == ["feedback", "feedback1"]
    assert await world.pool.fetchval("SELECT count(*) FROM charges") == 1
    assert await world.messages(action, "verifying") == []


async def test_found_different_stays_executing(world: World) -> None:
    """Something else exists under our key: a human's case. Nothing is sent, nothing is claimed."""
    action = await world.executing()
    await world.payments.add_fault("alter")
    await world.execute(action)
    for _ in range(3):
        assert (await world.decide(action)).do == "settle"
        await world.settle(action)
    assert (await world.row(action))["status"] == "executing"
    assert len(await world.sends(action)) == 1
    assert await world.messages(action, "feedback%") == []
    assert await world.messages(action, "verifying") == ["verifying"]


async def test_absent_stays_executing_and_is_told_once_after_the_second_look(world: World) -> None:
    """Not seen is not "not done": it stays open; the first look is silent, the second tells,
    the others do not repeat it."""
    action = await unknown(world, "drop")
    await world.settle(action)
    assert await world.messages(action, "verifying") == []
    for _ in range(4):
        await world.settle(action)
    assert (await world.row(action))["status"] == "executing"
    assert await world.messages(action, "verifying") == ["verifying"]
    assert await world.charges() == 0
    assert await world.sends(action) == ["unknown"]


async def test_looks_are_due_after_5_seconds_doubling_to_15_minutes_for_a_day(world: World) -> None:
    """At once, then 5, 10, 20 … 900 s; after 24 hours only an operator can settle it, and nothing
    rings for it any more."""
    action = await unknown(world, "drop")
    waits = []
    for _ in range(11):
        step = await world.decide(action)
        assert step.do == "settle"
        waits.append(round(step.wait_s))
        await world.move(seconds=step.wait_s)
        await world.settle(action)
    assert waits == [0, 5, 10, 20, 40, 80, 160, 320, 640, 900, 900]
    row = await world.row(action)
    assert row["ring_at"] is not None
    await world.move(hours=24)
    assert (await world.decide(action)).do == "rest"
    row = await world.row(action)
    assert (row["status"], row["ring_at"]) == ("executing", None)


async def test_a_look_that_fails_proves_nothing(world: World) -> None:
    """The provider's look-up answers 503: uncertain, and looked again later."""
    action = await unknown(world, "drop")
    await world.payments.add_fault("lookup_503", times=9)
    await world.settle(action)
    row = await world.row(action)
    assert (row["status"], row["looks"]) == ("executing", 1)
    assert row["last_look"]["presence"] == "uncertain"
    await world.payments.clear_faults()


async def test_a_look_that_raises_proves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the gateway itself is a look without a result, not a look that never ends."""
    action = await unknown(world, "drop")

    async def broken(*_args: object) -> LookupResult:
        raise KeyError("broken")

    monkeypatch.setattr(PagarmeGateway, "lookup", broken)
    await world.settle(action)
    assert (await world.row(action))["looks"] == 1


async def test_a_tool_that_is_gone_does_not_stop_the_looks(world: World) -> None:
    """Deployed without the tool: nobody can look, and that is visible: the look counts as
    uncertain, the person is told, and after a day it rests. It does not fail for ever."""
    action = await unknown(world, "drop")
    world.deps = replace(world.deps, registry=Registry([world.deps.registry.get("get_balance")]))
    for _ in range(2):
        await world.settle(action)
    row = await world.row(action)
    assert (row["status"], row["looks"]) == ("executing", 2)
    assert await world.messages(action, "verifying") == ["verifying"]


async def test_a_look_beside_the_late_answer_leaves_one_outcome(world: World) -> None:
    """The zombie's own answer comes after the look found the effect: one transition, one text."""
    action = await world.executing()
    await world.payments.add_fault("act_delay", seconds=0.6)
    running = asyncio.create_task(world.execute(action))
    await asyncio.sleep(0.3)
    await world.settle(action)
    await running
    assert (await world.events(action)).count("executed") == 1
    assert await world.sends(action) == ["created"]
    assert await world.messages(action, "feedback%") == ["feedback", "feedback1"]
    assert await world.charges() == 1


async def test_found_after_a_close_by_hand_is_a_contradiction(world: World) -> None:
    """Closed as failed by hand, then found: said in the evidence, the past is not changed."""
    action = await unknown(world)
    await world.pool.execute("UPDATE actions SET status = 'failed' WHERE id = $1", action)

    async def mirror(_result: object) -> None:
        raise AssertionError("a closed action mirrors nothing")

    async with world.pool.acquire() as connection:
        written = await executing.record_look(
            connection,
            action,
            look=LookupResult(presence=Presence.FOUND, final=True, equal=True),
            send=1,
            texts=texts_for("pt-BR"),
            success=_success,
            mirror=lambda _action, _connection: mirror,
        )
    assert written is executing.Written.CONTRADICTION
    assert (await world.events(action))[-2:] == ["looked", "contradiction"]
    assert (await world.row(action))["status"] == "failed"


def _success(_action: Action) -> Success:
    return Success(result={}, texts=["Feito."])
