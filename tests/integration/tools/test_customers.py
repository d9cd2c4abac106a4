"""Who is meant, and who may see whom."""

import pytest

from domain.errors import ToolInputError
from domain.people import Role
from store.connection import Connection
from tests.integration.tools.kit import (
    ANA,
    CARLOS,
    MARIA,
    STRANGER,
    customer_id,
    look_up,
    prepare,
    revalidate,
    run,
    who,
)
from tools.contract import NoLongerPossibleError


async def test_an_ambiguous_name_is_asked_about(db: Connection) -> None:
    """Two are called João: the model gets both, masked, and chooses neither."""
    with pytest.raises(ToolInputError) as caught:
        await prepare(db, "create_pix_charge", MARIA, customer="João", amount="150.00")
    text = str(caught.value)
    assert "João Silva (CPF ***.123.456-**)" in text
    assert "João Souza (CPF ***.987.654-**, bloqueado)" in text
    assert "52912345634" not in text


@pytest.mark.parametrize("asked", ["joao silva", "JOÃO  SILVA", "silva", "529.123.456-34", "1001"])
async def test_the_ways_to_name_one_customer(db: Connection, asked: str) -> None:
    """Without accents, by surname, by CPF, by id."""
    prepared = await prepare(db, "create_pix_charge", MARIA, customer=asked, amount_cents=15000)
    assert prepared.payload["customer_id"] == 1001


@pytest.mark.parametrize("asked", ["Pedro", "%", "_", "\\", "João Silva Santos", "999999"])
async def test_nobody_is_found_for_a_name_that_is_none(db: Connection, asked: str) -> None:
    """Unknown names, and the signs that a pattern would take for anything."""
    with pytest.raises(ToolInputError, match=r"Não encontrei|formatting"):
        await look_up(db, "find_customer", MARIA, name=asked)


async def test_public_people_find_only_themselves(db: Connection) -> None:
    """Carlos is found; João, who exists, is as unknown as anybody."""
    own = await look_up(db, "find_customer", CARLOS, name="Carlos")
    assert [one["name"] for one in own["customers"]] == ["Carlos Lima"]
    assert own["customers"][0]["document"] == "***.444.777-**"
    errors = []
    for asked in ("João Silva", "1001", "52912345634", "Nobody"):
        with pytest.raises(ToolInputError) as caught:
            await look_up(db, "find_customer", CARLOS, name=asked)
        errors.append(str(caught.value).replace(repr(asked), "X"))
    assert len(set(errors)) == 1


async def test_someone_without_a_record_has_nothing(db: Connection) -> None:
    """No link, no object; not even for the one who knows a phone number."""
    with pytest.raises(ToolInputError, match="ligado a esta pessoa"):
        await look_up(db, "list_bookings", STRANGER)
    taken_over = who("BR.77", Role.PUBLIC, wa_id="5511988880002")
    with pytest.raises(ToolInputError, match="ligado a esta pessoa"):
        await look_up(db, "list_bookings", taken_over)


async def test_a_link_by_phone_alone_is_found_second(db: Connection) -> None:
    """A link that never knew a user id is found by the phone."""
    joao = await customer_id(db, "João Silva")
    await db.execute(
        "INSERT INTO customer_links (account_id, customer_id, wa_id) VALUES ('demo', $1, $2)",
        joao,
        "5511900000009",
    )
    found = await look_up(db, "find_customer", STRANGER, name="João")
    assert found["customers"][0]["customer_id"] == joao


async def test_an_email_is_changed(db: Connection) -> None:
    """From the question to the row; the summary prints the old and the new address."""
    prepared = await prepare(db, "update_email", CARLOS, email="carlos_lima@exemplo.com.br")
    assert prepared.summary == (
        "Atualizar e-mail\nCliente: Carlos Lima (CPF ***.444.777-**)\n"
        "E-mail atual: carlos@exemplo.com.br\nNovo e-mail: carlos_lima@exemplo.com.br"
    )
    assert await revalidate(db, "update_email", CARLOS, prepared.payload) is None
    await run(db, "update_email", prepared.payload, CARLOS)
    stored = await db.fetchval("SELECT email FROM customers WHERE name = 'Carlos Lima'")
    assert stored == "carlos_lima@exemplo.com.br"
    with pytest.raises(ToolInputError, match="já é o e-mail"):
        await prepare(db, "update_email", CARLOS, email="carlos_lima@exemplo.com.br")


async def test_an_email_that_changed_meanwhile_stops_it(db: Connection) -> None:
    """The printed address is no more: refused before, and by the statement itself."""
    prepared = await prepare(db, "update_email", CARLOS, email="novo@exemplo.com")
    await db.execute("UPDATE customers SET email = 'x@y.com' WHERE name = 'Carlos Lima'")
    reason = await revalidate(db, "update_email", CARLOS, prepared.payload)
    assert reason == "o e-mail do cliente mudou depois do pedido"
    with pytest.raises(NoLongerPossibleError, match="e-mail do cliente mudou"):
        await run(db, "update_email", prepared.payload, CARLOS)
    assert await db.fetchval("SELECT email FROM customers WHERE name='Carlos Lima'") == "x@y.com"


@pytest.mark.parametrize(
    "email",
    [
        "x",
        "a@b",
        "a@b.c",
        "a b@c.com",
        "a@b.com\nValor: R$ 1,00",
        "*a*@b.com",
        "a@b..com",
        "é@b.com",
    ],
)
async def test_what_is_no_address_is_refused(db: Connection, email: str) -> None:
    """Never cut, never guessed."""
    with pytest.raises(ToolInputError):
        await prepare(db, "update_email", ANA, email=email)


async def test_a_customer_that_is_no_longer_as_printed_stops_it(db: Connection) -> None:
    """Renamed, unlinked or another document since the question."""
    prepared = await prepare(db, "update_email", CARLOS, email="novo@exemplo.com")
    await db.execute("UPDATE customers SET name = 'Carla Lima' WHERE name = 'Carlos Lima'")
    reason = await revalidate(db, "update_email", CARLOS, prepared.payload)
    assert reason == "os dados do cliente mudaram depois do pedido"
    await db.execute("UPDATE customers SET name = 'Carlos Lima' WHERE name = 'Carla Lima'")
    await db.execute("DELETE FROM customer_links WHERE user_id = 'BR.1000000000000002'")
    reason = await revalidate(db, "update_email", CARLOS, prepared.payload)
    assert reason == "o cadastro do cliente não foi encontrado"
