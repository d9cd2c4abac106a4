"""The model proposes: nothing happens by it alone, and what is shown is what is stored."""

from tests.harness.scenes import ask, heard, model_calls, prompts, propose
from tests.harness.stack import Stack


async def test_a_read_is_answered_at_once_without_action(stack: Stack) -> None:
    """A read tool → answered at once, no action, nothing to press."""
    answer = await ask(stack, "qual é o meu saldo?")
    assert "1.000,00" in answer
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 0
    assert await prompts(stack, "maria") == []


async def test_a_critical_tool_executes_nothing_and_asks(stack: Stack) -> None:
    """A critical tool → nothing executed; the system sends exactly the stored summary with the two
    buttons; the model is not called again in that turn."""
    action = await propose(stack)
    await stack.pool.fetchval("SELECT 1")
    await stack.whatsapp.drain()
    (prompt,) = await prompts(stack, "maria")
    assert prompt.text == action["summary"]
    assert [button.id for button in prompt.buttons] == [
        f"pa:confirm:{action['id']}",
        f"pa:cancel:{action['id']}",
    ]
    assert [button.title for button in prompt.buttons] == ["Confirmar", "Cancelar"]
    assert await stack.charges() == 0
    assert await model_calls(stack) == 1
    assert await heard(stack) == []


async def test_the_golden_text(stack: Stack) -> None:
    """The summary of the article's example, line by line."""
    action = await propose(stack)
    lines = action["summary"].split("\n")
    assert lines[:4] == [
        "Gerar cobrança Pix",
        "Cliente: João Silva (CPF ***.123.456-**)",
        "Valor: R$ 150,00",
        "Vencimento: hoje",
    ]
    assert lines[4].startswith("Válido até ")
    assert lines[5:] == ["", "Confirma?"]


async def test_a_new_proposal_supersedes_and_the_old_button_does_nothing(stack: Stack) -> None:
    """A newer proposal takes the place of the open one; its old button executes nothing."""
    old = await propose(stack)
    new = await propose(stack, "gera um Pix de 80 reais pro João Silva")
    assert (await stack.action(old["id"]))["status"] == "superseded"
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{old['id']}")
    await stack.whatsapp.wait_message("maria", contains="substituído")
    assert await stack.charges() == 0
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{new['id']}")
    await stack.wait_status(new["id"], "executed")
    assert (await stack.payments.counters())["effects_by_key"] == {new["id"]: 1}


async def test_a_stored_decision_is_not_passed_over_by_a_new_proposal(stack: Stack) -> None:
    """A Confirm that is stored while a newer proposal is being made is followed first."""
    old = await propose(stack)
    await stack.stop_worker()
    await stack.whatsapp.send_text("maria", "gera um Pix de 80 reais pro João Silva")
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{old['id']}")
    await stack.start_worker()
    await stack.wait_status(old["id"], "executed", seconds=25)
    await stack.whatsapp.wait_messages("maria", type="interactive", count=2, timeout_seconds=25)
    new = await stack.latest_action()
    assert new["id"] != old["id"]
    assert (await stack.payments.counters())["effects_by_key"] == {old["id"]: 1}
    assert (await stack.action(new["id"]))["status"] == "pending"


async def test_joao_matches_two_and_the_model_asks(stack: Stack) -> None:
    """An ambiguous name → `is_error`, the model asks; nothing is proposed."""
    answer = await ask(stack, "gera um Pix de 150 reais pro João")
    assert "João Silva" in answer
    assert "João Souza" in answer
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 0
    action = await propose(stack, "o João Silva")
    assert "João Silva" in action["summary"]


async def test_nobody_of_that_name_and_the_model_says_so(stack: Stack) -> None:
    """An unknown name → `is_error`, the model asks; nothing is proposed."""
    await ask(stack, "gera um Pix de 150 reais pro Astrogildo")
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 0
    results = await stack.pool.fetchval("SELECT content FROM history WHERE kind = 'tool_results'")
    assert results["results"][0]["is_error"] is True


async def test_a_failed_prepare_leaves_the_open_action_alone(stack: Stack) -> None:
    """*prepare* may fail without changing anything: the open action still waits for its click."""
    action = await propose(stack)
    await ask(stack, "gera um Pix de 70 reais pro Astrogildo")
    assert (await stack.action(action["id"]))["status"] == "pending"
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    assert await stack.charges() == 1


def _use(name: str, **data: object) -> dict[str, object]:
    return {"type": "tool_use", "name": name, "input": data}


async def test_two_effects_in_one_answer_and_one_is_proposed(stack: Stack) -> None:
    """Two effects in one answer → one is proposed, the other gets an error; a read beside them is
    answered; text beside them is not shown."""
    await stack.claude.script(
        [
            {"type": "text", "text": "Pronto, gerei os dois!"},
            _use("get_balance"),
            _use("create_pix_charge", customer="João Silva", amount_cents=15000),
            _use("create_pix_charge", customer="João Silva", amount_cents=20000),
        ],
        stop_reason="tool_use",
        contains="dois Pix",
    )
    action = await propose(stack, "gera dois Pix pro João Silva")
    assert action["payload"]["amount_cents"] == 15000
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 1
    assert await heard(stack) == []
    content = await stack.pool.fetchval("SELECT content FROM history WHERE kind = 'tool_results'")
    read, first, second = content["results"]
    assert not read["is_error"]
    assert first["content"]["action_id"] == action["id"]
    assert second["is_error"]


async def test_a_cut_tool_input_proposes_nothing(stack: Stack) -> None:
    """A tool input cut at max_tokens (15000 → 15) proposes nothing: a call counts only if the model
    stopped for it."""
    await stack.claude.fault("cut_input", contains="Pix de 150")
    action = await propose(stack)
    assert action["payload"]["amount_cents"] == 15000
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 1
    assert await model_calls(stack) == 2


async def test_the_model_asks_again_for_a_booking_that_exists(stack: Stack) -> None:
    """An equal booking is not made twice: `already_done` with its data, and the person is told;
    after a cancellation the same slot can be booked again."""
    wanted = (
        'tool create_booking {"customer":"João Silva","professional":"Bruno Reis","starts_at":"%s"}'
    )
    text = "/" + wanted % "2099-03-11T14:00:00-03:00"
    first = await propose(stack, text)
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(first["id"], "executed")
    await stack.quiet()

    answer = await ask(stack, "/" + wanted % "2099-03-11 14:00")
    assert await _bookings(stack) == 1
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 1
    results = await stack.pool.fetch(
        "SELECT content FROM history WHERE kind = 'tool_results' ORDER BY position"
    )
    assert results[-1]["content"]["results"][0]["content"]["already_done"] is True
    assert answer

    booking = await stack.pool.fetchval("SELECT id FROM bookings")
    cancel = await propose(stack, f'/tool cancel_booking {{"booking_id": {booking}}}')
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{cancel['id']}")
    await stack.wait_status(cancel["id"], "executed")
    again = await propose(stack, text)
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{again['id']}")
    await stack.wait_status(again["id"], "executed")
    assert await _bookings(stack) == 1


async def test_overlapping_slots_are_refused(stack: Stack) -> None:
    """A slot that overlaps another booking of the professional cannot be booked, whoever asks."""
    first = await propose(
        stack,
        '/tool create_booking {"customer":"João Silva","professional":"Dra. Ana Torres",'
        '"starts_at":"2099-03-11T14:00:00-03:00"}',
    )
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(first["id"], "executed")
    await ask(
        stack,
        '/tool create_booking {"customer":"Carlos Lima","professional":"Dra. Ana Torres",'
        '"starts_at":"2099-03-11T14:30:00-03:00"}',
    )
    assert await stack.pool.fetchval("SELECT count(*) FROM actions") == 1
    assert await _bookings(stack) == 1


async def _bookings(stack: Stack) -> int:
    count: int = await stack.pool.fetchval(
        "SELECT count(*) FROM bookings WHERE cancelled_at IS NULL"
    )
    return count
