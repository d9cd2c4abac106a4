"""`executed` and `failed` by an operator's word: once, told once, and never against the facts."""

import asyncio
from dataclasses import replace

import pytest

from activities.deps import Gateways
from domain.actions import Verdict
from domain.errors import SettingsError
from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from domain.texts import texts_for
from gateways.registry import GatewayRegistry
from store import executing
from store.operators import NotAllowedError
from tests.integration.operators.desk import LAST_SEND_S, Desk
from tests.integration.store.kit import World, waits_for_a_lock
from tools.registry import Registry


async def texts(world: World, action: str) -> list[str]:
    """The feedback to the person."""
    rows = await world.pool.fetch(
        "SELECT message ->> 'text' AS text FROM outbox WHERE action_id = $1"
        " AND purpose = 'receipt' ORDER BY seq",
        action,
    )
    return [row["text"] for row in rows]


async def test_executed_tells_the_person_with_what_the_look_found(world: World, desk: Desk) -> None:
    """The provider acted, machines cannot look: the operator's look finds the charge and moves
    nothing; his word makes it executed, with code and books, once; his name stands in the chain."""
    action = await desk.stuck("act_drop")
    looked = await desk.look(action)
    assert (looked.seen.presence, looked.seen.equal) == ("found", True)
    assert (await world.row(action))["status"] == "executing"
    settled = await desk.say(action, Verdict.EXECUTED)
    assert settled.status == "executed"
    said = await texts(world, action)
    assert len(said) == 2
    assert said[1].startswith("000201")
    assert await world.pool.fetchval("SELECT provider_ref FROM charges") == looked.seen.provider_ref
    link = await world.pool.fetchval(
        "SELECT detail FROM audit_events WHERE action_id = $1 AND event = 'executed'", action
    )
    assert (link["operator"], link["evidence"]) == ("Ana", "seen in the panel")
    history = await world.pool.fetch(
        "SELECT content ->> 'text' AS text FROM history WHERE action_id = $1", action
    )
    assert any("A equipe encerrou a ação" in (row["text"] or "") for row in history)
    assert (await world.decide(action)).do == "end"
    assert await world.unanswered(action) == 0
    assert await world.charges() == 1


async def test_executed_without_anything_seen_still_tells(world: World, desk: Desk) -> None:
    """The look-up is away, the operator saw it in the provider's panel: the text says that there is
    no code yet, and the books hold the charge."""
    action = await desk.stuck("act_drop")
    await desk.say(action, Verdict.EXECUTED)
    assert "ainda não devolveu o código" in (await texts(world, action))[0]
    assert await world.pool.fetchval("SELECT count(*) FROM charges") == 1


async def test_executed_without_the_tool_tells_in_general_words(world: World, desk: Desk) -> None:
    """The deployment has the tool no more: the person still hears that it is done."""
    action = await desk.stuck("act_drop")
    world.deps = replace(world.deps, registry=Registry([world.deps.registry.get("get_balance")]))
    await desk.say(action, Verdict.EXECUTED)
    assert (await texts(world, action))[0].startswith("Feito: ")


async def test_failed_waits_for_the_lag_and_two_absents(world: World, desk: Desk) -> None:
    """Too early, then one look, then two a moment apart: refused; after two a minute apart: failed,
    its own text once, no send and no effect afterwards."""
    action = await desk.stuck("drop")
    assert "wait" in await desk.refused(action, Verdict.FAILED)
    await world.move(seconds=61)
    await desk.look(action)
    await desk.look(action)
    assert "there are 2" in await desk.refused(action, Verdict.FAILED)
    await world.move(seconds=61)
    await desk.look(action)
    settled = await desk.say(action, Verdict.FAILED)
    assert (settled.status, settled.reason) == ("failed", "settled_by_operator")
    assert await texts(world, action) == ["A equipe verificou: esse pedido não foi executado."]
    assert await world.fence(action, 1) is None
    assert await world.open_attempt(action) is None
    assert await world.charges() == 0


async def test_failed_is_refused_while_a_look_found_something(world: World, desk: Desk) -> None:
    """However often later looks find nothing."""
    action = await desk.stuck("act_drop")
    await desk.look(action)
    await world.payments.reset()
    await desk.absent(action)
    assert "something under its key" in await desk.refused(action, Verdict.FAILED)


async def test_failed_is_allowed_at_once_where_nothing_was_sent(world: World, desk: Desk) -> None:
    """No worker has begun: made true by the lock, and the late worker sends nothing."""
    action = await world.executing()
    attempt = await world.open_attempt(action)
    assert attempt is not None
    await desk.say(action, Verdict.FAILED)
    assert await world.fence(action, attempt) is None
    assert await world.sends(action) == []


async def test_a_send_under_way_is_waited_for(world: World, desk: Desk) -> None:
    """A fence without outcome is refused for as long as its activity may live, then not."""
    action = await world.executing()
    attempt = await world.open_attempt(action)
    assert attempt is not None
    await world.fence(action, attempt)
    for verdict in (Verdict.EXECUTED, Verdict.FAILED):
        assert "still be under way; wait 7" in await desk.refused(action, verdict)
    await world.move(seconds=LAST_SEND_S)
    await desk.say(action, Verdict.EXECUTED)


async def test_two_operators_at_once_settle_once(world: World, desk: Desk) -> None:
    """Opposite words in the same moment: one is followed, the other hears who was first."""
    action = await desk.stuck("drop")
    await desk.absent(action)
    async with world.pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT 1 FROM actions WHERE id = $1 FOR UPDATE", action)
        both = [
            asyncio.create_task(desk.say(action, verdict, operator=name))
            for name, verdict in (("Ana", Verdict.EXECUTED), ("Rui", Verdict.FAILED))
        ]
        await waits_for_a_lock(world.pool, sessions=2)
    done = await asyncio.gather(*both, return_exceptions=True)
    refused = [one for one in done if isinstance(one, NotAllowedError)]
    assert len(refused) == 1
    assert "was first" in str(refused[0])
    assert len([e for e in await world.events(action) if e in {"executed", "failed"}]) == 1
    assert len(await texts(world, action)) in {1, 2}
    decided = await world.pool.fetchval(
        "SELECT count(*) FROM decisions WHERE action_id = $1 AND source = 'operator'", action
    )
    assert decided == 1


async def test_an_operator_beside_a_machines_look_leaves_one_outcome(
    world: World, desk: Desk
) -> None:
    """The workflow's look finds the effect while the operator says executed: one transition, one
    feedback, whoever came first."""
    action = await desk.stuck("act_drop")
    await asyncio.gather(
        world.settle(action), desk.say(action, Verdict.EXECUTED), return_exceptions=True
    )
    assert (await world.events(action)).count("executed") == 1
    assert len([m for m in await world.messages(action) if m == "feedback"]) == 1
    assert await world.pool.fetchval("SELECT count(*) FROM charges") == 1


async def test_a_zombies_late_success_is_a_contradiction(world: World, desk: Desk) -> None:
    """An operator closed it as failed, then a stalled attempt reports that it acted: noted and
    loud, the past is not changed, and a look says so too."""
    action = await desk.stuck("drop")
    await desk.absent(action)
    await desk.say(action, Verdict.FAILED)
    async with world.pool.acquire() as connection:
        await connection.execute("UPDATE sends SET outcome = NULL WHERE action_id = $1", action)
        written = await executing.record_outcome(
            connection,
            action,
            send=1,
            outcome=GatewayResult(outcome=Outcome.CREATED, provider_ref="ch_late"),
            texts=texts_for("pt-BR"),
            success=lambda _action: executing.Success(result={}, texts=["never said"]),
            mirror=lambda _action, _connection: _nothing,
        )
    assert written is executing.Written.CONTRADICTION
    assert (await world.row(action))["status"] == "failed"
    assert "contradiction" in await world.events(action)
    assert len(await texts(world, action)) == 1


async def _nothing(_result: object) -> None:
    raise AssertionError("a contradiction writes no books")


async def test_a_look_that_finds_a_closed_action_contradicts(world: World, desk: Desk) -> None:
    """An operator's look at a failed action that was done after all is said and kept."""
    action = await desk.stuck("drop")
    await desk.absent(action)
    await desk.say(action, Verdict.FAILED)
    assert not (await desk.look(action)).contradicts
    async with world.pool.acquire() as connection:
        gateway = await world.deps.gateways.of(connection, "demo")
    request = ProviderRequest.model_validate((await world.row(action))["request"])
    await gateway.send(action, request, before_wire=lambda: None)
    assert (await desk.look(action)).contradicts
    assert (await world.events(action))[-1] == "contradiction"
    assert (await world.row(action))["status"] == "failed"


async def test_without_a_gateway_failed_needs_a_day_and_executed_nothing(
    world: World, desk: Desk
) -> None:
    """The secret is not in the operator's shell: his word still works, with the longest wait."""

    def no_secret(name: str) -> str:
        raise SettingsError(f"secret {name!r} is not set")

    action = await desk.stuck("drop")
    await desk.absent(action)
    with_gateway = world.deps
    world.deps = replace(with_gateway, gateways=Gateways(GatewayRegistry(), no_secret))
    assert "a day is assumed" in await desk.refused(action, Verdict.FAILED)
    assert "nobody knows" in await desk.refused(action, Verdict.RESEND, as_send=2)
    await desk.say(action, Verdict.EXECUTED)


async def test_nobody_settles_what_only_the_person_decides(world: World, desk: Desk) -> None:
    """A pending action has no send to doubt: every word is refused and nothing is stored."""
    action = await world.pending()
    for verdict, number in ((Verdict.EXECUTED, None), (Verdict.FAILED, None), (Verdict.RESEND, 1)):
        assert "only the person" in await desk.refused(action, verdict, as_send=number)
    assert await world.pool.fetchval("SELECT count(*) FROM decisions") == 0


async def test_an_unknown_action_is_no_crash(desk: Desk) -> None:
    """LookupError, as everywhere."""
    with pytest.raises(LookupError):
        await desk.look("0" * 32)
