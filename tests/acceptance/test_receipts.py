"""While the model thinks the person sees that he is read: once a burst, and nothing depends on
it."""

from typing import Any

from tests.harness.scenes import PIX, ask, propose
from tests.harness.stack import Stack


async def receipts(stack: Stack) -> list[dict[str, Any]]:
    """The read receipts that WhatsApp got."""
    journal = await stack.whatsapp.journal()
    return [record.body for record in journal.sends if record.kind == "read"]


async def test_one_receipt_with_the_typing_sign_for_a_burst(patient_stack: Stack) -> None:
    """Three messages and a turn of two model calls: one receipt, for the newest message."""
    stack = patient_stack
    await stack.claude.fault("timeout", seconds=0.5, contains="saldo")
    for text in ("oi", "por favor", "qual é o meu saldo?"):
        sent = await stack.whatsapp.send_text("maria", text)
    await stack.whatsapp.wait_message("maria", contains="1.000,00", timeout_seconds=20)
    await stack.quiet()
    assert await stack.claude.calls() == 2
    (receipt,) = await receipts(stack)
    assert receipt["typing_indicator"] == {"type": "text"}
    assert receipt["message_id"] == sent.wamid


async def test_what_needs_no_thinking_shows_no_typing(stack: Stack) -> None:
    """A picture is answered by a template, a click by the action: no sign."""
    await stack.whatsapp.send_raw("maria", {"type": "image", "image": {"id": "1"}})
    await stack.whatsapp.wait_message("maria", type="text")
    assert await receipts(stack) == []
    action = await propose(stack, PIX)
    before = len(await receipts(stack))
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    assert len(await receipts(stack)) == before


async def test_a_receipt_that_cannot_be_given_stops_nothing(stack: Stack) -> None:
    """WhatsApp refuses it (the message has an id of another make): the answer comes all the same,
    without a second try of either."""
    await stack.claude.fault("timeout", seconds=0.5, contains="saldo")
    await stack.pool.execute(
        "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$"
        " BEGIN NEW.key := repeat('x', 600); RETURN NEW; END $$;"
        " CREATE TRIGGER spoil BEFORE INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION spoil()"
    )
    assert "1.000,00" in await ask(stack, "qual é o meu saldo?")
    await stack.quiet()
    assert await stack.claude.calls() == 2
    assert len(await receipts(stack)) <= 1
