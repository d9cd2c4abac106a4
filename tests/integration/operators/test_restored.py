"""After a restore nothing that was open goes on by itself."""

from domain.actions import Verdict
from store import restoring
from store.restoring import Restored
from tests.integration.operators.desk import LAG_S, Desk
from tests.integration.store.kit import RITA, World


async def hold(world: World) -> Restored:
    """`aval restored`."""
    async with world.pool.acquire() as connection:
        return await restoring.hold_all(connection, operator="Ana")


async def test_what_was_pending_is_closed_even_if_confirmed(world: World) -> None:
    """A stored Confirm may have been followed in what the backup forgot: it is not followed, the
    person is told nothing now, and a later press gets a text that claims nothing."""
    action = await world.pending()
    await world.click(action)
    held = await hold(world)
    assert held.closed == [action]
    row = await world.row(action)
    assert (row["status"], row["reason"]) == ("expired", "restored")
    assert await world.refusals(action) == ["restored"]
    assert await world.messages(action) == ["prompt"]
    assert (await world.decide(action)).do == "end"
    await world.click(action)
    await world.decide(action)
    told = await world.message(f"action:{action}:late:expired:confirm")
    assert "confira se ele já não foi feito" in told["message"]["text"]
    assert await world.charges() == 0


async def test_a_frozen_action_is_never_sent_by_a_machine(world: World, desk: Desk) -> None:
    """It was confirmed and not sent, says the backup. *decide* only looks, no attempt opens, an old
    one passes no fence, and nothing closes it as not sent."""
    action = await world.executing()
    attempt = await world.open_attempt(action)
    assert attempt is not None
    assert (await hold(world)).frozen == [action]
    assert await world.fence(action, attempt) is None
    assert await world.open_attempt(action) is None
    assert (await world.decide(action)).do == "settle"
    await world.move(seconds=121)
    assert (await world.decide(action)).do == "settle"
    await world.execute(action)
    assert await world.sends(action) == []
    assert (await world.row(action))["status"] == "executing"
    assert "backup" in await desk.refused(action, Verdict.RESEND, as_send=1)


async def test_a_frozen_action_that_was_done_is_found(world: World) -> None:
    """The send that the backup forgot is at the provider: the machine's own look settles it."""
    action = await world.executing()
    await world.execute(action)
    assert await world.charges() == 1
    await world.pool.execute("ALTER TABLE actions DISABLE TRIGGER USER")
    await world.pool.execute(
        "UPDATE actions SET status = 'executing', finished_at = NULL, result = NULL"
    )
    await world.pool.execute("ALTER TABLE actions ENABLE TRIGGER USER")
    await world.pool.execute("DELETE FROM sends")
    await hold(world)
    assert (await world.decide(action)).do == "settle"
    await world.settle(action)
    assert (await world.row(action))["status"] == "executed"
    assert await world.charges() == 1


async def test_a_frozen_action_is_settled_by_looks_made_after_it(world: World, desk: Desk) -> None:
    """Looks of before the restore count no more; two after it allow `failed`."""
    action = await desk.stuck("drop")
    await desk.absent(action)
    await hold(world)
    assert "wait" in await desk.refused(action, Verdict.FAILED)
    await desk.absent(action)
    assert (await desk.say(action, Verdict.FAILED)).status == "failed"


async def test_an_effect_of_our_own_database_is_failed(world: World) -> None:
    """It would stand in this database; the person is told that it was not done."""
    action = await world.executing(tool="add_to_wallet", arguments={"text": "um"})
    held = await hold(world)
    assert held.failed == [action]
    assert await world.messages(action, "feedback%") == ["feedback"]
    assert (await world.row(action))["reason"] == "settled_by_operator"
    await world.execute(action)
    assert (await world.events(action)).count("executed") == 0


async def test_a_resends_right_does_not_survive_and_a_repeat_changes_nothing(
    world: World, desk: Desk
) -> None:
    """The right may have been used; a second `aval restored` finds nothing to do."""
    stuck = await desk.stuck("drop")
    await desk.absent(stuck)
    await desk.say(stuck, Verdict.RESEND, as_send=2)
    other = await world.pending(
        person=RITA, arguments={"customer": "João Silva", "amount_cents": 900}
    )
    first = await hold(world)
    assert (first.closed, first.frozen) == ([other], [stuck])
    frozen_at = (await world.row(stuck))["frozen_at"]
    await world.move(seconds=LAG_S)
    assert await hold(world) == Restored()
    assert (await world.row(stuck))["frozen_at"] == frozen_at
    assert await world.unanswered(stuck) == 0
    assert await world.open_attempt(stuck) is None
