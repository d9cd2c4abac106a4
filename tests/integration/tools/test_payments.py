"""Money: what is printed is what is rendered, and the books take whatever was proved."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from domain.errors import ToolInputError
from domain.people import Role
from gateways.stripe import StripeGateway
from store.connection import Connection
from tests.integration.tools.kit import (
    CARLOS,
    MARIA,
    TOOLS,
    effect,
    executing,
    gateway,
    key_of,
    look_up,
    prepare,
    record,
    revalidate,
    set_clock,
)
from tools.contract import Payload, Prepared

KEY = "9b1c2d" + "0" * 26
CODE = "00020126330014br.gov.bcb.pix0111joao@x.com6304ABCD"


def stripe(bank_account: str) -> StripeGateway:
    """A gateway whose requests are forms; it reaches nobody."""
    return StripeGateway(
        base_url="http://127.0.0.1:1",
        api_key="sk_test_x",
        bank_account=bank_account,
        mode="sandbox",
    )


async def charge(db: Connection, customer: str = "João Silva", **data: Any) -> Prepared:
    """A proposed charge of R$ 150,00."""
    arguments = {"amount": "150.00", **data}
    return await prepare(db, "create_pix_charge", MARIA, customer=customer, **arguments)


async def charged(db: Connection, customer: str = "João Silva", ref: str = "ch_1") -> Payload:
    """A charge of R$ 150,00 in the books."""
    prepared = await charge(db, customer)
    return await record(
        db, "create_pix_charge", prepared.payload, {"provider_ref": ref, "qr_code": CODE}
    )


async def test_a_charge_is_rendered_as_printed(db: Connection) -> None:
    """The golden summary, and the same amount, document and deadline in the request."""
    prepared = await charge(db)
    assert prepared.summary == (
        "Gerar cobrança Pix\nCliente: João Silva (CPF ***.123.456-**)\n"
        "Valor: R$ 150,00\nVencimento: hoje"
    )
    assert prepared.render is not None
    body = json.loads(prepared.render(gateway(), KEY).body)
    assert body["code"] == KEY
    assert body["payments"][0]["amount"] == 15000
    assert body["customer"]["document"] == "52912345634"
    assert body["payments"][0]["pix"]["expires_in"] == 15 * 3600  # 09:00 until midnight
    assert prepared.business_key is None


async def test_equal_charges_have_one_payload_at_any_time_of_day(db: Connection) -> None:
    """An equal effect under way is recognised by the payload: no clock may be in it."""
    first = await charge(db)
    await set_clock(db, "2026-12-01T20:00:00Z")
    assert (await charge(db)).payload == first.payload


async def test_a_charge_late_at_night_can_still_be_paid(db: Connection) -> None:
    """Due today, made at 23:58 local: payable for an hour."""
    await set_clock(db, "2026-12-02T02:58:00Z")
    prepared = await charge(db)
    assert prepared.payload["due_date"] == "2026-12-01"
    assert prepared.render is not None
    body = json.loads(prepared.render(gateway(), KEY).body)
    assert body["payments"][0]["pix"]["expires_in"] == 3600


@pytest.mark.parametrize(
    ("data", "why"),
    [({"amount": "150"}, r"150\.00"), ({"amount": "150,00"}, "form"), ({"amount": "0.00"}, "entre"),
     ({"amount": "1000000.01"}, "entre"), ({"due_date": "2026-11-30"}, "já passou"),
     ({"due_date": "amanhã"}, "form"), ({"description": "a\nValor: R$ 1,00"}, "line break"),
     ({"description": "~150~"}, "formatting"), ({"description": "x" * 121}, "121 characters"),
     ({"amount_cents": 15000}, "not both")],
)  # fmt: skip
async def test_what_cannot_be_charged(db: Connection, data: dict[str, Any], why: str) -> None:
    """Amounts, dates and texts are refused with what is wrong, never repaired."""
    with pytest.raises(ToolInputError, match=why):
        await charge(db, **data)


@pytest.mark.parametrize("cents", ["15000", 150.0, True, "150.00"])
def test_cents_are_an_integer_and_nothing_like_one(cents: object) -> None:
    """A text or a float in place of cents could be reais."""
    with pytest.raises(ValidationError, match="not an integer of cents"):
        effect("create_pix_charge").input_model(customer="x", amount_cents=cents)


async def test_who_cannot_be_charged(db: Connection) -> None:
    """A blocked customer, and one without a document."""
    with pytest.raises(ToolInputError, match="bloqueado"):
        await charge(db, "João Souza")
    await db.execute("UPDATE customers SET document = NULL WHERE name = 'Ana Prado'")
    with pytest.raises(ToolInputError, match="não tem CPF/CNPJ"):
        await charge(db, "Ana Prado")


async def test_the_providers_limits_are_a_question_too(db: Connection) -> None:
    """A due date that the provider cannot take shows when rendered, as an input error."""
    prepared = await charge(db, due_date="2027-06-01")
    assert prepared.render is not None
    with pytest.raises(ToolInputError, match="provider cannot take"):
        prepared.render(gateway(), KEY)


async def test_a_charge_that_became_impossible(db: Connection) -> None:
    """Blocked meanwhile, or midnight passed over `hoje`."""
    payload = (await charge(db)).payload
    assert await revalidate(db, "create_pix_charge", MARIA, payload) is None
    await db.execute("UPDATE customers SET blocked = true WHERE name = 'João Silva'")
    assert await revalidate(db, "create_pix_charge", MARIA, payload) == "o cliente foi bloqueado"
    await db.execute("UPDATE customers SET blocked = false WHERE name = 'João Silva'")
    await set_clock(db, "2026-12-02T03:00:01Z")
    reason = await revalidate(db, "create_pix_charge", MARIA, payload)
    assert reason == "a data de vencimento já passou"


async def test_a_proved_charge_is_written_and_told(db: Connection) -> None:
    """The books hold it, and the code is a message of its own."""
    prepared = await charge(db)
    data: Payload = {"provider_ref": "ch_1", "qr_code": CODE, "status": "pending"}
    result = await record(db, "create_pix_charge", prepared.payload, data)
    texts = effect("create_pix_charge").success(prepared.payload, result)
    assert texts[1] == CODE
    assert len(texts) == 2
    seen = await look_up(db, "get_charge", MARIA, charge="João Silva")
    assert (seen["amount_cents"], seen["state"]) == (15000, "open")
    model = effect("create_pix_charge").already_done(prepared.payload, result)
    assert "52912345634" not in str(model)
    assert CODE not in str(model)


@pytest.mark.parametrize(
    "data", [{}, {"provider_ref": "x" * 600, "qr_code": "y" * 5000}, {"qr_code": 1}]
)
async def test_the_books_take_any_proved_answer(db: Connection, data: Payload) -> None:
    """An odd answer of the provider must not lose the record of a charge that exists."""
    prepared = await charge(db)
    await record(db, "create_pix_charge", prepared.payload, data)
    assert await db.fetchval("SELECT amount_cents FROM charges") == 15000


async def test_charges_of_others_are_not_found(db: Connection) -> None:
    """By number, by the provider's id, by name: all as if there were none."""
    await charged(db)
    number = await db.fetchval("SELECT id FROM charges")
    for asked in (str(number), "ch_1", "João Silva"):
        with pytest.raises(ToolInputError, match="Não encontrei"):
            await look_up(db, "get_charge", CARLOS, charge=asked)
    await charged(db, "Carlos Lima", "ch_2")
    assert (await look_up(db, "get_charge", CARLOS))["customer"] == "Carlos Lima"


async def test_a_refund_of_what_is_left(db: Connection) -> None:
    """In part, then the rest; more than the rest never; from one state only once."""
    await charged(db)
    part = await prepare(db, "refund_charge", MARIA, charge="João Silva", amount="50.00")
    assert "Valor do estorno: R$ 50,00" in part.summary
    rest = await prepare(db, "refund_charge", MARIA, charge="João Silva")
    assert rest.payload["amount_cents"] == 15000
    assert key_of(part) == key_of(rest)
    await record(db, "refund_charge", part.payload, {"status": "refunded"})
    assert await revalidate(db, "refund_charge", MARIA, rest.payload) == (
        "a cobrança mudou depois do pedido (pode já ter sido estornada)"
    )
    with pytest.raises(ToolInputError, match="R\\$ 100,00"):
        await prepare(db, "refund_charge", MARIA, charge="ch_1", amount="100.01")
    again = await prepare(db, "refund_charge", MARIA, charge="ch_1", amount="50.00")
    assert key_of(again) != key_of(part)
    assert await revalidate(db, "refund_charge", MARIA, again.payload) is None
    left = await prepare(db, "refund_charge", MARIA, charge="ch_1")
    assert "Já estornado antes: R$ 50,00" in left.summary
    await record(db, "refund_charge", left.payload, {})
    with pytest.raises(ToolInputError, match="por inteiro"):
        await prepare(db, "refund_charge", MARIA, charge="ch_1")
    assert (await look_up(db, "get_charge", MARIA, charge="ch_1"))["state"] == "refunded"


async def test_a_refund_is_rendered_with_what_went_before(db: Connection) -> None:
    """The provider has no key per refund: only the sum before tells ours from an earlier one."""
    await charged(db)
    first = await prepare(db, "refund_charge", MARIA, charge="ch_1", amount="50.00")
    await record(db, "refund_charge", first.payload, {})
    second = await prepare(db, "refund_charge", MARIA, charge="ch_1", amount="50.00")
    assert second.render is not None
    request = second.render(gateway(), KEY)
    assert request.expect == {"refunded_before_cents": 5000}
    assert request.path.endswith("/ch_1")


async def test_several_charges_are_asked_about(db: Connection) -> None:
    """A refund never takes the newest by itself."""
    await charged(db, ref="ch_1")
    await charged(db, ref="ch_2")
    with pytest.raises(ToolInputError, match=r"nº 701.*|mais de uma"):
        await prepare(db, "refund_charge", MARIA, charge="João Silva")


async def test_a_refund_recorded_beyond_the_amount_is_clamped(db: Connection) -> None:
    """The money moved already: a CHECK must not undo the record of it."""
    await charged(db)
    whole = await prepare(db, "refund_charge", MARIA, charge="ch_1")
    await record(db, "refund_charge", whole.payload, {})
    await record(db, "refund_charge", {**whole.payload, "refunded_before_cents": 15000}, {})
    assert await db.fetchval("SELECT refunded_cents FROM charges") == 15000


async def test_a_transfer_within_the_balance(db: Connection) -> None:
    """The wallet covers it; afterwards it is lower."""
    prepared = await prepare(db, "transfer_balance", MARIA, amount="400.00")
    assert prepared.summary == (
        "Transferir saldo\nValor: R$ 400,00\nDestino: Conta Estúdio Ipanema (conta cadastrada)"
    )
    assert prepared.render is not None
    assert "/re_simulated/" in prepared.render(gateway(), KEY).path
    await record(db, "transfer_balance", prepared.payload, {"provider_ref": "tr_1"})
    assert (await look_up(db, "get_balance", MARIA))["available_cents"] == 60000
    with pytest.raises(ToolInputError, match="R\\$ 600,00"):
        await prepare(db, "transfer_balance", MARIA, amount="600.01")


async def test_two_transfers_do_not_spend_one_balance(db: Connection) -> None:
    """Money under way, or with unknown outcome, is not available."""
    payload = (await prepare(db, "transfer_balance", MARIA, amount="800.00")).payload
    other = (await prepare(db, "transfer_balance", MARIA, amount="300.00")).payload
    await executing(db, "transfer_balance", payload)
    assert await revalidate(db, "transfer_balance", MARIA, payload) is None
    assert (await look_up(db, "get_balance", MARIA))["available_cents"] == 20000
    with pytest.raises(ToolInputError, match="R\\$ 200,00"):
        await prepare(db, "transfer_balance", MARIA, amount="300.00")
    await executing(db, "transfer_balance", other)
    short = "o saldo disponível não cobre mais esse valor"
    assert await revalidate(db, "transfer_balance", MARIA, other) == short


async def test_the_printed_account_is_the_one_that_is_paid(db: Connection) -> None:
    """A gateway configured for another account renders nothing; a changed one stops the click."""
    prepared = await prepare(db, "transfer_balance", MARIA, amount="1.00")
    assert prepared.render is not None
    with pytest.raises(ToolInputError, match="another account"):
        prepared.render(gateway("re_other"), KEY)
    await db.execute("UPDATE recipients SET provider_ref = 'ba_1'")
    in_a_form = await prepare(db, "transfer_balance", MARIA, amount="1.00")
    assert in_a_form.render is not None
    assert "destination=ba_1&" in in_a_form.render(stripe("ba_1"), KEY).body
    with pytest.raises(ToolInputError, match="another account"):
        in_a_form.render(stripe("ba_12"), KEY)
    await db.execute("UPDATE recipients SET blocked = true")
    changed = "a conta de destino mudou depois do pedido"
    assert await revalidate(db, "transfer_balance", MARIA, prepared.payload) == changed
    with pytest.raises(ToolInputError, match="conta de destino"):
        await prepare(db, "transfer_balance", MARIA, amount="1.00")


async def test_a_wallet_behind_the_provider_is_no_error(db: Connection) -> None:
    """The transfer happened: the wallet goes to zero and the record stands."""
    prepared = await prepare(db, "transfer_balance", MARIA, amount="400.00")
    await db.execute("UPDATE wallets SET available_cents = 100")
    await record(db, "transfer_balance", prepared.payload, {})
    assert await db.fetchval("SELECT available_cents FROM wallets") == 0


def test_money_is_for_those_who_may() -> None:
    """Public people are offered no tool that moves money; staff none that empties the account."""
    public = {tool.name for tool in TOOLS.offered_to(Role.PUBLIC)}
    assert not public & {"create_pix_charge", "refund_charge", "transfer_balance", "get_balance"}
    staff = {tool.name for tool in TOOLS.offered_to(Role.STAFF)}
    assert "transfer_balance" not in staff
    assert "refund_charge" in staff
