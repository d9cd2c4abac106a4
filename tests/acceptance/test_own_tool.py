"""A tool from the operator's own package, as the README shows it: proposed, decided, done once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from tests.harness.databases import Databases
from tests.harness.stack import Stack, running_stack

EXAMPLES = Path(__file__).parents[2] / "examples"
TABLE = "CREATE TABLE notes (action_id text, note text)"
"""Without a constraint, so that a second effect would be seen and not refused by the table."""
WORDS = "Comprar café na sexta"
COMMAND = f'/tool leave_note {{"text": "{WORDS}"}}'


@pytest_asyncio.fixture(loop_scope="session")
async def shop(databases: Databases, temporal_env: WorkflowEnvironment) -> AsyncIterator[Stack]:
    """The system with the example's tool beside a bundled module, and the example's table."""
    tools = "tools.customers,myshop.tools"
    async with running_stack(databases, temporal_env, tools=tools, path=str(EXAMPLES)) as stack:
        await stack.pool.execute(TABLE)
        yield stack


async def notes(shop: Stack) -> list[tuple[str, str]]:
    """The effects, counted in the tool's own table."""
    rows = await shop.pool.fetch("SELECT action_id, note FROM notes")
    return [(row["action_id"], row["note"]) for row in rows]


async def test_own_tool_acts_once_and_only_after_confirm(shop: Stack) -> None:
    """Nothing before the click; then one effect under the action's id and one feedback, though the
    button is pressed twice and a press is delivered again."""
    await shop.whatsapp.send_text("maria", COMMAND)
    prompt = await shop.whatsapp.wait_prompt("maria", timeout_seconds=20)
    action = await shop.latest_action()
    assert prompt.text == action["summary"]
    assert f"Texto: {WORDS}" in prompt.text
    assert await notes(shop) == []

    await shop.whatsapp.press("maria", "confirm")
    await shop.whatsapp.press("maria", "confirm")
    await shop.whatsapp.redeliver()
    await shop.wait_status(action["id"], "executed")
    await shop.whatsapp.wait_message("maria", contains="Recado deixado.")
    await shop.quiet()

    assert await notes(shop) == [(action["id"], WORDS)]
    said = [one.text for one in await shop.whatsapp.messages("maria")]
    assert said.count("Recado deixado.") == 1


async def test_own_tool_does_nothing_after_cancel(shop: Stack) -> None:
    """A cancelled action of an own tool leaves no trace in its table."""
    await shop.whatsapp.send_text("maria", COMMAND)
    await shop.whatsapp.wait_prompt("maria", timeout_seconds=20)
    action = await shop.latest_action()
    await shop.whatsapp.press("maria", "cancel")
    await shop.wait_status(action["id"], "cancelled")
    await shop.quiet()

    assert await notes(shop) == []
