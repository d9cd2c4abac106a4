"""Attacks on the one door out of `pending`: clicks that cross the lock in every order, at every
moment of the deadline, of the wrong person, on a tampered row. Rows and PostgreSQL's clock
decide."""

import asyncio
from datetime import datetime, timedelta

import asyncpg
import pytest
from temporalio.exceptions import ApplicationError

from domain.inbound import DeliveryStatus
from domain.people import Person
from store import actions
from store.ringing import Bell
from tests.integration.store.kit import (
    CARLOS,
    CHARGE,
    MARIA,
    OTHER_NUMBER,
    RITA,
    World,
    waits_for_a_lock,
)


async def deadline(world: World, action: str) -> datetime:
    """The action's `expires_at`."""
    at: datetime = (await world.row(action))["expires_at"]
    return at


# -- the lock


async def test_a_click_that_holds_the_row_is_seen_by_decide(world: World) -> None:
    """The webhook locked first: *decide* waits for it and then follows its click."""
    action = await world.pending()
    async with world.pool.acquire() as mine:
        async with mine.transaction():
            await world.receive(world.click_item(action, "confirm"), on=mine)
            deciding = asyncio.create_task(world.decide(action))
            await waits_for_a_lock(world.pool)
        assert (await deciding).status == "executing"


async def test_a_click_that_waits_for_decide_is_answered_afterwards(world: World) -> None:
    """*decide* locked first and expired the action: the click is stored later, decides nothing and
    gets its one answer."""
    action = await world.pending()
    await world.at(await deadline(world, action) - timedelta(milliseconds=300))
    async with world.pool.acquire() as mine:
        async with mine.transaction():
            await actions.lock(mine, action)
            clicking = asyncio.create_task(world.click(action))
            await waits_for_a_lock(world.pool)
            await asyncio.sleep(0.4)
        await clicking
    decided = await world.pool.fetchrow("SELECT received_at FROM decisions")
    assert decided is not None
    assert decided["received_at"] >= await deadline(world, action), "read before the lock"
    assert (await world.decide(action)).status == "expired"
    assert await world.refusals(action) == ["late"]
    assert await world.messages(action, "late:%") == ["late:expired:confirm"]


async def test_decide_judges_by_the_time_after_the_lock(world: World) -> None:
    """It began before the deadline and got the row after it: expired, not pending by the time at
    which it began."""
    action = await world.pending()
    await world.at(await deadline(world, action) - timedelta(milliseconds=300))
    async with world.pool.acquire() as mine:
        async with mine.transaction():
            await actions.lock(mine, action)
            deciding = asyncio.create_task(world.decide(action))
            await waits_for_a_lock(world.pool)
            await asyncio.sleep(0.4)
        assert (await deciding).status == "expired"


async def test_no_decision_slips_in_between_reading_and_writing(world: World) -> None:
    """While *decide* holds the row, a click can be neither stored nor passed over: it waits, and a
    Cancel that waited stops nothing that was executing already, but is answered."""
    action = await world.pending()
    await world.click(action)
    async with world.pool.acquire() as mine:
        async with mine.transaction():
            await actions.lock(mine, action)
            cancelling = asyncio.create_task(world.click(action, "cancel"))
            await waits_for_a_lock(world.pool)
            assert not cancelling.done()
        await cancelling
    assert (await world.decide(action)).status == "cancelled", "a stored Cancel wins"


async def test_twenty_decides_at_once_move_the_action_once(world: World) -> None:
    """However many workers decide: one transition, one evidence row, one answer each."""
    action = await world.pending()
    await world.click(action)
    steps = await asyncio.gather(*(world.decide(action) for _ in range(20)))
    assert {step.status for step in steps} == {"executing"}
    assert (await world.events(action)).count("executing") == 1
    assert await world.unanswered(action) == 0


async def test_a_signal_without_a_row_decides_nothing(world: World) -> None:
    """*decide* without a stored decision waits; how often it is woken does not matter."""
    action = await world.pending()
    for _ in range(3):
        step = await world.decide(action)
        assert (step.status, step.do) == ("pending", "wait")
    assert 590 < step.wait_s <= 600


# -- which decision wins


@pytest.mark.parametrize("order", [("confirm", "cancel"), ("cancel", "confirm")])
async def test_a_stored_cancel_wins_in_both_orders(world: World, order: tuple[str, str]) -> None:
    """Confirm and Cancel are both stored when the lock is taken: cancelled, one feedback."""
    action = await world.pending()
    for verdict in order:
        await world.click(action, verdict)
    assert (await world.decide(action)).status == "cancelled"
    assert set(await world.refusals(action)) == {None, "overruled"}
    assert await world.messages(action, "feedback%") == ["feedback"]
    assert await world.messages(action, "late:%") == []


async def test_a_cancel_and_a_confirm_at_the_same_moment_leave_one_outcome(world: World) -> None:
    """Stored and decided concurrently: either cancelled and never executed, or executing with the
    Cancel answered later. Never both."""
    action = await world.pending()
    await asyncio.gather(
        world.click(action),
        world.decide(action),
        world.click(action, "cancel"),
        world.decide(action),
    )
    await world.decide(action)
    status = (await world.row(action))["status"]
    events = await world.events(action)
    assert [one for one in events if one in {"executing", "cancelled"}] == [status]


async def test_a_double_confirm_is_one_confirmation(world: World) -> None:
    """Pressed twice: the first is followed, the second is a duplicate and is not answered."""
    action = await world.pending()
    await world.click(action)
    await world.click(action)
    assert (await world.decide(action)).status == "executing"
    assert await world.refusals(action) == [None, "duplicate"]
    assert await world.messages(action, "late:%") == []


@pytest.mark.parametrize(
    "person",
    [
        CARLOS,
        RITA,
        Person(user_id="BR.9999", wa_id=MARIA.wa_id),
        Person(wa_id=MARIA.wa_id),
    ],
    ids=["public", "another owner", "same phone, other user id", "phone without user id"],
)
async def test_a_wrong_person_changes_nothing_and_hears_nothing(
    world: World, person: Person
) -> None:
    """Silence, recorded; the right person's click still works afterwards."""
    action = await world.pending()
    for verdict in ("confirm", "cancel"):
        await world.click(action, verdict, person)
    assert (await world.decide(action)).status == "pending"
    assert await world.refusals(action) == ["wrong_person", "wrong_person"]
    assert await world.messages(action) == ["prompt"]
    await world.click(action)
    assert (await world.decide(action)).status == "executing"


async def test_the_right_person_on_another_business_number_is_the_wrong_one(world: World) -> None:
    """The business number is frozen too."""
    await world.pool.execute(
        "INSERT INTO business_numbers (phone_number_id, account_id) VALUES ($1, 'demo')",
        OTHER_NUMBER,
    )
    action = await world.pending()
    await world.click(action, phone_number_id=OTHER_NUMBER)
    assert (await world.decide(action)).status == "pending"
    assert await world.refusals(action) == ["wrong_person"]


# -- the deadline


async def test_confirmed_in_time_and_handled_within_the_grace(world: World) -> None:
    """Received at 9:59.9, handled 59 s after the deadline: a worker was away, the click counts."""
    action = await world.pending()
    expires = await deadline(world, action)
    await world.at(expires - timedelta(milliseconds=100))
    await world.click(action)
    await world.at(expires + timedelta(seconds=59))
    assert (await world.decide(action)).status == "executing"


async def test_confirmed_in_time_and_handled_after_the_grace(world: World) -> None:
    """Beyond the grace the world that was confirmed is gone: expired, told in its own words, once,
    and nothing is sent."""
    action = await world.pending()
    expires = await deadline(world, action)
    await world.at(expires - timedelta(seconds=1))
    await world.click(action)
    await world.at(expires + timedelta(seconds=60, milliseconds=1))
    for _ in range(2):
        assert (await world.decide(action)).status == "expired"
    assert (await world.row(action))["reason"] == "confirmed_too_late"
    assert await world.messages(action) == ["prompt", "feedback"]
    await world.execute(action)
    assert await world.charges() == 0


async def test_confirmed_at_the_deadline_is_too_late(world: World) -> None:
    """Received after `expires_at` but handled within the grace: expired all the same."""
    action = await world.pending()
    await world.at(await deadline(world, action) + timedelta(milliseconds=1))
    await world.click(action)
    assert (await world.decide(action)).status == "expired"
    assert (await world.row(action))["reason"] == "expired"
    assert await world.messages(action, "late:%") == ["late:expired:confirm"]


async def test_expiry_is_silent_and_late_clicks_are_answered_once(world: World) -> None:
    """Nobody pressed: closed without a word. Five late presses: one short answer."""
    action = await world.pending()
    await world.at(await deadline(world, action) + timedelta(milliseconds=1))
    assert (await world.decide(action)).status == "expired"
    assert await world.messages(action) == ["prompt"]
    for _ in range(5):
        await world.click(action)
        assert (await world.decide(action)).do == "end"
    assert await world.messages(action, "late:%") == ["late:expired:confirm"]
    assert await world.unanswered(action) == 0


async def test_a_second_before_the_deadline_nothing_expires(world: World) -> None:
    """*decide* woken early waits for the rest, at least the workflow's shortest timer."""
    action = await world.pending()
    await world.at(await deadline(world, action) - timedelta(seconds=1))
    step = await world.decide(action)
    assert (step.status, step.do) == ("pending", "wait")
    assert 0 <= step.wait_s <= 1


async def test_a_late_click_of_the_wrong_person_is_silent(world: World) -> None:
    """He hears nothing about an action that is not his, whatever became of it."""
    action = await world.pending()
    await world.click(action, "cancel")
    await world.decide(action)
    await world.click(action, "confirm", CARLOS)
    await world.decide(action)
    assert await world.messages(action, "late:%") == []
    assert await world.refusals(action) == [None, "wrong_person"]


# -- a Cancel while executing


async def test_a_cancel_while_executing_is_answered_when_it_is_over(world: World) -> None:
    """Its outcome is moments away: one answer with it, and the sweeper does not ring hot meanwhile:
    the second ring of the same row comes no sooner than five seconds later."""
    action = await world.executing()
    await world.click(action, "cancel")
    assert (await world.decide(action)).do == "execute"
    assert await world.unanswered(action) == 1
    assert await world.messages(action, "late:%") == []
    await world.execute(action)
    assert (await world.decide(action)).status == "executed"
    assert await world.unanswered(action) == 0
    assert await world.messages(action, "late:%") == ["late:executed:cancel"]


async def test_a_cancel_while_stuck_is_answered_at_once_and_once(world: World) -> None:
    """The person was told that it is being verified: his Cancel hears the same, once."""
    action = await world.executing()
    await world.pool.execute(
        "UPDATE actions SET verifying_told_at = clock_timestamp() WHERE id = $1", action
    )
    for _ in range(2):
        await world.click(action, "cancel")
        await world.decide(action)
    assert await world.unanswered(action) == 0
    assert await world.messages(action, "late:%") == ["late:executing:cancel"]


# -- through the same door


async def test_a_newer_proposal_does_not_pass_over_a_stored_confirm(world: World) -> None:
    """The click was stored, its workflow has not run: *propose* is refused as stale, the action
    executes, and nothing is superseded."""
    first = await world.pending()
    turn = await world.turn()
    ref = await world.think(turn, "create_pix_charge", {**CHARGE, "amount_cents": 200})
    await world.click(first)
    done = await world.propose(ref)
    assert (done.outcome, done.action) == ("stale", None)
    row = await world.row(first)
    assert row["status"] == "executing"
    assert row["ring_at"] is not None, "executing without a ring would be lost with its signal"


async def test_a_newer_proposal_supersedes_beside_a_wrong_persons_click(world: World) -> None:
    """A stranger's click on the old prompt is no decision: the new proposal takes its place, and
    the
    old one's buttons are answered as replaced."""
    first = await world.pending()
    turn = await world.turn()
    ref = await world.think(turn, "create_pix_charge", {**CHARGE, "amount_cents": 200})
    await world.click(first, "confirm", CARLOS)
    done = await world.propose(ref)
    assert done.action is not None
    assert (await world.row(first))["status"] == "superseded"
    await world.click(first)
    assert (await world.decide(first)).status == "superseded"
    assert await world.messages(first, "late:%") == ["late:superseded:confirm"]
    assert (await world.row(done.action.action_id))["status"] == "pending"


async def test_supersede_and_click_at_the_same_moment(world: World) -> None:
    """Whoever takes the lock first, exactly one of the two holds: executing and stale, or
    superseded
    and a late click."""
    first = await world.pending()
    turn = await world.turn()
    ref = await world.think(turn, "create_pix_charge", {**CHARGE, "amount_cents": 200})
    done, _ = await asyncio.gather(world.propose(ref), world.click(first))
    await world.decide(first)
    status = (await world.row(first))["status"]
    assert status == ("executing" if done.action is None else "superseded")


async def test_a_prompt_that_failed_closes_the_action_without_a_word(world: World) -> None:
    """Nobody may confirm what he never saw; and nobody is told of a question that he never saw."""
    action = await world.pending()
    await world.claim(f"action:{action}:prompt")
    rings = await world.status(
        DeliveryStatus.FAILED, wamid="wamid.p", key=f"action:{action}:prompt", error_code=131026
    )
    assert [ring.bell for ring in rings] == [Bell.WAKE]
    assert (await world.decide(action)).status == "failed"
    assert (await world.row(action))["reason"] == "prompt_failed"
    assert await world.messages(action) == ["prompt"]


async def test_a_prompt_that_failed_does_not_pass_over_a_stored_decision(world: World) -> None:
    """A click proves that the prompt was seen, whatever its status says."""
    action = await world.pending()
    await world.status(
        DeliveryStatus.FAILED, wamid="wamid.p", key=f"action:{action}:prompt", error_code=131026
    )
    await world.click(action)
    assert (await world.decide(action)).status == "executing"


async def test_a_strangers_click_does_not_hide_that_the_prompt_failed(world: World) -> None:
    """One pass sees both: the stranger is refused and the action is closed, not left to expire."""
    action = await world.pending()
    await world.status(
        DeliveryStatus.FAILED, wamid="wamid.p", key=f"action:{action}:prompt", error_code=131026
    )
    await world.click(action, "confirm", CARLOS)
    assert (await world.decide(action)).status == "failed"
    assert await world.refusals(action) == ["wrong_person"]


# -- what is checked at the click


async def test_a_role_that_is_gone_stops_the_action(world: World) -> None:
    """Removed between prompt and click: nothing is done, said once."""
    action = await world.pending()
    await world.pool.execute("UPDATE members SET active = false WHERE user_id = $1", MARIA.user_id)
    await world.click(action)
    assert (await world.decide(action)).status == "failed"
    assert (await world.row(action))["reason"] == "role_gone"
    assert await world.messages(action, "feedback%") == ["feedback"]


@pytest.mark.parametrize(
    "change",
    [
        "payload = jsonb_set(payload, '{amount_cents}', '15')",
        "payload = jsonb_set(payload, '{amount_cents}', '150.5')",
        "summary = 'Outro resumo'",
        "request = jsonb_set(request, '{body}', '\"{}\"')",
        "user_id = 'BR.1000000000000001', wa_id = '5500000000000'",
        "expires_at = expires_at + interval '1 hour'",
        "tool = 'transfer_balance'",
        "phone_number_id = '1'",
    ],
)
async def test_a_tampered_action_is_not_executed(world: World, change: str) -> None:
    """The digest covers what was shown and what will be sent: a row changed behind the trigger's
    back is closed, not executed; the trigger itself refuses the change."""
    action = await world.pending()
    with pytest.raises(asyncpg.RaiseError):
        await world.pool.execute(f"UPDATE actions SET {change} WHERE id = $1", action)
    async with world.pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")
        await connection.execute(f"UPDATE actions SET {change} WHERE id = $1", action)
    number = (await world.row(action))["phone_number_id"]
    await world.click(action)
    step = await world.decide(action)
    if number == "1":  # then the click is on another number: the wrong person
        assert step.status == "pending"
    else:
        assert (step.status, (await world.row(action))["reason"]) == ("failed", "digest_mismatch")


async def test_a_change_of_identity_stops_the_action(world: World) -> None:
    """Stored between prompt and click: whoever holds the phone now may be someone else."""
    action = await world.pending()
    rings = await world.identity_change(MARIA)
    assert [(ring.bell, ring.action_id) for ring in rings] == [(Bell.WAKE, action)]
    await world.click(action)
    assert (await world.decide(action)).status == "cancelled"
    assert (await world.row(action))["reason"] == "identity_changed"


async def test_a_change_of_identity_before_the_proposal_stops_it_too(world: World) -> None:
    """The message was of the old identity, the prompt goes to the new one: a change between the two
    counts as much as one after the prompt."""
    turn = await world.turn()
    ref = await world.think(turn, "create_pix_charge", CHARGE)
    await world.identity_change(MARIA)
    done = await world.propose(ref)
    assert done.action is not None
    action = done.action.action_id
    await world.click(action)
    assert (await world.decide(action)).status == "cancelled"


async def test_a_change_of_identity_long_ago_is_no_hindrance(world: World) -> None:
    """Only a change since the person asked counts: he has asked as who he is now."""
    await world.close(await world.turn(), "reply")
    await world.identity_change(MARIA)
    action = await world.pending()
    await world.click(action)
    assert (await world.decide(action)).status == "executing"


async def test_equal_effects_of_two_conversations_at_the_same_moment(world: World) -> None:
    """The same booking confirmed in two conversations at once: one executes, the other is closed as
    equal. The unique index decides the race, and neither *decide* raises."""
    for n in range(5):
        note = {"text": f"same {n}"}
        mine = await world.pending("add_to_wallet", note, MARIA)
        hers = await world.pending("add_to_wallet", note, RITA)
        await asyncio.gather(world.click(mine), world.click(hers, person=RITA))
        steps = await asyncio.gather(world.decide(mine), world.decide(hers))
        assert sorted(step.status for step in steps) == ["executing", "failed"]
        reasons = {(await world.row(one))["reason"] for one in (mine, hers)}
        assert reasons == {None, "equal_effect_live"}


async def test_an_equal_effect_that_waited_for_the_index_is_closed_as_equal(world: World) -> None:
    """The loser had read "nothing equal lives" before the winner committed: the index stops it, and
    its second look closes it."""
    mine = await world.pending("add_to_wallet", {"text": "same"}, MARIA)
    hers = await world.pending("add_to_wallet", {"text": "same"}, RITA)
    await world.click(hers, person=RITA)
    async with world.pool.acquire() as held:
        async with held.transaction():
            await held.execute(
                "UPDATE actions SET status = 'executing', executing_since = clock_timestamp()"
                " WHERE id = $1",
                mine,
            )
            losing = asyncio.create_task(world.decide(hers))
            await waits_for_a_lock(world.pool)
        assert (await losing).status == "failed"
    assert (await world.row(hers))["reason"] == "equal_effect_live"
    assert await world.messages(hers, "feedback%") == ["feedback"]


async def test_an_equal_effect_is_not_proposed_while_one_executes(world: World) -> None:
    """The same charge asked for again while the first is being verified: answered as in progress,
    no second action. Another charge may be proposed beside it."""
    action = await world.executing()
    turn = await world.turn()
    done = await world.propose(await world.think(turn, "create_pix_charge", CHARGE))
    assert (done.outcome, done.action) == ("answered", None)
    other = {**CHARGE, "amount_cents": 777}
    done = await world.propose(await world.think(turn, "create_pix_charge", other, step=1))
    assert done.action is not None
    assert (await world.row(action))["status"] == "executing"
    assert (await world.row(done.action.action_id))["status"] == "pending"


async def test_an_action_that_does_not_exist_is_not_decided_for_ever(world: World) -> None:
    """A ring for nothing ends its workflow instead of being tried every five seconds."""
    with pytest.raises(ApplicationError) as raised:
        await world.decide("0" * 32)
    assert raised.value.non_retryable


async def test_a_repeated_proposal_finds_its_own_row(world: World) -> None:
    """*propose* is retried after a kill: one action, one prompt, one history, the first
    deadline."""
    turn = await world.turn()
    ref = await world.think(turn, "create_pix_charge", CHARGE)
    first = await world.propose(ref)
    await world.move(seconds=30)
    again = await asyncio.gather(*(world.propose(ref) for _ in range(5)))
    assert all(one == first for one in again)
    assert await world.pool.fetchval("SELECT count(*) FROM actions") == 1
    assert await world.pool.fetchval("SELECT count(*) FROM outbox") == 1


async def test_a_proposal_on_facts_that_moved_is_refused(world: World) -> None:
    """The model thought, then the open action was cancelled: it must think again."""
    first = await world.pending()
    turn = await world.turn()
    ref = await world.think(turn, "create_pix_charge", {**CHARGE, "amount_cents": 200})
    await world.click(first, "cancel")
    await world.decide(first)
    assert (await world.propose(ref)).outcome == "stale"
    assert await world.pool.fetchval("SELECT count(*) FROM actions") == 1
