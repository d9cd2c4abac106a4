"""What a send needs besides itself is read before the fence.

Two seconds are allowed between the fence and the wire. A token that was fetched in them would turn
a slow bank into a send that is given back, again and again until the action is too old.
"""

from tests.integration.store.kit import World


async def _bank(world: World) -> None:
    """The demo's account at a bank with the API Pix."""
    await world.pool.execute(
        "UPDATE accounts SET gateway = 'pix_bcb', gateway_config = gateway_config || $1",
        {
            "recipient_id": "+5541999990000",
            "mode": "sandbox",
            "client_id": "id",
            "pix_key": "loja@simulador.example",
        },
    )


async def test_a_slow_token_costs_nothing_of_the_time_to_the_wire(world: World) -> None:
    """A token that takes 2.5 s is no stalled process: the one send goes and is done."""
    await _bank(world)
    action = await world.executing()
    await world.payments.add_fault("delay_before", seconds=2.5, path_prefix="/oauth/")
    await world.execute(action)
    assert await world.sends(action) == ["created"]
    assert (await world.payments.counters())["effects_by_key"] == {action: 1}


async def test_without_a_token_the_send_is_given_back_and_the_next_goes(world: World) -> None:
    """No token is NOT_SENT, a proof that nothing left; the next attempt reads anew."""
    await _bank(world)
    action = await world.executing()
    await world.payments.add_fault("drop", path_prefix="/oauth/")
    await world.execute(action)
    assert await world.sends(action) == ["not_sent"]
    await world.execute(action)
    assert await world.sends(action) == ["not_sent", "created"]
    assert (await world.payments.counters())["effects_by_key"] == {action: 1}
