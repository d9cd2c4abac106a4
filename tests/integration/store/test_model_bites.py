"""That the model's tests bite: without one of the guards, a promise is seen broken at the far side.
The model is not asked; it would see more, and sooner."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from domain.deciding import StoredDecision
from store import actions, deciding, executing
from store.actions import Action
from store.connection import Connection
from tests.harness.databases import Databases
from tests.integration.store.beginnings import PEOPLE, STUCK, WORKERS, Everything, take_seats
from tests.integration.store.bench import FIRST_SEED, Bench, Report, running_bench
from tests.integration.store.drawing import Machine, Sequences
from tests.integration.store.far_side import BrokenPromiseError
from tests.integration.store.machine import OperatorsMachine, PeopleMachine, WorkersMachine
from tests.integration.store.machine_overlap import OverlapMachine, TwoConnections

HUNT = 500
"""So many sequences at most until a missing guard must have been noticed."""


@pytest.fixture(scope="module")
def seats(databases: Databases) -> Iterator[Bench]:
    """A database and all beginnings in it."""
    with running_bench(databases, Bench) as bench:
        take_seats(bench, {**PEOPLE, **WORKERS, **STUCK})
        yield bench


class Tampered:
    """A connection on which one piece of the product's SQL says something else."""

    def __init__(self, connection: Connection, before: str, after: str) -> None:
        self._connection, self._before, self._after = connection, before, after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._connection, name)
        if name not in {"fetch", "fetchrow", "fetchval", "execute"}:
            return found

        async def run(query: str, *values: Any) -> Any:
            return await found(query.replace(self._before, self._after), *values)

        return run


def hunt(machine: Callable[[Bench], Machine], bench: Bench, report: Report, without: str) -> str:
    """Draw until a promise is broken, and say how long it took; which one. Fails if none is."""
    drawn = Sequences(lambda: machine(bench), FIRST_SEED)
    for n in range(HUNT):
        try:
            drawn.play_next()
        except BrokenPromiseError as broken:
            report(f"without {without}: {broken.name!r} after {n + 1} sequences")
            return broken.name
    raise AssertionError(f"without {without}: nothing was noticed in {HUNT} sequences")


FENCE = (
    "HAVING coalesce(bool_and(outcome IS NOT DISTINCT FROM 'not_sent'), true)",
    "HAVING true",
)
UNSENT = (
    "SELECT count(*) FROM sends WHERE action_id = $1 AND outcome IS DISTINCT FROM 'not_sent'",
    "SELECT 0 WHERE $1 <> ''",
)
VALID = ("AND clock_timestamp() < d.valid_until", "")
NUMBERED = (
    "AND d.as_send = (SELECT coalesce(max(s.n), 0) + 1 FROM sends s WHERE s.action_id = a.id)",
    "",
)
FROZEN = ("last_look, frozen_at", "last_look, NULL::timestamptz AS frozen_at")
LOCKED = ("OR locked_until < clock_timestamp()", "OR true")
BETWEEN = (
    "AND i.received_at >= p.created_at) AS received_between",
    "AND false) AS received_between",
)

MISSING: dict[str, tuple[Callable[[Bench], Machine], tuple[str, str], set[str]]] = {
    "the fence's look at earlier sends": (
        WorkersMachine,
        FENCE,
        {"a second send only if all earlier are not_sent, or by one operator's word"},
    ),
    "the look at sends before closing as unsent": (
        WorkersMachine,
        UNSENT,
        {
            "no end while a send is under way",
            "no effect once the row says that there is none",
            "failed beside a send in doubt only by an operator's or the provider's word",
        },
    ),
    "the end of an operator's resend": (
        OperatorsMachine,
        VALID,
        {"a resend only in its time"},
    ),
    "the freeze of a restored action": (
        OperatorsMachine,
        FROZEN,
        {
            "nothing frozen is sent",
            "no end while a send is under way",
            "an operator denies an effect only after two look-ups that would have shown it",
        },
    ),
    "the lock of a direct tool's attempt": (
        WorkersMachine,
        LOCKED,
        {"no take-over while the lock holds"},
    ),
    "the look at what was received since the prompt": (
        PeopleMachine,
        BETWEEN,
        {"a typed yes leaves one reading only"},
    ),
}


@pytest.mark.parametrize("without", MISSING)
def test_a_missing_guard_in_sql_is_found(seats: Bench, report: Report, without: str) -> None:
    """With the guard taken out of the statement, a promise is seen broken at the far side."""
    machine, (before, after), names = MISSING[without]

    def through(connection: Connection) -> Connection:
        return cast(Connection, Tampered(connection, before, after))

    assert hunt(machine, seats.fresh(compare=False, through=through), report, without) in names


def test_attempts_that_are_not_revoked_are_found(
    seats: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where any attempt passes for the newest, a zombie sends."""
    fence = executing.fence

    async def fence_for_all(connection: Connection, action_id: str, *, attempt: int) -> int | None:
        newest = await connection.fetchval("SELECT attempt FROM actions WHERE id = $1", action_id)
        return await fence(connection, action_id, attempt=newest or attempt)

    monkeypatch.setattr(executing, "fence", fence_for_all)
    bench = seats.fresh(compare=False)
    name = hunt(WorkersMachine, bench, report, "the revoking of earlier attempts")
    assert name == "only the newest attempt sends"


def test_a_missing_grace_is_found(
    seats: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the end of the grace, a world of long ago is executed."""
    monkeypatch.setattr("domain.deciding.GRACE", timedelta(days=3650))
    name = hunt(PeopleMachine, seats.fresh(compare=False), report, "decide's grace")
    assert name == "decided within the grace"


def test_a_resend_without_look_ups_is_found(
    seats: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an operator's word needs no look-up that found nothing, what is under way is sent
    again, or called failed."""
    monkeypatch.setattr("domain.settling._not_absent_yet", lambda _facts: None)
    bench = seats.fresh(compare=False)
    name = hunt(OperatorsMachine, bench, report, "the look-ups before an operator's word")
    assert name == "an operator denies an effect only after two look-ups that would have shown it"


def test_a_word_that_can_be_used_twice_is_found(
    seats: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the fence does not use a resend up, one word sends again and again."""
    from store import resending

    async def use_for_ever(connection: Connection, action_id: str, *, attempt: int) -> int | None:
        n: int | None = await connection.fetchval(
            "INSERT INTO sends (action_id, n, attempt, fenced_at)"
            " SELECT $1, max(s.n) + 1, $2, clock_timestamp() FROM sends s WHERE action_id = $1"
            " AND EXISTS (SELECT 1 FROM decisions WHERE action_id = $1 AND verdict = 'resend')"
            " HAVING max(s.n) IS NOT NULL RETURNING n",
            action_id,
            attempt,
        )
        return n

    monkeypatch.setattr(resending, "use_up", use_for_ever)
    bench = seats.fresh(compare=False)
    name = hunt(OperatorsMachine, bench, report, "the using up of a resend")
    assert name in {
        "a second send only if all earlier are not_sent, or by one operator's word",
        "a resend only in its time",
        "only the newest attempt sends",
    }


def test_the_same_twice_in_two_conversations_is_found(databases: Databases, report: Report) -> None:
    """Without the unique key and the look at equal effects, two people get the same twice."""
    before = "WHERE (business_key = $1 AND status IN ('executing', 'executed')"

    def through(connection: Connection) -> Connection:
        tampered = Tampered(connection, before, before.replace("= $1", "= $1 || '!'"))
        return cast(
            Connection, Tampered(cast(Connection, tampered), "payload_hash = $4", "$4 = ''")
        )

    with running_bench(databases, Bench) as bench:
        connection = bench.connect()
        bench.run(
            connection.execute("DROP INDEX actions_business_key; DROP INDEX actions_equal_effect")
        )
        bench.run(connection.close())
        take_seats(bench, WORKERS)
        blind = bench.fresh(compare=False, through=through)
        name = hunt(WorkersMachine, blind, report, "the keys of equal effects")
    assert name in {"one live action a business key", "nothing executes twice at a time"}


@pytest.fixture
def two(databases: Databases) -> Iterator[TwoConnections]:
    """Two connections to a database of their own."""
    with running_bench(databases, TwoConnections) as bench:
        bench.open()
        yield bench


def test_decisions_read_before_the_lock_are_found(
    two: TwoConnections, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the decisions read before the action's row is locked, a click slips in between and is
    passed over. Only two connections show it."""
    early: dict[str, list[StoredDecision]] = {}
    read, lock = deciding._unanswered, actions.lock

    async def lock_late(connection: Connection, action_id: str) -> tuple[Action, datetime]:
        early[action_id] = await read(connection, action_id)
        return await lock(connection, action_id)

    async def read_early(_connection: Connection, action_id: str) -> list[StoredDecision]:
        return early[action_id]

    monkeypatch.setattr(actions, "lock", lock_late)
    monkeypatch.setattr(deciding, "_unanswered", read_early)
    assert hunt(OverlapMachine, two, report, "the lock before the reading") in {
        "two at once come to what one after the other would",
        "a stored Cancel wins",
    }


# -- what the machine has found


def test_half_an_outcome_after_a_day_is_rung_for(seats: Bench) -> None:
    """An action rests, unknown for a day. Then a stalled attempt writes that nothing left, and is
    killed before it looks at the action: somebody must be woken to close it."""
    machine = Everything(seats.fresh())
    machine.begin("fenced")
    machine.wait(86_400)
    machine.decide(0)
    machine.write(0, "not_sent", True)
    machine.finish(to_the_end=True)
    machine.forget()


def test_what_was_seen_before_a_resend_ends_nothing(seats: Bench) -> None:
    """*settle* sees at the provider that the first send failed for good, and stalls. An operator's
    second send goes. What was seen says nothing of it: it may not end the action as failed."""
    machine = Everything(seats.fresh())
    machine.begin("looked_twice")
    try:
        action = machine.actions[0]
        assert machine.far.looks(action.id, "absent_final", machine.now) == "absent_final"
        machine.say(0, "resend", 0, "ana", "knows keys")
        machine.take(machine.open_step(action))
        machine.take(machine.send_step(action, -1))
        machine.write_sight(action.id, "absent_final", 1)
    finally:
        machine.forget()
