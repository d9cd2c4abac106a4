"""From a WhatsApp message to one executed action, counted at the far side."""

from tests.harness.stack import Stack


async def test_confirm_makes_one_charge_and_tells_it(stack: Stack) -> None:
    """A confirmed Pix charge: one effect at the provider, the summary before, feedback and code after."""
    await stack.whatsapp.send_text("maria", "gera um Pix de 150 reais pro João Silva")
    prompt = await stack.whatsapp.wait_prompt("maria", timeout_seconds=20)
    action = await stack.latest_action()
    assert prompt.text == action["summary"]
    assert await stack.charges() == 0
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await stack.charges() == 1
    await stack.whatsapp.wait_message("maria", contains="br.gov.bcb.pix")
