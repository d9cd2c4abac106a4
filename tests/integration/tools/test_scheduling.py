"""The agenda: one booking per who, with whom and when; others' are not found."""

import asyncio

import asyncpg
import pytest

from domain.errors import ToolInputError
from domain.people import Who
from store.connection import Connection, prepare_connection
from tests.integration.tools.kit import (
    ANA,
    CARLOS,
    MARIA,
    key_of,
    look_up,
    prepare,
    revalidate,
    run,
    set_clock,
)
from tools.contract import NoLongerPossibleError, Payload

DAY = "2026-12-02"
TWO_PM = f"{DAY}T14:00"


async def book(db: Connection, person: Who = CARLOS, at: str = TWO_PM) -> Payload:
    """Book with Dra. Ana Torres for this person; the payload with the result."""
    prepared = await prepare(db, "create_booking", person, professional="Torres", starts_at=at)
    return {**prepared.payload, **await run(db, "create_booking", prepared.payload, person)}


async def starts(db: Connection) -> list[str]:
    """The free times of the day with Dra. Ana Torres."""
    found = await look_up(db, "list_free_slots", CARLOS, date=DAY, professional="Dra. Ana Torres")
    return [slot["starts_at"][11:16] for slot in found["free"]]


async def test_free_slots_are_the_hours_without_what_is_taken(db: Connection) -> None:
    """Nine one-hour slots from 09:00; a booked one is gone, a cancelled one is back."""
    assert await starts(db) == [f"{hour:02d}:00" for hour in range(9, 18)]
    booked = await book(db)
    assert "14:00" not in await starts(db)
    prepared = await prepare(db, "cancel_booking", CARLOS, booking_id=booked["booking_id"])
    await run(db, "cancel_booking", prepared.payload, CARLOS)
    assert "14:00" in await starts(db)


async def test_past_slots_are_not_offered(db: Connection) -> None:
    """At 15:30 the next slot is 16:00; a day in the past has none."""
    await set_clock(db, f"{DAY}T18:30:00Z")
    assert await starts(db) == ["16:00", "17:00"]
    found = await look_up(db, "list_free_slots", CARLOS, date="2026-11-30")
    assert found["free"] == []


async def test_a_booking_from_question_to_row(db: Connection) -> None:
    """The summary prints the local time, the row holds the moment and the acting action."""
    prepared = await prepare(
        db, "create_booking", CARLOS, professional="Torres", starts_at="2026-12-02T17:00:00Z"
    )
    assert prepared.summary == (
        "Marcar horário\nCliente: Carlos Lima (CPF ***.444.777-**)\n"
        "Profissional: Dra. Ana Torres\nQuando: amanhã (qua., 02/12) às 14:00\nDuração: 60 min"
    )
    assert await revalidate(db, "create_booking", CARLOS, prepared.payload) is None
    result = await run(db, "create_booking", prepared.payload, CARLOS)
    row = await db.fetchrow("SELECT * FROM bookings")
    assert row is not None
    assert row["starts_at"].isoformat() == "2026-12-02T17:00:00+00:00"
    assert (row["id"], row["action_id"]) == (result["booking_id"], result["action"])
    listed = await look_up(db, "list_bookings", CARLOS)
    assert [one["starts_at"] for one in listed["bookings"]] == ["2026-12-02T14:00-03:00"]


async def test_every_way_of_writing_it_is_one_key(db: Connection) -> None:
    """The article's case: other zone, other form, the professional by id: one booking."""
    ways = [("Torres", "2026-12-02T14:00:00-03:00"), ("dra. ana torres", "2026-12-02 14:00"),
            ("11", "2026-12-02T17:00Z")]  # fmt: skip
    keys = {
        key_of(await prepare(db, "create_booking", CARLOS, professional=p, starts_at=s))
        for p, s in ways
    }
    assert len(keys) == 1
    other = await prepare(db, "create_booking", ANA, professional="11", starts_at=TWO_PM)
    assert key_of(other) not in keys


async def test_an_equal_booking_keeps_its_key(db: Connection) -> None:
    """Asked again, it is proposed with the key under which the core finds what was done."""
    before = await prepare(db, "create_booking", CARLOS, professional="Torres", starts_at=TWO_PM)
    await run(db, "create_booking", before.payload, CARLOS)
    again = await prepare(db, "create_booking", CARLOS, professional="Torres", starts_at=TWO_PM)
    assert key_of(again) == key_of(before)
    assert again.payload == before.payload


async def test_anothers_time_is_taken(db: Connection) -> None:
    """Refused when proposed, when looked at again, and by the constraint itself."""
    mine = await prepare(db, "create_booking", ANA, professional="Torres", starts_at=TWO_PM)
    await book(db)
    with pytest.raises(ToolInputError, match="ocupado"):
        await prepare(db, "create_booking", ANA, professional="Torres", starts_at=TWO_PM)
    reason = await revalidate(db, "create_booking", ANA, mine.payload)
    assert reason == "esse horário acabou de ser ocupado"
    with pytest.raises(NoLongerPossibleError, match="ocupado"):
        await run(db, "create_booking", mine.payload, ANA)
    assert await db.fetchval("SELECT count(*) FROM bookings") == 1


async def test_two_at_once_make_one_booking(db: Connection, postgres_dsn: str) -> None:
    """Both looked, both found it free, both insert: the constraint lets one through."""
    other = await asyncpg.connect(
        postgres_dsn,
        database="tools_test",
        server_settings={"search_path": "clock, public, pg_catalog"},
    )
    await prepare_connection(other)
    ours = await prepare(db, "create_booking", CARLOS, professional="Torres", starts_at=TWO_PM)
    theirs = await prepare(db, "create_booking", ANA, professional="Torres", starts_at=TWO_PM)
    ends = await asyncio.gather(
        run(db, "create_booking", ours.payload, CARLOS),
        run(other, "create_booking", theirs.payload, ANA),
        return_exceptions=True,
    )
    await other.close()
    assert sum(isinstance(end, NoLongerPossibleError) for end in ends) == 1
    assert await db.fetchval("SELECT count(*) FROM bookings") == 1


@pytest.mark.parametrize(
    ("at", "why"),
    [("2026-12-01T08:00", "já passou"), ("2026-12-02T08:00", "não atende"),
     ("2026-12-02T14:30", "Livres nesse dia: 09:00"), ("amanhã às 14h", "ISO 8601"),
     ("2026-12-02T18:00", "não atende")],
)  # fmt: skip
async def test_times_that_cannot_be_booked(db: Connection, at: str, why: str) -> None:
    """Past, outside the hours, off the grid, or not a time."""
    with pytest.raises(ToolInputError, match=why):
        await prepare(db, "create_booking", CARLOS, professional="Torres", starts_at=at)


async def test_the_world_moves_while_the_question_stands(db: Connection) -> None:
    """Blocked, renamed, closed, past: each is a reason not to act any more."""
    prepared = await prepare(db, "create_booking", CARLOS, professional="Torres", starts_at=TWO_PM)

    async def after(change: str, undo: str) -> str | None:
        await db.execute(change)
        reason = await revalidate(db, "create_booking", CARLOS, prepared.payload)
        await db.execute(undo)
        return reason

    assert await after(
        "UPDATE customers SET blocked = true WHERE name = 'Carlos Lima'",
        "UPDATE customers SET blocked = false WHERE name = 'Carlos Lima'",
    ) == ("o cliente foi bloqueado")
    changed = "os dados ou o expediente do profissional mudaram depois do pedido"
    for column, new, old in (
        ("name", "'Dra. Ana T.'", "'Dra. Ana Torres'"),
        ("active", "false", "true"),
        ("closes", "'13:00'", "'18:00'"),
        ("slot_minutes", "30", "60"),
    ):
        set_to = "UPDATE professionals SET {} = {} WHERE id = 11"
        assert await after(set_to.format(column, new), set_to.format(column, old)) == changed
    assert await revalidate(db, "create_booking", CARLOS, prepared.payload) is None
    await set_clock(db, "2026-12-02T17:00:00Z")
    reason = await revalidate(db, "create_booking", CARLOS, prepared.payload)
    assert reason == "esse horário já passou"


async def test_a_blocked_customer_books_nothing(db: Connection) -> None:
    """The model is told why."""
    with pytest.raises(ToolInputError, match="bloqueado"):
        await prepare(
            db,
            "create_booking",
            MARIA,
            customer="João Souza",
            professional="Torres",
            starts_at=TWO_PM,
        )


async def test_moving_frees_the_old_time_and_compensates(db: Connection) -> None:
    """The new time has the key of a booking there, and names the action that it undoes."""
    booked = await book(db)
    moved = await prepare(
        db,
        "reschedule_booking",
        CARLOS,
        booking_id=booked["booking_id"],
        starts_at=f"{DAY}T15:00",
    )
    assert moved.compensates == booked["action"]
    assert "De: amanhã (qua., 02/12) às 14:00\nPara: amanhã (qua., 02/12) às 15:00" in moved.summary
    assert await revalidate(db, "reschedule_booking", CARLOS, moved.payload) is None
    result = await run(db, "reschedule_booking", moved.payload, CARLOS)
    row = await db.fetchrow("SELECT starts_at, action_id FROM bookings")
    assert row is not None
    assert row["starts_at"].isoformat() == "2026-12-02T18:00:00+00:00"
    assert row["action_id"] == result["action"]
    there = await prepare(
        db, "create_booking", CARLOS, professional="Torres", starts_at=f"{DAY}T15:00"
    )
    assert key_of(there) == key_of(moved)
    with pytest.raises(NoLongerPossibleError, match="mudou"):
        await run(db, "reschedule_booking", moved.payload, CARLOS)


async def test_a_move_onto_anothers_time_is_refused(db: Connection) -> None:
    """In all three places, like a booking."""
    booked = await book(db)
    arguments = {"booking_id": booked["booking_id"], "starts_at": f"{DAY}T15:00"}
    moved = await prepare(db, "reschedule_booking", CARLOS, **arguments)
    await book(db, ANA, f"{DAY}T15:00")
    with pytest.raises(ToolInputError, match="ocupado"):
        await prepare(db, "reschedule_booking", CARLOS, **arguments)
    assert await revalidate(db, "reschedule_booking", CARLOS, moved.payload) == (
        "esse horário acabou de ser ocupado"
    )
    with pytest.raises(NoLongerPossibleError, match="ocupado"):
        await run(db, "reschedule_booking", moved.payload, CARLOS)


async def test_cancelling_compensates_and_happens_once(db: Connection) -> None:
    """The holding action is named; a second cancellation finds nothing to cancel."""
    booked = await book(db)
    cancelled = await prepare(db, "cancel_booking", CARLOS, booking_id=booked["booking_id"])
    assert cancelled.compensates == booked["action"]
    assert cancelled.business_key is None
    await run(db, "cancel_booking", cancelled.payload, CARLOS)
    assert await revalidate(db, "cancel_booking", CARLOS, cancelled.payload) == (
        "esse agendamento mudou ou foi desmarcado depois do pedido"
    )
    with pytest.raises(NoLongerPossibleError):
        await run(db, "cancel_booking", cancelled.payload, CARLOS)
    with pytest.raises(ToolInputError, match="Não encontrei o agendamento"):
        await prepare(db, "cancel_booking", CARLOS, booking_id=booked["booking_id"])


async def test_a_booking_moved_there_and_back_is_not_the_same(db: Connection) -> None:
    """It stands at the printed time again, but another action holds it: nothing is cancelled."""
    booked = await book(db)
    number = booked["booking_id"]
    asked = await prepare(db, "cancel_booking", CARLOS, booking_id=number)
    for at in (f"{DAY}T15:00", TWO_PM):
        moved = await prepare(db, "reschedule_booking", CARLOS, booking_id=number, starts_at=at)
        await run(db, "reschedule_booking", moved.payload, CARLOS)
    assert await revalidate(db, "cancel_booking", CARLOS, asked.payload) is not None
    with pytest.raises(NoLongerPossibleError):
        await run(db, "cancel_booking", asked.payload, CARLOS)


async def test_anothers_booking_is_not_found(db: Connection) -> None:
    """The same answer as for one that does not exist; a member sees it."""
    booked = await book(db)
    number = booked["booking_id"]
    for tool, more in (("cancel_booking", {}), ("reschedule_booking", {"starts_at": TWO_PM})):
        for booking_id in (number, 999999):
            with pytest.raises(ToolInputError, match=f"Não encontrei o agendamento {booking_id}"):
                await prepare(db, tool, ANA, booking_id=booking_id, **more)
    assert (await look_up(db, "list_bookings", ANA))["bookings"] == []
    assert len((await look_up(db, "list_bookings", MARIA))["bookings"]) == 1
    await prepare(db, "cancel_booking", MARIA, booking_id=number)


async def test_an_unknown_or_ambiguous_professional_is_asked_about(db: Connection) -> None:
    """With the names that there are."""
    with pytest.raises(ToolInputError, match=r"Bruno Reis; Dra\. Ana Torres"):
        await prepare(db, "create_booking", CARLOS, professional="Zé", starts_at=TWO_PM)
    await db.execute("INSERT INTO professionals (account_id, name) VALUES ('demo', 'Ana Reis')")
    with pytest.raises(ToolInputError, match="mais de um profissional"):
        await prepare(db, "create_booking", CARLOS, professional="Ana", starts_at=TWO_PM)
