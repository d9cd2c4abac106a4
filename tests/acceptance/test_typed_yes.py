"""A typed yes, through real processes: exactly the words confirm, once, and nothing else does."""

import asyncio
import time
from typing import Any

from tests.harness.scenes import PIX, heard, model_calls, propose
from tests.harness.stack import Stack

BOOKING = (
    'tool create_booking {"customer":"João Silva","professional":"Bruno Reis","starts_at":"%s"}'
)
CONFIRMING = ["Sim.", "SIM!!", "ok"]
NOT_CONFIRMING = [
    "siiim",
    "pode mandar",
    "sim?",
    "ok?",
    "s-i-m",
    "sim mas muda pra 200",
    "sim, pode cancelar",
    "👍",
]
REMINDER = "toque em Confirmar ou Cancelar"


async def booking(stack: Stack, *, hour: int = 14) -> dict[str, Any]:
    """A pending action that a typed yes may confirm, its prompt delivered a second ago."""
    action = await propose(stack, "/" + BOOKING % f"2099-03-11T{hour:02}:00:00-03:00")
    await stack.whatsapp.wait_messages("maria", type="interactive", status="delivered")
    await stack.whatsapp.drain()
    return action


def later() -> int:
    """The next second of the channel's clock: a yes has to come strictly after the delivery."""
    return int(time.time()) + 1


async def no_new_proposal(stack: Stack) -> None:
    """Let the model ask back where it would else propose anew, which supersedes the action."""
    await stack.claude.script([{"type": "text", "text": "Duzentos?"}], contains="muda pra 200")


async def bookings(stack: Stack) -> int:
    """How many bookings our own agenda holds: the effect of these actions."""
    count: int = await stack.pool.fetchval("SELECT count(*) FROM bookings WHERE action_id <> ''")
    return count


async def test_the_exact_words_confirm_without_a_model_call(stack: Stack) -> None:
    """`Sim.`, `SIM!!` and `ok`: one effect each, by a typed decision that the action's workflow
    hears of at once; no model is called, no reminder is sent; delivered again, nothing more
    happens."""
    for n, word in enumerate(CONFIRMING):
        action = await booking(stack, hour=10 + n)
        calls = await model_calls(stack)
        before = time.monotonic()
        await stack.whatsapp.send_text("maria", word, timestamp=later())
        await stack.wait_status(action["id"], "executed")
        assert time.monotonic() - before < 4, "the sweeper rang, after five seconds"
        await stack.whatsapp.redeliver(times=2, concurrent=True)
        await stack.quiet()
        assert await bookings(stack) == n + 1
        assert await model_calls(stack) == calls
    sources = await stack.pool.fetch("SELECT source, verdict, followed FROM decisions")
    assert [tuple(row) for row in sources] == [("typed", "confirm", True)] * 3
    assert not any(REMINDER in text for text in await heard(stack))


async def test_what_is_nearly_a_yes_confirms_nothing_and_is_reminded_once(stack: Stack) -> None:
    """All of them, one after the other, to one action: each is answered by the model, one reminder
    in all, nothing decided; then the button does it."""
    action = await booking(stack)
    await no_new_proposal(stack)
    for text in NOT_CONFIRMING:
        calls = await model_calls(stack)
        await stack.whatsapp.send_text("maria", text, timestamp=later())
        await stack.quiet()
        assert (await stack.action(action["id"]))["status"] == "pending", text
        assert await model_calls(stack) > calls, text
    assert await stack.pool.fetchval("SELECT count(*) FROM decisions") == 0
    assert await bookings(stack) == 0
    assert sum(REMINDER in text for text in await heard(stack)) == 1
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{action['id']}")
    await stack.wait_status(action["id"], "executed")
    assert await bookings(stack) == 1


async def test_quoted_forwarded_spoken_or_too_early_is_no_yes(stack: Stack) -> None:
    """A quoted, a forwarded and a spoken yes, and one with the time of the prompt's delivery."""
    for kind in ("quoted", "forwarded", "voice", "early"):
        action = await booking(stack)
        (*_, prompt) = await stack.whatsapp.messages("maria", author="business")
        if kind == "voice":
            voice = {"type": "audio", "audio": {"id": "1", "mime_type": "audio/ogg", "voice": True}}
            await stack.whatsapp.send_raw("maria", {**voice, "timestamp": str(later())})
        else:
            at = await stack.pool.fetchval(
                "SELECT extract(epoch FROM delivered_at)::int FROM outbox WHERE key = $1",
                f"action:{action['id']}:prompt",
            )
            await stack.whatsapp.send_text(
                "maria",
                "sim",
                reply_to=prompt.wamid if kind == "quoted" else None,
                forwarded=kind == "forwarded",
                timestamp=at if kind == "early" else later(),
            )
        await stack.quiet()
        assert (await stack.action(action["id"]))["status"] == "pending", kind
        await stack.whatsapp.press("maria", "cancel")
        await stack.wait_status(action["id"], "cancelled")
        await stack.quiet()
    assert await bookings(stack) == 0
    assert sum(REMINDER in text for text in await heard(stack)) == 4


async def test_a_yes_after_another_question_goes_to_the_model(stack: Stack) -> None:
    """The agent asked something else meanwhile: the yes may be for that."""
    action = await booking(stack)
    await stack.claude.script([{"type": "text", "text": "Quer que eu avise?"}], contains="avisar")
    await stack.whatsapp.send_text("maria", "dá para avisar o João?", timestamp=later())
    await stack.whatsapp.wait_message("maria", contains="Quer que eu avise?")
    await stack.quiet()
    await stack.whatsapp.send_text("maria", "sim", timestamp=later() + 1)
    await stack.quiet()
    assert (await stack.action(action["id"]))["status"] == "pending"
    assert await bookings(stack) == 0


async def test_money_is_never_moved_by_a_word(stack: Stack) -> None:
    """The policy of money is `button`: the exact word brings the reminder, the button the Pix."""
    action = await propose(stack, PIX)
    await stack.whatsapp.drain()
    await stack.whatsapp.send_text("maria", "sim", timestamp=later())
    await stack.whatsapp.wait_message("maria", contains=REMINDER)
    await stack.quiet()
    assert (await stack.action(action["id"]))["status"] == "pending"
    assert await stack.charges() == 0
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await stack.charges() == 1


async def test_a_yes_to_an_action_whose_workflow_is_gone_starts_it_anew(stack: Stack) -> None:
    """Terminated by an operator, say: the turn starts it again, before the sweeper would ring."""
    action = await booking(stack)
    await stack.temporal.get_workflow_handle(f"action:{action['id']}").terminate("a test")
    before = time.monotonic()
    await stack.whatsapp.send_text("maria", "sim", timestamp=later())
    await stack.wait_status(action["id"], "executed")
    assert time.monotonic() - before < 4
    assert await bookings(stack) == 1


async def test_a_burst_that_begins_with_a_yes_goes_to_the_model(patient_stack: Stack) -> None:
    """`sim`, and `mas muda pra 200` within the burst: one turn of both, nothing decided; alone, the
    yes is followed when the burst is over."""
    action = await booking(patient_stack)
    await no_new_proposal(patient_stack)
    await patient_stack.whatsapp.send_text("maria", "sim", timestamp=later())
    await asyncio.sleep(0.5)
    await patient_stack.whatsapp.send_text("maria", "mas muda pra 200", timestamp=later())
    await patient_stack.quiet()
    assert (await patient_stack.action(action["id"]))["status"] == "pending"
    turn = await patient_stack.pool.fetch(
        "SELECT count(*) AS messages FROM inbox GROUP BY turn_id ORDER BY 1"
    )
    assert [row["messages"] for row in turn] == [1, 2]

    second = await booking(patient_stack, hour=15)
    assert (await patient_stack.action(action["id"]))["status"] == "superseded"
    await patient_stack.whatsapp.send_text("maria", "sim", timestamp=later())
    await patient_stack.wait_status(second["id"], "executed")
    assert await bookings(patient_stack) == 1
