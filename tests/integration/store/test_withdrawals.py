"""Asaas asks before money leaves: attacks on the answer, on a real PostgreSQL.

Only one operation of the right kind, amount and destination passes for an action that was sent;
everything else is refused, nothing is a 500, and a stranger writes nothing.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import pytest

from gateways.asaas_withdrawal import differs, read_withdrawal
from store import audit
from tests.harness.serving import serving
from tests.integration.store.asaas_world import (
    APPROVED,
    PATH,
    TOKEN,
    TOKEN_VARIABLE,
    Asaas,
    endpoint,
    move_to_asaas,
    order_validation,
    payload,
    transfer_of_a_thief,
    validation_calls,
)
from tests.integration.store.kit import World


@pytest.fixture
async def asaas(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asaas]:
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    await move_to_asaas(world)
    transport = httpx.ASGITransport(app=endpoint(world))
    async with httpx.AsyncClient(transport=transport, base_url="http://aval") as http:
        yield Asaas(world=world, http=http)


def refused(said: dict[str, Any], why: str) -> bool:
    return said["status"] == "REFUSED" and why in said["refuseReason"]


# ---------------------------------------------------------------- what passes


async def test_the_sent_transfer_passes_and_leaves_evidence(asaas: Asaas) -> None:
    """Key, kind, amount and destination are those of the frozen request: bound and in the chain."""
    action = await asaas.transfer()
    assert await asaas.word(payload(action)) == APPROVED
    [row] = await asaas.rows()
    assert (row["operation_id"], row["action_id"], row["approved"]) == ("op-1", action, True)
    assert (await asaas.world.events(action))[-1] == "withdrawal_approved"
    async with asaas.world.pool.acquire() as connection:
        assert await audit.broken_links(connection, action) == []


async def test_the_answer_may_be_asked_for_after_the_outcome_is_written(asaas: Asaas) -> None:
    """Five seconds later the send may have an outcome, and its operation is the one that passes."""
    action = await asaas.transfer()
    await asaas.world.pool.execute(
        "UPDATE sends SET outcome = 'in_progress', provider_ref = 'op-1' WHERE action_id = $1",
        action,
    )
    assert refused(await asaas.word(payload(action, "op-2")), "made another operation")
    assert await asaas.word(payload(action)) == APPROVED


async def test_an_executed_action_still_answers(asaas: Asaas) -> None:
    """The effect was proved before Asaas asked."""
    action = await asaas.transfer()
    await asaas.world.pool.execute("UPDATE actions SET status = 'executed' WHERE id = $1", action)
    assert await asaas.word(payload(action)) == APPROVED


async def test_a_refund_passes_by_its_description(asaas: Asaas) -> None:
    """A refund has no field for a key; its charge is the destination."""
    action = await asaas.transfer()
    charge = "pay_1"
    gateway = await asaas.gateway()
    request = gateway.render_refund(
        key=action, charge_ref=charge, amount_cents=700, refunded_before_cents=0
    )
    refund = {"id": "op-r", "value": 7, "description": action, "payment": charge}
    read = read_withdrawal(json.dumps({"type": "PIX_REFUND", "pixRefund": refund}).encode())
    assert read is not None
    assert differs(read, request) is None
    other = {**refund, "payment": {"id": "pay_2"}}
    read = read_withdrawal(json.dumps({"type": "PIX_REFUND", "pixRefund": other}).encode())
    assert read is not None
    assert differs(read, request) == "the action has another destination"
    assert refused(
        await asaas.word({"type": "PIX_REFUND", "pixRefund": refund}), "the action is a transfer"
    )


# ---------------------------------------------------------------- redelivery


async def test_a_redelivery_is_told_the_same_and_writes_no_second_evidence(asaas: Asaas) -> None:
    """Approved stays approved, also after the action ended; refused stays refused."""
    action = await asaas.transfer()
    assert await asaas.word(payload(action)) == APPROVED
    assert refused(await asaas.word(payload(action, "op-2")), "another operation passed")
    events = await asaas.world.events(action)
    await asaas.world.pool.execute("UPDATE actions SET status = 'failed' WHERE id = $1", action)
    assert await asaas.word(payload(action)) == APPROVED
    assert refused(await asaas.word(payload(action, "op-2")), "another operation passed")
    assert await asaas.world.events(action) == events
    assert [row["asked"] for row in await asaas.rows()] == [2, 2]


async def test_twenty_redeliveries_at_once_are_one_decision(asaas: Asaas) -> None:
    """One row, one link of evidence, twenty equal answers."""
    action = await asaas.transfer()
    said = await asyncio.gather(*(asaas.word(payload(action)) for _ in range(20)))
    assert said == [APPROVED] * 20
    [row] = await asaas.rows()
    assert row["asked"] == 20
    assert (await asaas.world.events(action)).count("withdrawal_approved") == 1


async def test_twenty_operations_at_once_for_one_action_let_one_pass(asaas: Asaas) -> None:
    """A buggy sender, or a thief with our API key: one leaves, nineteen are cancelled."""
    action = await asaas.transfer()
    said = await asyncio.gather(*(asaas.word(payload(action, f"op-{n}")) for n in range(20)))
    assert said.count(APPROVED) == 1
    assert sum(refused(one, "another operation passed") for one in said) == 19
    assert sum(row["approved"] for row in await asaas.rows()) == 1


async def test_one_operation_at_once_under_two_keys_is_bound_once(asaas: Asaas) -> None:
    """The id is bound to what it said first; under another key it is another operation."""
    action = await asaas.transfer()
    said = await asyncio.gather(
        *(asaas.word(payload(key)) for key in (action, "f" * 32) for _ in range(5))
    )
    assert len(await asaas.rows()) == 1
    assert len({json.dumps(one) for one in said}) == 2


async def test_an_approved_id_does_not_cover_another_content(asaas: Asaas) -> None:
    """The same id with another amount or destination is refused, and stands in the chain."""
    action = await asaas.transfer()
    assert await asaas.word(payload(action)) == APPROVED
    for changes in ({"value": 7000.0}, {"bankAccount": {"pixAddressKey": "x@y.example"}}):
        assert refused(await asaas.word(payload(action, **changes)), "something else before")
    assert (await asaas.world.events(action))[-1] == "withdrawal_refused"
    assert await asaas.word(payload(action)) == APPROVED


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"value": 7.01}, "another amount"),
        ({"value": 700}, "another amount"),
        ({"value": "7.00"}, "not an operation"),
        ({"value": 7.001}, "not an operation"),
        ({"value": True}, "not an operation"),
        ({"value": -7.0}, "not an operation"),
        ({"value": None}, "not an operation"),
        ({"bankAccount": {"pixAddressKey": "thief@simulador.example"}}, "another destination"),
        ({"bankAccount": {"agency": "1", "account": "2"}}, "not an operation"),
        ({"bankAccount": None}, "not an operation"),
        ({"operationType": "TED"}, "not an operation"),
        ({"externalReference": None}, "no action asked for it"),
        ({"externalReference": "f" * 32}, "no action asked for it"),
        ({"externalReference": 7}, "no action asked for it"),
        ({"id": ""}, "not an operation"),
        ({"id": "a\u0000b"}, "not an operation"),
        ({"id": "x" * 101}, "not an operation"),
    ],
)
async def test_anything_else_is_refused(asaas: Asaas, changes: dict[str, Any], why: str) -> None:
    """One field off, and the money stays; the action's own operation passes afterwards."""
    action = await asaas.transfer()
    asked = payload(action, "op-other", **changes)
    assert refused(await asaas.word(asked), why)
    assert await asaas.word(payload(action)) == APPROVED


async def test_an_upper_case_key_is_no_key(asaas: Asaas) -> None:
    """Ours is lower-case hex: what only looks alike matches nothing."""
    action = await asaas.transfer()
    assert refused(await asaas.word(payload(action.upper())), "no action asked for it")


@pytest.mark.parametrize("status", ["pending", "cancelled", "expired", "superseded", "failed"])
async def test_only_executing_and_executed_actions_let_anything_pass(
    asaas: Asaas, status: str
) -> None:
    """What nobody confirmed, or what ended without an effect, lets nothing out."""
    if status == "failed":
        action = await asaas.transfer()
    else:
        action = await asaas.world.pending(tool="transfer_balance", arguments={"amount_cents": 700})
    if status != "pending":
        await asaas.world.pool.execute(
            "UPDATE actions SET status = $2 WHERE id = $1", action, status
        )
    assert refused(await asaas.word(payload(action)), f"the action is {status}")


async def test_an_action_that_was_never_sent_lets_nothing_pass(asaas: Asaas) -> None:
    """Confirmed is not sent: an operation under its key is somebody else's. So is one whose only
    send never left."""
    action = await asaas.world.executing(tool="transfer_balance", arguments={"amount_cents": 700})
    assert refused(await asaas.word(payload(action)), "nothing was sent")
    attempt = await asaas.world.open_attempt(action)
    assert attempt is not None
    await asaas.world.fence(action, attempt)
    await asaas.world.pool.execute("UPDATE sends SET outcome = 'not_sent'")
    assert refused(await asaas.word(payload(action, "op-2")), "nothing was sent")


async def test_a_charge_or_another_kind_lets_no_transfer_pass(asaas: Asaas) -> None:
    """The key of a charge, R$ 150,00, is not one of a transfer of R$ 150,00."""
    action = await asaas.world.executing()
    attempt = await asaas.world.open_attempt(action)
    assert attempt is not None
    await asaas.world.fence(action, attempt)
    assert refused(await asaas.word(payload(action, value=150.0)), "the action is a charge")


async def test_a_held_action_lets_nothing_pass(asaas: Asaas) -> None:
    """After a restore the rows may have forgotten what passed already."""
    action = await asaas.transfer()
    await asaas.world.pool.execute("UPDATE actions SET frozen_at = now() WHERE id = $1", action)
    assert refused(await asaas.word(payload(action)), "held since a restore")


async def test_another_accounts_action_is_none(asaas: Asaas) -> None:
    """A token opens its own account's actions only, and writes into no other's evidence."""
    action = await asaas.transfer()
    before = await asaas.world.events(action)
    await asaas.world.pool.execute(
        "INSERT INTO accounts (id, name, time_zone, gateway, gateway_config)"
        " SELECT 'other', name, time_zone, gateway, gateway_config FROM accounts"
    )
    said = await asaas.word(payload(action), path=PATH.replace("demo", "other"))
    assert refused(said, "no action asked for it")
    assert await asaas.world.events(action) == before
    assert await asaas.word(payload(action)) == APPROVED


# ---------------------------------------------------------------- strangers and junk


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x", TOKEN[:-1], "ç" * 10])
async def test_without_the_token_nothing_is_said_or_written(
    asaas: Asaas, token: str | None
) -> None:
    """401, no reason, no row: not even the operation's id is taken."""
    action = await asaas.transfer()
    headers = [] if token is None else [(b"asaas-access-token", token.encode("latin-1"))]
    answer = await asaas.http.post(PATH, json=payload(action), headers=headers)
    assert (answer.status_code, answer.json()) == (401, {"status": "REFUSED"})
    assert await asaas.rows() == []
    assert await asaas.word(payload(action)) == APPROVED


async def test_two_token_headers_are_none(asaas: Asaas) -> None:
    """Which of the two a proxy meant nobody knows."""
    action = await asaas.transfer()
    headers = [("asaas-access-token", TOKEN), ("asaas-access-token", "wrong")]
    assert (await asaas.http.post(PATH, json=payload(action), headers=headers)).status_code == 401


@pytest.mark.parametrize(
    "config",
    [
        "gateway_config - 'withdrawal_token'",
        'gateway_config || \'{"withdrawal_token": "token-of-a-test"}\'',
        'gateway_config || \'{"withdrawal_token": {"secret": "AVAL_NOT_SET"}}\'',
        'gateway_config || \'{"withdrawal_token": {"secret": "PATH"}}\'',
    ],
)
async def test_without_a_configured_token_nobody_is_let_in(asaas: Asaas, config: str) -> None:
    """No token, one in the clear, one that is not set, one of another variable: all refused."""
    action = await asaas.transfer()
    await asaas.world.pool.execute(f"UPDATE accounts SET gateway_config = {config}")
    for token in (None, "", TOKEN, "None"):
        assert (await asaas.ask(payload(action), token=token)).status_code == 401
    assert await asaas.rows() == []


@pytest.mark.parametrize("account", ["nobody", "DEMO", "demo%00", "a" * 300, "..%2Fdemo"])
async def test_an_account_that_is_not_there_lets_nobody_in(asaas: Asaas, account: str) -> None:
    """The same answer as for a wrong token, or none of these paths at all; never a 500."""
    answer = await asaas.ask(payload("f" * 32), path=PATH.replace("demo", account))
    assert answer.status_code in (200, 401, 404)
    assert answer.json().get("status") != "APPROVED"


async def test_an_account_of_another_gateway_lets_nobody_in(asaas: Asaas) -> None:
    """A left-over token of an account that moved away opens nothing."""
    action = await asaas.transfer()
    await asaas.world.pool.execute("UPDATE accounts SET gateway = 'pagarme'")
    assert (await asaas.ask(payload(action))).status_code == 401


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b"{" * 5000,
        b'{"type": "TRANSFER"}',
        b'{"type": "TRANSFER", "transfer": []}',
        b'{"type": "BILL", "bill": {"id": "1", "value": 7}}',
        b'{"type": "PIX_REFUND", "pixRefund": {"payment": 1}}',
        b'{"type": "TRANSFER", "transfer": {"id": "1", "value": 1e999}}',
        b'{"type": "TRANSFER", "transfer": {"id": "1", "value": NaN}}',
    ],
)
async def test_junk_is_refused_and_binds_nothing(asaas: Asaas, raw: bytes) -> None:
    """Bodies that are no transfer, by somebody who has the token."""
    assert refused(await asaas.word(None, raw=raw), "not an operation")
    assert await asaas.rows() == []


async def test_a_huge_body_is_refused_before_it_is_read_to_its_end(asaas: Asaas) -> None:
    """64 KiB and no more is held, whatever the length header says."""
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 16 * 1024
            yield b" " * 16 * 1024

    answer = await asaas.http.post(PATH, content=endless(), headers={"asaas-access-token": TOKEN})
    assert refused(answer.json(), "too large")
    assert sent < 256 * 1024


async def test_a_database_that_is_away_is_a_refusal_not_a_500(asaas: Asaas) -> None:
    """Fail closed: nothing passes while nobody can look."""
    action = await asaas.transfer()
    await asaas.world.pool.execute("ALTER TABLE withdrawals RENAME TO away")
    assert refused(await asaas.word(payload(action)), "not answered")
    await asaas.world.pool.execute("ALTER TABLE away RENAME TO withdrawals")
    assert await asaas.word(payload(action)) == APPROVED


async def test_rows_hold_the_rule_without_the_code(asaas: Asaas) -> None:
    """A second approved operation and a turned decision are refused by the tables themselves."""
    action = await asaas.transfer()
    await asaas.word(payload(action))
    pool = asaas.world.pool
    with pytest.raises(asyncpg.UniqueViolationError):
        await pool.execute(
            "INSERT INTO withdrawals SELECT account_id, 'op-2', action_id, fingerprint, true, NULL,"
            " decided_at, 1, asked_at FROM withdrawals"
        )
    with pytest.raises(asyncpg.RaiseError):
        await pool.execute("UPDATE withdrawals SET approved = false, reason = 'x'")


# ---------------------------------------------------------------- the whole way


async def test_the_whole_way_with_asaas_asking_twenty_times(asaas: Asaas) -> None:
    """Confirmed, sent once, asked about 20 times at once, one effect, settled as executed; a second
    transfer under the same key, made with our API key by somebody else, is cancelled."""
    world = asaas.world
    async with serving(endpoint(world)) as url:
        await order_validation(world, ask=url + PATH, token=TOKEN, copies=20, after_seconds=0.2)
        try:
            action = await world.executing(tool="transfer_balance", arguments={"amount_cents": 700})
            await world.execute(action)
            assert await world.sends(action) == ["in_progress"]
            calls = await validation_calls(world, count=20)
            assert {call["said"] for call in calls} == {"APPROVED"}
            made = await transfer_of_a_thief(world, await asaas.request(action))
            calls = await validation_calls(world, count=40)
            assert {call["said"] for call in calls if call["transfer"] == made} == {"REFUSED"}
        finally:
            await order_validation(world, ask=None)
    await world.settle(action)
    assert (await world.decide(action)).status == "executed"
    assert (await world.payments.counters())["effects_by_key"] == {action: 1}


# ---------------------------------------------------------------- the core with this gateway


async def test_twenty_attempts_at_once_are_one_charge(asaas: Asaas) -> None:
    """The provider recognises no repeat: the fence alone keeps 20 workers to one POST."""
    action = await asaas.world.executing()
    await asyncio.gather(*(asaas.world.execute(action) for _ in range(20)))
    counters = await asaas.world.payments.counters()
    assert counters["effects_by_key"] == {action: 1}


@pytest.mark.parametrize("fault", ["act_drop", "drop", "act_500"])
async def test_after_an_unknown_no_machine_sends_again(asaas: Asaas, fault: str) -> None:
    """Found is settled; not found stays open, whatever the number of looks and attempts."""
    world = asaas.world
    action = await world.executing()
    await world.payments.add_fault(fault)
    await world.execute(action)
    for _ in range(3):
        await world.settle(action)
        await world.execute(action)
    expected = "executing" if fault == "drop" else "executed"
    assert (await world.row(action))["status"] == expected
    posts = [one for one in await world.payments.journal() if one["key"] == action]
    assert len(posts) == 1


async def test_a_customer_that_asaas_does_not_know_ends_as_failed_without_a_send(
    asaas: Asaas,
) -> None:
    """Nothing was done, and the reason says what to do."""
    world = asaas.world
    action = await world.executing(arguments={"customer": "Ana Prado", "amount_cents": 15000})
    await world.execute(action)
    row = await world.row(action)
    assert (row["status"], row["reason"]) == ("failed", "rejected")
    assert "register the customer there first" in row["detail"]
    assert await world.charges() == 0
