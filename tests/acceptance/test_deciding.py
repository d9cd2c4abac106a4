"""The person decides: one effect at most, one feedback, by the right person, in time."""

import asyncio
from datetime import timedelta

from tests.harness.scenes import heard, model_calls, prompts, propose
from tests.harness.stack import Stack


async def test_confirm_makes_one_effect_feedback_and_history(stack: Stack) -> None:
    """Confirm → one effect, feedback and code to the person, the click and the feedback in the
    model's history; no model is called between click and feedback."""
    action = await propose(stack)
    calls = await model_calls(stack)

    await stack.whatsapp.press("maria", "confirm")
    await stack.whatsapp.wait_message("maria", contains="br.gov.bcb.pix")
    await stack.quiet()

    assert await stack.charges() == 1
    assert (await stack.action(action["id"]))["status"] == "executed"
    assert await model_calls(stack) == calls
    feedback, code = await heard(stack)
    assert "R$ 150,00" in feedback
    assert code.startswith("000201")
    kinds = [
        (row["kind"], row["content"].get("text", ""))
        for row in await stack.pool.fetch(
            "SELECT kind, content FROM history WHERE position IS NOT NULL ORDER BY position"
        )
    ]
    assert [kind for kind, _ in kinds] == [
        "user_text",
        "assistant_blocks",
        "tool_results",
        "sent_text",
        "action_event",
        "sent_text",
        "sent_text",
    ]
    assert f"Confirmar na ação {action['id']}" in kinds[4][1]
    assert kinds[5][1] == feedback


async def test_the_key_at_the_provider_is_the_action_id(stack: Stack) -> None:
    """One key through all layers: action id = workflow id = provider key."""
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    counters = await stack.payments.counters()
    assert counters["effects_by_key"] == {action["id"]: 1}


async def test_cancel_makes_none(stack: Stack) -> None:
    """Cancel → no effect, and the person is told once."""
    action = await propose(stack)
    await stack.whatsapp.press("maria", "cancel")
    await stack.wait_status(action["id"], "cancelled")
    await stack.quiet()
    assert await stack.charges() == 0
    assert len(await heard(stack)) == 1


async def test_without_a_click_the_action_expires_and_a_late_click_does_nothing(
    stack: Stack,
) -> None:
    """No click → expired after ten minutes; a late click is answered once and executes nothing."""
    action = await propose(stack)
    await stack.move_clock(action["id"], timedelta(minutes=10, seconds=2))
    await stack.wait_status(action["id"], "expired")
    await stack.whatsapp.press("maria", "confirm")
    await stack.whatsapp.wait_message("maria", contains="expirou")
    await stack.whatsapp.press("maria", "confirm")
    await stack.quiet()
    assert await stack.charges() == 0
    assert len(await heard(stack)) == 1


async def test_a_click_at_nine_minutes_executes(stack: Stack) -> None:
    """A click before the deadline executes, however long the person thought."""
    action = await propose(stack)
    await stack.move_clock(action["id"], timedelta(minutes=9))
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await stack.charges() == 1


async def test_double_click_is_one_effect(stack: Stack) -> None:
    """Two presses, one after the other → one effect, one feedback; the second is answered
    shortly."""
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert await stack.charges() == 1
    texts = await heard(stack)
    assert sum("br.gov.bcb.pix" in text for text in texts) == 1
    assert len(texts) <= 3


async def test_five_clicks_at_once_and_their_redelivery_are_one_effect(stack: Stack) -> None:
    """Five presses at once, and every webhook again three times at once → one effect, one
    feedback."""
    action = await propose(stack)
    pressed = await stack.whatsapp.press("maria", "confirm", times=5, concurrent=True)
    assert set(pressed.status_codes) == {200}
    await stack.whatsapp.redeliver(times=3, concurrent=True)
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert await stack.charges() == 1
    texts = await heard(stack)
    assert sum("br.gov.bcb.pix" in text for text in texts) == 1
    assert len(texts) <= 3
    assert len(await prompts(stack, "maria")) == 1


async def _decide_later(stack: Stack, first: str, second: str) -> None:
    """Store two decisions while nobody can decide, then let a worker see both."""
    action = await propose(stack)
    await stack.stop_worker()
    await stack.whatsapp.press("maria", first)  # type: ignore[arg-type]
    await stack.whatsapp.press("maria", second)  # type: ignore[arg-type]
    await stack.start_worker()
    await stack.wait_status(action["id"], "cancelled", seconds=25)
    await stack.quiet()
    assert await stack.charges() == 0
    assert len(await heard(stack)) == 1


async def test_confirm_then_cancel_both_stored_before_deciding_cancels(stack: Stack) -> None:
    """A Cancel that is stored when *decide* runs wins: Confirm first."""
    await _decide_later(stack, "confirm", "cancel")


async def test_cancel_then_confirm_both_stored_before_deciding_cancels(stack: Stack) -> None:
    """A Cancel that is stored when *decide* runs wins: Cancel first."""
    await _decide_later(stack, "cancel", "confirm")


async def test_signals_in_the_other_order_than_the_rows_cancel_too(stack: Stack) -> None:
    """The order in which bells are dispatched decides nothing: rows do."""
    action = await propose(stack)
    await stack.stop_worker()
    handle = stack.temporal.get_workflow_handle(f"action:{action['id']}")
    await handle.signal("confirm", "forged")
    await stack.whatsapp.press("maria", "cancel")
    await stack.whatsapp.press("maria", "confirm")
    await handle.signal("confirm", "forged")
    await stack.start_worker()
    await stack.wait_status(action["id"], "cancelled", seconds=25)
    assert await stack.charges() == 0


async def test_a_signal_without_a_row_decides_nothing(stack: Stack) -> None:
    """A forged signal, as anybody can send in the Temporal UI, is only a bell."""
    action = await propose(stack)
    handle = stack.temporal.get_workflow_handle(f"action:{action['id']}")
    for _ in range(3):
        await handle.signal("confirm", "forged")
    await asyncio.sleep(1)
    assert (await stack.action(action["id"]))["status"] == "pending"
    assert await stack.charges() == 0
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await stack.charges() == 1


async def test_cancel_after_the_execution_began_is_told_that_it_is_done(stack: Stack) -> None:
    """Cancel while the provider works → the effect stands, and the person is told so."""
    await stack.payments.add_fault("act_delay", seconds=1.5)
    action = await propose(stack)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executing")
    await stack.whatsapp.press("maria", "cancel")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert await stack.charges() == 1
    texts = await heard(stack)
    assert len(texts) == 3
    assert "já foi" in texts[-1].lower() or "já está feito" in texts[-1].lower()


async def test_another_numbers_click_does_nothing(stack: Stack) -> None:
    """Another number presses Confirm → nothing, silence, still pending; the owner still can."""
    action = await propose(stack)
    await stack.whatsapp.press("carlos", button_id=f"pa:confirm:{action['id']}", with_context=False)
    await stack.whatsapp.press("carlos", button_id=f"pa:cancel:{action['id']}", with_context=False)
    await asyncio.sleep(1)
    assert (await stack.action(action["id"]))["status"] == "pending"
    assert await heard(stack, "carlos") == []
    assert await stack.charges() == 0
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await stack.charges() == 1
