"""An operator settles a stuck action from his command line; counted at the provider, heard by the
person."""

import asyncio

from tests.acceptance.operator import NO_TEMPORAL, aval, skip
from tests.harness.scenes import heard, propose
from tests.harness.stack import Stack

ANA = ("--operator", "Ana", "--yes")
SAW = ("--evidence", "seen in the panel")


async def stuck(stack: Stack, fault: str, *, blind: bool = False) -> str:
    """A confirmed charge whose outcome is unknown, once the person was told that it is verified."""
    if blind:
        await stack.payments.add_fault("lookup_503", times=500)
    await stack.payments.add_fault(fault)
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.whatsapp.wait_message("maria", contains="verificando", timeout_seconds=30)
    found: str = action["id"]
    return found


async def posts(stack: Stack) -> int:
    """How many requests that create something reached the provider."""
    return sum(one["method"] == "POST" for one in await stack.payments.journal())


async def two_absents(stack: Stack, action: str) -> None:
    """Two looks that prove that nothing is there."""
    await skip(stack, 61)
    for _ in range(2):
        code, said = await aval(stack, "reconcile", action, "--look", "--operator", "Ana")
        assert (code, "absent" in said) == (0, True), said
        await skip(stack, 61)


async def test_an_effect_that_machines_cannot_see_is_settled_on_evidence(stack: Stack) -> None:
    """The provider acted and dropped, its look-ups answer 503. With the worker gone and Temporal
    out of reach the operator looks, sees the charge and says executed; once a worker lives the
    person gets the code, once; one charge, one request. The second operator hears who was first."""
    action = await stuck(stack, "act_drop", blind=True)
    code, said = await aval(stack, "actions", "list", "--status", "executing")
    assert code == 0
    assert action[:12] in said
    assert "create_pix_charge" in said
    code, said = await aval(stack, "reconcile", action[:8], "--look")
    assert (code, "uncertain" in said) == (0, True), said
    await stack.stop_worker()
    await stack.payments.clear_faults()
    code, said = await aval(stack, "reconcile", action, "--look", **NO_TEMPORAL)
    assert code == 0
    assert "found" in said
    assert "everything is as confirmed" in said
    assert (await stack.action(action))["status"] == "executing"
    done = await aval(stack, "reconcile", action, "--executed", *SAW, *ANA, **NO_TEMPORAL)
    assert done[0] == 0, done
    other = ("--operator", "Rui", "--yes")
    code, said = await aval(stack, "reconcile", action, "--failed", *SAW, *other, **NO_TEMPORAL)
    assert (code, "'Ana' was first" in said) == (2, True), said
    await stack.start_worker()
    await stack.quiet()
    texts = await heard(stack)
    assert len(texts) == 3
    assert texts[-1].startswith("000201")
    assert await stack.charges() == 1
    assert await posts(stack) == 1
    _, said = await aval(stack, "actions", "show", action)
    assert "Ana" in said
    assert "chain: verifies" in said


async def test_nothing_done_is_said_only_when_it_is_proved(stack: Stack) -> None:
    """The provider never acted. `--failed` is refused too early, allowed after the lag and two
    absents; the person is told once; no charge, no further request."""
    action = await stuck(stack, "drop")
    await stack.stop_worker()
    failed = ("reconcile", action, "--failed", *SAW, *ANA)
    code, said = await aval(stack, *failed)
    assert (code, "wait" in said, said.count("\n")) == (2, True, 1), said
    await two_absents(stack, action)
    assert (await aval(stack, *failed))[0] == 0
    await stack.start_worker()
    await stack.quiet()
    assert (await heard(stack))[-1] == "A equipe verificou: esse pedido não foi executado."
    assert await stack.charges() == 0
    assert await posts(stack) == 1


async def test_a_resend_goes_out_once(stack: Stack) -> None:
    """`--resend --as-send 2` twice, with the first answer lost again: one more request, not two;
    `--as-send 3` then does it, and one charge exists."""
    action = await stuck(stack, "drop")
    await two_absents(stack, action)
    await stack.payments.add_fault("drop")
    resend = ("reconcile", action, "--resend", *ANA)
    first, second = await asyncio.gather(
        aval(stack, *resend, "--as-send", "2"), aval(stack, *resend, "--as-send", "2")
    )
    assert sorted([first[0], second[0]]) == [0, 2], (first, second)
    for _ in range(200):
        if await posts(stack) == 2:
            break
        await asyncio.sleep(0.1)
    assert await posts(stack) == 2
    code, said = await aval(stack, *resend, "--as-send", "2")
    assert code == 2
    assert "send 2" in said
    await skip(stack, 76)
    await two_absents(stack, action)
    assert (await aval(stack, *resend, "--as-send", "3"))[0] == 0
    await stack.wait_status(action, "executed", seconds=30)
    await stack.quiet()
    assert await stack.charges() == 1
    assert await posts(stack) == 3
    assert (await heard(stack))[-1].startswith("000201")


async def test_a_resend_reaches_an_action_whose_workflow_is_gone(stack: Stack) -> None:
    """The workflow was terminated by hand: the decision row alone starts it anew."""
    action = await stuck(stack, "drop")
    await two_absents(stack, action)
    await stack.temporal.get_workflow_handle(f"action:{action}").terminate("by hand")
    done = await aval(stack, "reconcile", action, "--resend", "--as-send", "2", *ANA, **NO_TEMPORAL)
    assert done[0] == 0, done
    await stack.wait_status(action, "executed", seconds=30)
    assert await stack.charges() == 1


async def test_a_script_says_yes_or_nothing_is_done(stack: Stack) -> None:
    """Piped input is no terminal: without `--yes` nothing is written."""
    action = await stuck(stack, "act_drop", blind=True)
    code, said = await aval(stack, "reconcile", action, "--executed", *SAW, "--operator", "Ana")
    assert (code, "--yes" in said) == (2, True), said
    assert (await stack.action(action))["status"] == "executing"
