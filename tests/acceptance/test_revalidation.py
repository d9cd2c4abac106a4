"""The world is looked at again just before the effect: what is no longer true is not executed."""

import pytest

from tests.harness.scenes import heard, propose
from tests.harness.stack import Stack

BOOKING = (
    '/tool create_booking {"customer":"João Silva","professional":"Bruno Reis",'
    '"starts_at":"2099-03-11T14:00:00-03:00"}'
)


async def _refused(stack: Stack, action_id: str) -> None:
    """The click is followed, the action fails, the provider hears nothing, the person one
    reason."""
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action_id, "failed")
    await stack.quiet()
    action = await stack.action(action_id)
    assert action["reason"] == "no_longer_possible"
    assert await stack.charges() == 0
    assert [line for line in await stack.payments.journal() if line["method"] != "GET"] == []
    (text,) = await heard(stack)
    assert action["detail"].rstrip(".") in text


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE customers SET blocked = true WHERE name = 'João Silva'",
        "UPDATE customers SET name = 'João da Silva' WHERE name = 'João Silva'",
    ],
    ids=["customer blocked", "printed name changed"],
)
async def test_a_charge_whose_customer_changed_is_not_made(stack: Stack, change: str) -> None:
    """Blocked, or printed under a name that is no longer his → failed, no call to the provider."""
    action = await propose(stack)
    await stack.pool.execute(change)
    await _refused(stack, action["id"])


async def test_a_transfer_without_balance_is_not_made(stack: Stack) -> None:
    """The balance is gone between prompt and click → failed, no call to the provider."""
    recipient = await stack.pool.fetchval("SELECT name FROM recipients")
    action = await propose(
        stack, f'/tool transfer_balance {{"recipient":"{recipient}","amount_cents":50000}}'
    )
    await stack.pool.execute("UPDATE wallets SET available_cents = 49999")
    await _refused(stack, action["id"])


async def test_a_taken_slot_is_not_booked(stack: Stack) -> None:
    """The slot was taken between prompt and click → failed, and still one booking."""
    action = await propose(stack, BOOKING)
    await stack.pool.execute(
        """
        INSERT INTO bookings (account_id, professional_id, customer_id, starts_at, ends_at, span)
        SELECT 'demo', p.id, c.id, '2099-03-11T14:10:00-03:00', '2099-03-11T15:00:00-03:00', '[0,1)'
        FROM professionals p, customers c WHERE p.name = 'Bruno Reis' AND c.name = 'Carlos Lima'
        """
    )
    await _refused(stack, action["id"])
    assert await stack.pool.fetchval("SELECT count(*) FROM bookings") == 1


async def test_frozen_columns_that_were_changed_by_hand_are_not_executed(stack: Stack) -> None:
    """What runs is what was shown: a payload changed in the database fails its digest."""
    action = await propose(stack)
    async with stack.pool.acquire() as connection:
        await connection.execute("SET session_replication_role = replica")
        await connection.execute(
            "UPDATE actions SET payload = jsonb_set(payload, '{amount_cents}', '1500000')"
            " WHERE id = $1",
            action["id"],
        )
        await connection.execute("SET session_replication_role = origin")
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "failed")
    assert (await stack.action(action["id"]))["reason"] == "digest_mismatch"
    assert await stack.charges() == 0
