"""`aval doctor` says that all agree, or names each disagreement; `aval restored` before a start."""

from datetime import timedelta

from tests.acceptance.operator import NO_TEMPORAL, aval, skip
from tests.acceptance.test_reconcile import stuck
from tests.harness.databases import Databases
from tests.harness.scenes import propose
from tests.harness.stack import Stack


async def executed(stack: Stack) -> str:
    """A charge that was made."""
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    found: str = action["id"]
    return found


async def test_a_healthy_system_agrees(stack: Stack) -> None:
    """An executed action, a pending one, everything told: exit 0, one line."""
    await executed(stack)
    await propose(stack, "gera um Pix de 99 reais pro João Silva")
    code, said = await aval(stack, "doctor", "--providers")
    assert (code, said) == (0, "PostgreSQL, Temporal and the providers agree\n")


async def test_what_the_provider_does_not_have_is_named(stack: Stack) -> None:
    """Executed here, forgotten there: only `--providers` can see it."""
    action = await executed(stack)
    await stack.payments.reset()
    assert (await aval(stack, "doctor"))[0] == 0
    code, said = await aval(stack, "doctor", "--providers")
    assert code == 1
    assert action in said
    assert "executed here, yet absent there" in said


async def test_a_stuck_action_is_named_with_what_is_there(stack: Stack) -> None:
    """Machines cannot look; the doctor can, and tells that the effect is there. It settles
    nothing."""
    action = await stuck(stack, "act_drop", blind=True)
    await stack.stop_worker()
    await stack.payments.clear_faults()
    await skip(stack, 130)
    code, said = await aval(stack, "doctor", "--providers")
    assert code == 1
    assert "executing here, found there" in said
    assert (await stack.action(action))["status"] == "executing"


async def test_work_that_nobody_does_is_named(stack: Stack) -> None:
    """No worker, and the workflow gone: the pending action is overdue, no workflow lives for it,
    and a message that came meanwhile is undone. With Temporal away that is named too."""
    action = await propose(stack)
    await stack.stop_worker()
    await stack.temporal.get_workflow_handle(f"action:{action['id']}").terminate("by hand")
    await stack.whatsapp.send_text("maria", "oi")
    await skip(stack, timedelta(minutes=15).total_seconds())
    code, said = await aval(stack, "doctor")
    assert code == 1
    for words in ("past its deadline", "no workflow lives for it", "that nobody handled"):
        assert words in said, said
    code, said = await aval(stack, "doctor", **NO_TEMPORAL)
    assert code == 1
    assert "cannot be reached" in said
    assert "past its deadline" in said


async def test_a_workflow_without_work_and_tampered_evidence_are_named(stack: Stack) -> None:
    """A workflow that lives although its action is over; a chain and a frozen column that somebody
    changed; another deployment's name."""
    done = await executed(stack)
    action = await propose(stack, "gera um Pix de 99 reais pro João Silva")
    await stack.stop_worker()
    await stack.pool.execute(
        "ALTER TABLE audit_events DISABLE TRIGGER USER; ALTER TABLE actions DISABLE TRIGGER USER"
    )
    await stack.pool.execute(
        "UPDATE actions SET status = 'cancelled', finished_at = now() - interval '1 hour',"
        " ring_at = NULL WHERE id = $1",
        action["id"],
    )
    await stack.pool.execute(
        "UPDATE audit_events SET detail = '{}' WHERE action_id = $1 AND n = 2", done
    )
    await stack.pool.execute("UPDATE actions SET summary = 'outra' WHERE id = $1", done)
    code, said = await aval(stack, "doctor", AVAL_DEPLOYMENT="other")
    assert code == 1
    for words in ("lives although", "chain of evidence", "columns were changed", "belongs to"):
        assert words in said, said


async def test_restored_waits_until_everybody_has_left(stack: Stack, databases: Databases) -> None:
    """While the stack's own sessions are there: refused, nothing changed. On a database that nobody
    uses: it says what to check."""
    action = await propose(stack)
    restored = ("restored", "--operator", "Ana", "--yes")
    code, said = await aval(stack, *restored)
    assert (code, "stop workers and API first" in said) == (2, True), said
    assert (await stack.action(action["id"]))["status"] == "pending"
    dsn = await databases.fresh()
    code, said = await aval(stack, *restored, AVAL_DATABASE_URL=dsn)
    await databases.drop(dsn)
    assert code == 0
    assert "frozen, may have been sent: 0" in said
    assert "aval doctor --providers" in said
