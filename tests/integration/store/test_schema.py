"""The tables say the same as the types, and hold whatever a query, or a person at a prompt, tries.

The trap this closes: a state, an outcome or an edge that one of the two ends does not know. Then a
change that is legal in Python fails in SQL in the middle of a payment, or the other way round.
"""

import re
from collections.abc import AsyncIterator
from enum import StrEnum
from itertools import product
from pathlib import Path

import asyncpg
import pytest

from domain.actions import TRANSITIONS, Source, Status, Verdict
from domain.history import EntryKind
from domain.inbound import DeliveryStatus
from domain.outcomes import Outcome
from domain.people import Role
from store.connection import Connection, prepare_connection
from tests.harness.databases import Databases
from tests.integration.store.rows import new_account, new_action, new_conversation, new_turn
from tools.contract import Confirm, Effect, Risk

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
async def database(databases: Databases) -> AsyncIterator[str]:
    """The DSN of a migrated database, dropped after the module's last test."""
    dsn = await databases.fresh()
    yield dsn
    await databases.drop(dsn)


@pytest.fixture
async def db(database: str) -> AsyncIterator[Connection]:
    """A connection with an account; whatever the test writes is rolled back."""
    connection = await asyncpg.connect(database)
    await prepare_connection(connection)
    transaction = connection.transaction()
    await transaction.start()
    await new_account(connection)
    try:
        yield connection
    finally:
        await transaction.rollback()
        await connection.close()


async def allowed(db: Connection, table: str, column: str) -> set[str]:
    """The words of the CHECK that stands on this one column."""
    found: set[str] = set()
    definitions = await db.fetch(
        """
        SELECT pg_get_constraintdef(c.oid) AS text FROM pg_constraint c
        WHERE c.conrelid = $1::regclass AND c.contype = 'c' AND c.conkey = (
            SELECT ARRAY[attnum] FROM pg_attribute WHERE attrelid = $1::regclass AND attname = $2)
        """,
        table,
        column,
    )
    for row in definitions:
        if "ANY (ARRAY[" in row["text"]:
            found |= set(re.findall(r"'([^']*)'::text", row["text"]))
    assert found, f"no CHECK of words on {table}.{column}"
    return found


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("actions", "status", set(Status)),
        ("actions", "risk", set(Risk) - {Risk.READ}),  # a read writes nothing
        ("actions", "confirm", set(Confirm)),
        ("actions", "effect", set(Effect)),
        ("actions", "role", set(Role)),
        ("members", "role", set(Role) - {Role.PUBLIC}),  # who is not registered is public
        ("decisions", "verdict", set(Verdict)),
        ("decisions", "source", set(Source)),
        ("sends", "outcome", set(Outcome)),
        ("history", "kind", set(EntryKind)),
        ("outbox", "status", set(DeliveryStatus)),
    ],
)
async def test_the_words_of_a_check_are_those_of_the_type(
    db: Connection, table: str, column: str, words: set[StrEnum]
) -> None:
    """Whatever Python can write, SQL takes; whatever SQL holds, Python can read."""
    assert await allowed(db, table, column) == {word.value for word in words}


def _written(pattern: str, *rooms: str) -> set[str]:
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    return {
        word for path in files for word in re.findall(pattern, path.read_text(encoding="utf-8"))
    }


async def test_the_outbox_states_are_those_that_its_queries_name(db: Connection) -> None:
    """These words have no type of their own: the queries are where they live."""
    text = (ROOT / "store" / "outbox.py").read_text(encoding="utf-8")
    states = await allowed(db, "outbox", "state")
    assert {state for state in states if f"'{state}'" in text} == states
    named = set(re.findall(r"\bstate = '(\w+)'", text))
    assert named
    assert named <= states


async def test_the_purposes_written_are_those_that_the_outbox_takes(db: Connection) -> None:
    """The words decide what may be repeated (design §7), so none may be unknown to the table."""
    purposes = await allowed(db, "outbox", "purpose")
    written = _written(r"purpose=\"(\w+)\"", "store", "activities", "workflows")
    assert written == purposes


async def test_the_transitions_in_sql_are_those_in_python(db: Connection) -> None:
    """The same table at both ends (style, habit 4)."""
    rows = await db.fetch("SELECT before, after FROM action_transitions")
    assert {(row["before"], row["after"]) for row in rows} == {
        (before.value, after.value) for before in TRANSITIONS for after in TRANSITIONS[before]
    }


@pytest.mark.parametrize(("before", "after"), [p for p in product(Status, Status) if p[0] != p[1]])
async def test_no_query_moves_an_action_along_another_edge(
    db: Connection, before: Status, after: Status
) -> None:
    """Not even one typed by hand: the trigger asks the table."""
    action = await new_action(db, before.value)
    change = "UPDATE actions SET status = $2 WHERE id = $1"
    if after in TRANSITIONS[before]:
        await db.execute(change, action, after.value)
        assert after.value == await db.fetchval("SELECT status FROM actions WHERE id = $1", action)
        return
    with pytest.raises(asyncpg.RaiseError, match=f"{before.value} may not become {after.value}"):
        await db.execute(change, action, after.value)


async def test_an_unknown_status_is_refused(db: Connection) -> None:
    """Neither a new row nor a change brings in a word that the types do not know."""
    with pytest.raises(asyncpg.CheckViolationError):
        async with db.transaction():
            await new_action(db, "approved")
    action = await new_action(db)
    await db.execute("INSERT INTO action_transitions VALUES ('pending', 'approved')")
    with pytest.raises(asyncpg.CheckViolationError):
        await db.execute("UPDATE actions SET status = 'approved' WHERE id = $1", action)


FROZEN = {
    "id": "'" + "f" * 32 + "'",
    "conversation_id": "gen_random_uuid()",
    "account_id": "'other'",
    "turn_id": "gen_random_uuid()",
    "tool": "'transfer_balance'",
    "tool_version": "2",
    "risk": "'reversible'",
    "confirm": "'button_or_yes'",
    "effect": "'database'",
    "payload": """'{"amount_cents": 1500000}'""",
    "payload_hash": "repeat('9', 64)",
    "summary": "'Pix de R$ 15,00'",
    "request": """'{"body": "{\\"amount\\": 1500000}"}'""",
    "digest": "repeat('e', 64)",
    "business_key": "repeat('b', 64)",
    "compensates": "id",
    "phone_number_id": "'999'",
    "user_id": "'BR.somebodyelse'",
    "wa_id": "NULL",
    "role": "'public'",
    "expires_at": "expires_at + interval '1 microsecond'",
    "created_at": "created_at - interval '1 microsecond'",
}  # fmt: skip
"""What was shown, for whom, until when, and what it will do: a change of each to something else."""

CHANGING = {
    "status", "compensated_by", "decided_at", "decision_id", "executing_since", "finished_at",
    "reason", "detail", "result", "attempt", "attempt_at", "locked_until", "verifying_told_at",
    "looks", "look_at", "last_look", "ring_at", "rings", "frozen_at",
}  # fmt: skip
"""What happens to an action after it was proposed."""


async def test_every_column_is_frozen_or_known_to_change(db: Connection) -> None:
    """A new column of an action says which it is."""
    rows = await db.fetch(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_name = 'actions' AND table_schema = 'public'"
    )
    assert {row["column_name"] for row in rows} == set(FROZEN) | CHANGING


@pytest.mark.parametrize("status", [Status.PENDING, Status.EXECUTING, Status.EXECUTED])
@pytest.mark.parametrize("column", FROZEN)
async def test_a_frozen_column_cannot_change(db: Connection, column: str, status: Status) -> None:
    """Whatever the status: what the person saw is what the row says for ever."""
    action = await new_action(db, status.value)
    with pytest.raises(asyncpg.RaiseError, match="frozen"):
        await db.execute(f"UPDATE actions SET {column} = {FROZEN[column]} WHERE id = $1", action)


async def test_a_frozen_column_cannot_change_on_a_legal_edge(db: Connection) -> None:
    """A change of status carries no other change in."""
    action = await new_action(db)
    with pytest.raises(asyncpg.RaiseError, match="frozen"):
        await db.execute(
            "UPDATE actions SET status = 'executing', payload = '{}' WHERE id = $1", action
        )


async def test_what_happens_to_an_action_can_be_written(db: Connection) -> None:
    """The freeze holds what was shown and nothing else."""
    action = await new_action(db)
    settings = ", ".join(f"{name} = {name}" for name in [*FROZEN, *CHANGING])
    await db.execute(f"UPDATE actions SET {settings} WHERE id = $1", action)
    await db.execute(
        "UPDATE actions SET status = 'executing', attempt = 1, attempt_at = now(), reason = 'x',"
        " detail = 'y', result = '{}', looks = 1, rings = 1, ring_at = now() WHERE id = $1",
        action,
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_events SET detail = '{}'",
        "UPDATE audit_events SET n = n WHERE false",
        "DELETE FROM audit_events",
        "TRUNCATE audit_events",
    ],
)
async def test_evidence_is_append_only(db: Connection, statement: str) -> None:
    """No statement changes or removes a link of the chain (design §8)."""
    action = await new_action(db)
    await db.execute("SELECT append_audit($1, 'proposed', $2)", action, {"digest": "d"})
    with pytest.raises(asyncpg.RaiseError, match="audit_events is append-only"):
        async with db.transaction():
            await db.execute(statement)
    assert await db.fetchval("SELECT count(*) FROM audit_events WHERE action_id = $1", action) == 1


@pytest.mark.parametrize("statement", ["DELETE FROM actions", "TRUNCATE actions CASCADE"])
async def test_an_action_with_evidence_cannot_be_removed(db: Connection, statement: str) -> None:
    """Nor does the evidence go by way of the action that it is about."""
    action = await new_action(db)
    await db.execute("SELECT append_audit($1, 'proposed', $2)", action, {"digest": "d"})
    with pytest.raises((asyncpg.RaiseError, asyncpg.ForeignKeyViolationError)):
        async with db.transaction():
            await db.execute(statement)
    assert await db.fetchval("SELECT count(*) FROM actions WHERE id = $1", action) == 1


async def test_one_pending_action_a_conversation(db: Connection) -> None:
    """The second is refused by the table, whatever the code believed."""
    conversation = await new_conversation(db)
    await new_action(db, conversation_id=conversation)
    await new_action(db, "executing", conversation_id=conversation)
    with pytest.raises(asyncpg.UniqueViolationError, match="actions_one_pending"):
        await new_action(db, conversation_id=conversation)


@pytest.mark.parametrize("live", ["executing", "executed"])
async def test_one_live_action_a_business_key(db: Connection, live: str) -> None:
    """What makes sense once lives once; whoever waits may wait, whoever acts is alone."""
    key = "b" * 64
    await new_action(db, live, business_key=key)
    waiting = await new_action(db, business_key=key)
    with pytest.raises(asyncpg.UniqueViolationError, match="actions_business_key"):
        await db.execute("UPDATE actions SET status = 'executing' WHERE id = $1", waiting)


async def test_a_compensated_action_frees_its_business_key(db: Connection) -> None:
    """Book, cancel, book works (design §5)."""
    key = "b" * 64
    first = await new_action(db, "executed", business_key=key)
    undone = await new_action(db, "executed")
    await db.execute("UPDATE actions SET compensated_by = $2 WHERE id = $1", first, undone)
    await new_action(db, "executing", business_key=key)


async def test_no_equal_effect_while_one_is_verified(db: Connection) -> None:
    """The same tool and payload of an account is not executing twice; once executed it may."""
    same = {"payload_hash": "9" * 64}
    first = await new_action(db, "executing", **same)
    second = await new_action(db, **same)
    with pytest.raises(asyncpg.UniqueViolationError, match="actions_equal_effect"):
        async with db.transaction():
            await db.execute("UPDATE actions SET status = 'executing' WHERE id = $1", second)
    await db.execute("UPDATE actions SET status = 'executed' WHERE id = $1", first)
    await db.execute("UPDATE actions SET status = 'executing' WHERE id = $1", second)


async def test_a_critical_action_is_never_direct(db: Connection) -> None:
    """No critical effect without a click, even if a deployment asks for it."""
    with pytest.raises(asyncpg.CheckViolationError):
        await new_action(db, risk="critical", confirm="direct")


async def test_a_send_has_one_number_once(db: Connection) -> None:
    """Two fences with the same number: one of them did not win (design §3.4)."""
    action = await new_action(db, "executing")
    fence = "INSERT INTO sends (action_id, n, attempt, fenced_at) VALUES ($1, 1, $2, now())"
    await db.execute(fence, action, 1)
    with pytest.raises(asyncpg.UniqueViolationError):
        await db.execute(fence, action, 2)


@pytest.mark.parametrize(
    ("verdict", "source", "operator"),
    [
        ("executed", "button", None),
        ("failed", "typed", None),
        ("resend", "button", None),
        ("confirm", "operator", None),
        ("executed", "button", "root"),
    ],
)
async def test_only_an_operator_settles_and_he_says_who_he_is(
    db: Connection, verdict: str, source: str, operator: str | None
) -> None:
    """A person's click can only confirm or cancel; an operator's row bears his name."""
    action = await new_action(db)
    with pytest.raises(asyncpg.CheckViolationError):
        await db.execute(
            "INSERT INTO decisions (id, action_id, verdict, source, operator, received_at)"
            " VALUES (gen_random_uuid(), $1, $2, $3, $4, now())",
            action,
            verdict,
            source,
            operator,
        )


async def test_one_open_turn_a_conversation(db: Connection) -> None:
    """Turns of one conversation never overlap."""
    conversation = await new_conversation(db)
    await new_turn(db, conversation)
    await new_turn(db, conversation, outcome=None)
    with pytest.raises(asyncpg.UniqueViolationError, match="turns_one_open"):
        await new_turn(db, conversation, outcome=None)
