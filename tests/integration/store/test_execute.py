"""Attacks on "never twice": an attempt is killed between each pair of its steps, revoked, stalled,
contradicted; then it runs anew. What counts is what the provider counted."""

import asyncio

import pytest

from activities import execute as execute_module
from domain.outcomes import GatewayResult, Outcome
from domain.texts import texts_for
from store import executing
from store.actions import Action
from store.connection import Connection
from store.executing import Success, Written
from tests.integration.store.kit import NOBODY, World, waits_for_a_lock


async def record(
    world: World, action: str, outcome: Outcome, *, send: int = 1, reason: str | None = "why"
) -> Written:
    """Write an outcome as *execute* does."""

    async def mirror(_result: object) -> None:
        return None

    def success(_action: Action) -> Success:
        return Success(result={"charge_id": "ch_1", "pix_code": "000201"}, texts=["Feito."])

    async with world.pool.acquire() as connection:
        return await executing.record_outcome(
            connection,
            action,
            send=send,
            outcome=GatewayResult(outcome=outcome, reason=reason),
            texts=texts_for("pt-BR"),
            success=success,
            mirror=lambda _action, _connection: mirror,
        )


async def test_one_confirmed_action_is_one_effect(world: World) -> None:
    """The plain case: one send, one effect, one feedback, and the chain of evidence is whole."""
    action = await world.executing()
    await world.execute(action)
    assert await world.charges() == 1
    assert await world.sends(action) == ["created"]
    assert (await world.decide(action)).status == "executed"
    assert await world.messages(action, "feedback") == ["feedback"]
    assert await world.events(action) == [
        "proposed",
        "executing",
        "claimed",
        "fenced",
        "outcome",
        "executed",
    ]


async def test_killed_after_opening_the_attempt_runs_again(world: World) -> None:
    """Before the fence nothing can have left: the next attempt may send, and only it."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    await world.execute(action)
    assert await world.charges() == 1
    assert await world.sends(action) == ["created"]


async def test_killed_after_the_fence_never_sends_again(world: World) -> None:
    """After the fence something may have left: no machine sends again, however often asked."""
    action = await world.executing()
    attempt = await world.open_attempt(action)
    assert attempt is not None
    assert await world.fence(action, attempt) == 1
    for _ in range(3):
        await world.execute(action)
    assert await world.charges() == 0
    assert await world.sends(action) == [None]
    assert (await world.decide(action)).do == "settle"


async def test_killed_after_the_provider_acted_never_sends_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider acted, its answer was lost with the process: one effect, found by looking."""
    action = await world.executing()

    async def killed(*_args: object, **_fields: object) -> None:
        raise SystemError("killed")

    monkeypatch.setattr(execute_module.Execute, "_write", killed)
    with pytest.raises(SystemError):
        await world.execute(action)
    monkeypatch.undo()
    await world.execute(action)
    assert await world.charges() == 1
    assert await world.sends(action) == [None]
    await world.settle(action)
    assert (await world.decide(action)).status == "executed"
    assert await world.charges() == 1


async def test_killed_between_the_outcome_and_the_action(world: World) -> None:
    """The send's row says created, the action still executes: it is settled, never sent again."""
    action = await world.executing()
    attempt = await world.open_attempt(action)
    assert attempt is not None
    assert await world.fence(action, attempt) == 1
    await world.pool.execute("UPDATE sends SET outcome = 'created' WHERE action_id = $1", action)
    await world.execute(action)
    assert await world.charges() == 0
    assert (await world.decide(action)).do == "settle"


async def test_a_fence_never_passes_a_send_whose_outcome_is_not_written(world: World) -> None:
    """A send in flight has no outcome yet. That is doubt, and no later attempt may pass it, even
    one that was opened in spite of it."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    assert await world.fence(action, 1) == 1
    await world.pool.execute("UPDATE actions SET attempt = 2 WHERE id = $1", action)
    assert await world.fence(action, 2) is None
    assert await world.sends(action) == [None]


async def test_no_attempt_opens_beside_a_fence_of_the_same_moment(world: World) -> None:
    """An attempt that waited for the row while another passed its fence must see that send."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    async with world.pool.acquire() as mine:
        async with mine.transaction():
            assert await executing.fence(mine, action, attempt=1) == 1
            other = asyncio.create_task(world.open_attempt(action))
            await waits_for_a_lock(world.pool)
        assert await other is None
    assert (await world.row(action))["attempt"] == 1


async def test_a_zombie_attempt_has_lost_its_fence(world: World) -> None:
    """A stalled attempt that wakes up after a newer one opened may not send."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    assert await world.open_attempt(action) == 2
    assert await world.fence(action, 1) is None
    assert await world.fence(action, 2) == 1


async def test_twenty_attempts_at_once_send_once(world: World) -> None:
    """However many workers execute the same action at the same moment: at most one effect."""
    action = await world.executing()
    await asyncio.gather(*(world.execute(action) for _ in range(20)))
    assert await world.charges() <= 1
    assert len(await world.sends(action)) <= 1
    for _ in range(3):
        step = await world.decide(action)
        if step.do == "execute":
            await world.execute(action)
        elif step.do == "settle":
            await world.settle(action)
    assert await world.charges() == 1
    assert (await world.row(action))["status"] == "executed"


async def test_the_fence_is_closed_after_120_seconds(world: World) -> None:
    """The person confirmed a world of just now: an attempt that stalled for longer sends nothing,
    and the action is closed through the lock."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    await world.move(seconds=121)
    assert await world.fence(action, 1) is None
    await world.execute(action)
    assert await world.charges() == 0
    assert (await world.decide(action)).status == "failed"
    assert (await world.row(action))["reason"] == "not_sent"


async def test_the_fence_is_open_until_120_seconds(world: World) -> None:
    """The limit is 120 s, not less: a provider that comes back after 110 s is used."""
    action = await world.executing()
    await world.move(seconds=110)
    await world.execute(action)
    assert await world.charges() == 1


async def test_a_stall_before_the_wire_is_not_sent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than two seconds between fence and wire: nothing leaves, and the send's row says so."""
    action = await world.executing()
    real = executing.fence

    async def stalling(connection: Connection, action_id: str, *, attempt: int) -> int | None:
        n = await real(connection, action_id, attempt=attempt)
        await asyncio.sleep(2.1)
        return n

    monkeypatch.setattr(executing, "fence", stalling)
    await world.execute(action)
    assert await world.charges() == 0
    assert await world.sends(action) == ["not_sent"]
    monkeypatch.undo()
    assert (await world.decide(action)).do == "execute"
    await world.execute(action)
    assert await world.charges() == 1
    assert await world.sends(action) == ["not_sent", "created"]


async def test_not_sent_goes_again_while_fresh_and_then_fails(world: World) -> None:
    """A provider out of reach: tried again with a pause, never hot, and closed after 120 s with one
    text; afterwards no fence passes."""
    action = await world.executing()
    await world.reach(NOBODY)
    await world.execute(action)
    step = await world.decide(action)
    assert (step.do, step.status) == ("execute", "executing")
    assert 0 < step.wait_s <= 1
    await world.execute(action)
    assert 1 < (await world.decide(action)).wait_s <= 2
    assert await world.sends(action) == ["not_sent", "not_sent"]
    await world.move(seconds=121)
    assert (await world.decide(action)).status == "failed"
    assert await world.messages(action, "feedback%") == ["feedback"]
    await world.reach(world.payments_url)
    await world.execute(action)
    assert await world.charges() == 0


async def test_a_stalled_attempt_that_proves_late_that_nothing_left_is_rung_for(
    world: World,
) -> None:
    """Its workflow looks the unknown up, ever more rarely; the row itself brings it back within
    seconds, while the action is still fresh."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    assert await world.fence(action, 1) == 1
    for _ in range(4):
        await world.settle(action)
        await world.decide(action)
    assert await record(world, action, Outcome.NOT_SENT) is Written.OPEN
    soon = await world.pool.fetchval(
        "SELECT ring_at < clock_timestamp() + interval '6 seconds' FROM actions WHERE id = $1",
        action,
    )
    assert soon
    assert (await world.decide(action)).do == "execute"
    await world.execute(action)
    assert await world.charges() == 1


async def test_rejected_alone_fails_with_the_providers_reason(world: World) -> None:
    """The provider refused in its own words and nothing else was sent: failed, told once."""
    action = await world.executing()
    await world.payments.add_fault("refuse", status=422)
    await world.execute(action)
    row = await world.row(action)
    assert (row["status"], row["reason"]) == ("failed", "rejected")
    assert await world.charges() == 0
    assert await world.messages(action, "feedback%") == ["feedback"]


async def test_rejected_after_an_unknown_proves_nothing(world: World) -> None:
    """After one UNKNOWN no later error means "not done": the action stays open."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    assert await world.fence(action, 1) == 1
    assert await record(world, action, Outcome.UNKNOWN) is Written.OPEN
    await world.pool.execute(
        "INSERT INTO sends (action_id, n, attempt, fenced_at) VALUES ($1, 2, 1, now())", action
    )
    assert await record(world, action, Outcome.REJECTED, send=2) is Written.OPEN
    assert (await world.row(action))["status"] == "executing"
    assert await world.sends(action) == ["unknown", "unknown"]
    assert (await world.decide(action)).do == "settle"


async def test_rejected_with_another_send_in_flight_proves_nothing(world: World) -> None:
    """A send without an outcome is doubt too, whichever of the two is rejected first."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    assert await world.fence(action, 1) == 1
    await world.pool.execute(
        "INSERT INTO sends (action_id, n, attempt, fenced_at) VALUES ($1, 2, 1, now())", action
    )
    assert await record(world, action, Outcome.REJECTED, send=1) is Written.OPEN
    assert (await world.row(action))["status"] == "executing"


async def test_an_outcome_after_a_close_by_hand_is_a_contradiction(world: World) -> None:
    """The outcome is written always; that a closed action acted is said loudly, and the past is not
    changed."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    assert await world.fence(action, 1) == 1
    await world.pool.execute("UPDATE actions SET status = 'failed' WHERE id = $1", action)
    assert await record(world, action, Outcome.CREATED, reason=None) is Written.CONTRADICTION
    assert await world.sends(action) == ["created"]
    assert (await world.row(action))["status"] == "failed"
    assert (await world.events(action))[-1] == "contradiction"


async def test_writing_an_outcome_twice_changes_nothing(world: World) -> None:
    """The write is repeated when its answer is lost: one transition, one feedback."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    assert await world.fence(action, 1) == 1
    results = await asyncio.gather(
        *(record(world, action, Outcome.CREATED, reason=None) for _ in range(5))
    )
    assert set(results) == {Written.EXECUTED}
    assert await record(world, action, Outcome.UNKNOWN) is Written.EXECUTED
    assert await world.sends(action) == ["created"]
    assert (await world.events(action)).count("executed") == 1
    assert await world.messages(action, "feedback%") == ["feedback"]


async def test_nothing_closes_as_unsent_beside_a_send_in_doubt(world: World) -> None:
    """ "Nothing was sent" is made true under the lock: with a send in doubt nobody can say it."""
    action = await world.executing()
    assert await world.open_attempt(action) == 1
    assert await world.fence(action, 1) == 1
    await world.move(seconds=600)
    assert (await world.decide(action)).do == "settle"
    assert (await world.row(action))["status"] == "executing"


async def test_a_changed_world_stops_the_action_before_the_wire(world: World) -> None:
    """Revalidation refuses: closed as failed, nothing sent."""
    action = await world.executing()
    await world.pool.execute("UPDATE customers SET blocked = true")
    await world.execute(action)
    row = await world.row(action)
    assert (row["status"], row["reason"]) == ("failed", "no_longer_possible")
    assert await world.charges() == 0
    assert await world.sends(action) == []


async def test_a_tampered_action_is_not_sent(world: World) -> None:
    """The digest is checked before the wire: a row changed behind the trigger sends nothing."""
    action = await world.executing()
    async with world.pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")
        await connection.execute(
            "UPDATE actions SET request = jsonb_set(request, '{body}', '\"{}\"') WHERE id = $1",
            action,
        )
    await world.execute(action)
    assert (await world.row(action))["reason"] == "digest_mismatch"
    assert await world.charges() == 0


async def test_books_that_fail_leave_the_effect_recorded(world: World) -> None:
    """The provider acted: whatever the tool's own rows do, the action is executed and told."""
    action = await world.executing(tool="charge_with_failing_books")
    await world.execute(action)
    row = await world.row(action)
    assert row["status"] == "executed"
    assert row["result"]["pix_code"]
    assert await world.charges() == 1
    assert await world.messages(action, "feedback") == ["feedback"]
    assert "mirror_failed" in await world.events(action)


async def test_a_tool_that_cannot_read_the_answer_leaves_the_effect_recorded(world: World) -> None:
    """A tool's code that raises over a proved effect must not make it an unknown for ever."""
    action = await world.executing(tool="charge_with_failing_books")
    world.books.result_raises = True
    await world.execute(action)
    assert (await world.row(action))["status"] == "executed"
    assert await world.charges() == 1


async def test_a_database_tool_that_raises_rolls_all_back(world: World) -> None:
    """Effect, record and feedback are one transaction: after an error none of them is there, and
    the next attempt does it once."""
    before = await world.wallet_cents()
    action = await world.executing(tool="add_to_wallet", arguments={"text": "a"})
    world.wallet.raises = RuntimeError("broken")
    with pytest.raises(RuntimeError, match="broken"):
        await world.execute(action)
    assert await world.wallet_cents() == before
    assert (await world.row(action))["status"] == "executing"
    assert await world.messages(action, "feedback%") == []
    world.wallet.raises = None
    await world.execute(action)
    await world.execute(action)
    assert await world.wallet_cents() == before + 1
    assert (await world.row(action))["status"] == "executed"
    assert await world.messages(action, "feedback%") == ["feedback"]


@pytest.mark.parametrize("why", ["closed", "revoked", "stale"])
async def test_an_effect_in_our_database_needs_the_row_as_it_is_now(world: World, why: str) -> None:
    """Closed by hand, revoked by a newer attempt, or stalled for two minutes between opening the
    attempt and taking the row: nothing happens."""
    action = await world.executing(tool="add_to_wallet", arguments={"text": "a"})
    attempt = await world.open_attempt(action)
    assert attempt is not None
    if why == "closed":
        await world.pool.execute("UPDATE actions SET status = 'failed' WHERE id = $1", action)
    elif why == "revoked":
        await world.open_attempt(action)
    else:
        await world.move(seconds=121)
    async with world.pool.acquire() as connection, connection.transaction():
        locked = await executing.lock_for_effect(connection, action, attempt=attempt)
    assert locked is None


async def test_twenty_attempts_at_a_database_tool_act_once(world: World) -> None:
    """The row's lock and the attempt's number make one effect of twenty."""
    before = await world.wallet_cents()
    action = await world.executing(tool="add_to_wallet", arguments={"text": "a"})
    await asyncio.gather(*(world.execute(action) for _ in range(20)))
    while (await world.decide(action)).do == "execute":
        await world.execute(action)
    assert await world.wallet_cents() == before + 1
    assert (await world.events(action)).count("executed") == 1


async def test_a_second_cancel_does_not_cut_a_call_off(world: World) -> None:
    """A cancel is a request, and so is a second one (a worker that shuts down): the outcome of a
    call under way is written."""
    action = await world.executing()
    await world.payments.add_fault("delay_before", seconds=0.8)
    running = asyncio.create_task(world.execute(action))
    for _ in range(200):
        if await world.sends(action):
            break
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.sleep(0.1)
    running.cancel()
    await asyncio.wait([running])
    assert await world.sends(action) == ["created"]
    assert (await world.row(action))["status"] == "executed"
