"""The whole way, from a WhatsApp message to the provider, with each gateway beside Pagar.me."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.harness.scenes import propose
from tests.harness.stack import Stack

MARIA = "maria"
TRANSFER = '/tool transfer_balance {"amount_cents":700}'


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """How an account chooses a gateway of the simulated provider."""

    gateway: str
    recipient: str
    extra: dict[str, Any]
    money_paths: str = "/"
    """Where the paths of what has an effect begin; a fault is ordered for those only."""


CHOSEN = [
    Chosen(gateway="stripe", recipient="ba_simulated", extra={"mode": "sandbox"}),
    Chosen(
        gateway="pix_bcb",
        recipient="+5541999990000",
        extra={"mode": "sandbox", "client_id": "id", "pix_key": "loja@simulador.example"},
        money_paths="/v2/",
    ),
]


@pytest.fixture(params=CHOSEN, ids=[one.gateway for one in CHOSEN])
async def chosen(request: pytest.FixtureRequest, stack: Stack) -> Chosen:
    """The demo's account with another gateway, at the same provider and by the same key."""
    one: Chosen = request.param
    await stack.pool.execute(
        "UPDATE accounts SET gateway = $1, gateway_config = gateway_config || $2",
        one.gateway,
        {"recipient_id": one.recipient, **one.extra},
    )
    await stack.pool.execute("UPDATE recipients SET provider_ref = $1", one.recipient)
    return one


async def _confirmed(stack: Stack, text: str | None = None) -> str:
    action = await (propose(stack) if text is None else propose(stack, text))
    await stack.whatsapp.press(MARIA, "confirm")
    await stack.wait_status(action["id"], "executed", seconds=30)
    return str(action["id"])


async def test_a_charge_is_made_paid_and_given_back(stack: Stack, chosen: Chosen) -> None:
    """One charge under the action's id, whose code reaches the person; then one refund of it."""
    charged = await _confirmed(stack)
    await stack.whatsapp.wait_message(MARIA, contains="br.gov.bcb.pix", timeout_seconds=10)
    ref = await stack.pool.fetchval("SELECT provider_ref FROM charges")
    await stack.payments.pay(ref)
    number = await stack.pool.fetchval("SELECT id FROM charges")
    refunded = await _confirmed(stack, f'/tool refund_charge {{"charge":"{number}"}}')
    counters = await stack.payments.counters()
    assert counters["effects_by_key"] == {charged: 1, refunded: 1}
    assert counters["effects_by_operation"] == {"charge": 1, "refund": 1}


async def test_a_payout_is_made_once(stack: Stack, chosen: Chosen) -> None:
    """Also where the provider says at first that it is still working on it."""
    moved = await _confirmed(stack, TRANSFER)
    assert (await stack.payments.counters())["effects_by_key"] == {moved: 1}


@pytest.mark.parametrize("fault", ["act_500", "act_drop", "html_502"])
async def test_an_unknown_outcome_is_looked_up_and_never_sent_again(
    stack: Stack, chosen: Chosen, fault: str
) -> None:
    """The provider acted and its answer was lost: executed by the look-up, after one send."""
    acted = True if fault == "html_502" else None
    await stack.payments.add_fault(fault, acted=acted, path_prefix=chosen.money_paths)
    charged = await _confirmed(stack)
    assert (await stack.payments.counters())["effects_by_key"] == {charged: 1}
    writes = [
        one
        for one in await stack.payments.journal()
        if one["method"] != "GET" and one["path"].startswith(chosen.money_paths)
    ]
    assert [one["key"] for one in writes] == [charged]
