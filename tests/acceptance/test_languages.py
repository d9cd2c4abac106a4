"""An account in English and one in Spanish, through real processes: what people read, press and
type is of their account's language, and another language's yes decides nothing."""

import json
import re
import time
from dataclasses import dataclass

import pytest

from llm.prompt import load_prompt
from tests.harness.scenes import ask, heard, model_calls, prompts, propose
from tests.harness.stack import Stack

PIX = '/tool create_pix_charge {"customer":"João Silva","amount_cents":123456}'
BOOKING = (
    '/tool create_booking {"customer":"João Silva","professional":"Bruno Reis",'
    '"starts_at":"2099-03-11T%02d:00:00-03:00"}'
)


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a person of such an account reads, and types."""

    language: str
    buttons: list[str]
    prompt: str
    done: str
    click: str
    booked: str
    booking: str
    yes: str
    no_yes: list[str]
    reminder: str
    cancelled: str
    late: str
    voice: str
    not_found: str
    balance: str


EN = Words(
    language="en",
    buttons=["Confirm", "Cancel"],
    prompt=(
        r"Create Pix charge\nCustomer: João Silva \(CPF \*\*\*\.123\.456-\*\*\)\n"
        r"Amount: R\$ 1,234\.56\nDue: today\nValid until \d\d:\d\d(?: on \w{3} \d+ \w{3})?\n\n"
        r"Do you confirm\?"
    ),
    done="Charge of R$ 1,234.56 created for João Silva. Here is the Pix code to copy and paste:",
    click="[User pressed Confirm on action ",
    booking="When: Wed 11 Mar 2099 at 10:00",
    booked="Appointment booked: Wed 11 Mar 2099 at 10:00, with Bruno Reis.",
    yes="Yes.",
    no_yes=["sim", "sí", "yes?"],
    reminder="tap Confirm or Cancel",
    cancelled="Okay, request cancelled. Nothing was done.",
    late="This request was already cancelled and nothing was done: Book appointment (ref. ",
    voice="I can't read audio messages yet. Please write it as text.",
    not_found="I did not find the customer 'Nobody'.",
    balance="R$ 1,000.00",
)

ES = Words(
    language="es",
    buttons=["Confirmar", "Cancelar"],
    prompt=(
        r"Generar cobro Pix\nCliente: João Silva \(CPF \*\*\*\.123\.456-\*\*\)\n"
        r"Monto: R\$ 1\.234,56\nVencimiento: hoy\n"
        r"Válido hasta las? \d\d:\d\d(?: del \d\d/\d\d)?\n\n¿Confirmas\?"
    ),
    done=(
        "Cobro de R$ 1.234,56 generado para João Silva. Este es el código Pix para copiar y pegar:"
    ),
    click="[El usuario tocó Confirmar en la acción ",
    booking="Cuándo: mié. 11/03/2099 a las 10:00",
    booked="Cita agendada: mié. 11/03/2099 a las 10:00, con Bruno Reis.",
    yes="Sí!",
    no_yes=["sim", "yes", "¡Sí!"],
    reminder="toca Confirmar o Cancelar",
    cancelled="De acuerdo, solicitud cancelada. No se hizo nada.",
    late="Esta solicitud ya estaba cancelada y no se hizo nada: Agendar cita (ref. ",
    voice="Todavía no puedo leer mensajes de audio. Escríbelo en texto, por favor.",
    not_found="No encontré al cliente 'Nobody'.",
    balance="R$ 1.000,00",
)

each_language = pytest.mark.parametrize("words", [EN, ES], ids=lambda words: words.language)


async def speaking(stack: Stack, words: Words) -> None:
    """Let the account be one of this language."""
    await stack.pool.execute("UPDATE accounts SET language = $1", words.language)


def later() -> int:
    """The next second of the channel's clock: a yes has to come strictly after the delivery."""
    return int(time.time()) + 1


@each_language
async def test_a_charge_from_the_prompt_to_the_feedback(stack: Stack, words: Words) -> None:
    """Proposal, prompt with that language's buttons, a press, the feedback: all in it; the model
    has its prompt, and reads afterwards what was pressed and what the ledger says in it."""
    await speaking(stack, words)
    action = await propose(stack, PIX)
    (prompt,) = await prompts(stack, "maria")
    assert re.fullmatch(words.prompt, prompt.text)
    assert [button.title for button in prompt.buttons] == words.buttons
    await stack.whatsapp.press("maria", "confirm")
    await stack.wait_status(action["id"], "executed")
    await stack.quiet()
    first, code = await heard(stack)
    assert first == words.done
    assert code.startswith("000201")
    assert await stack.charges() == 1

    await ask(stack, "/tool get_balance {}")
    asked = await stack.claude.journal()
    shipped = load_prompt(None, language=words.language)
    name = "Estúdio Ipanema"
    assert asked[0]["system"][0]["text"] == shipped.replace("{business_name}", name)
    read = json.dumps(asked[-1], ensure_ascii=False)
    assert f"{words.click}{action['id']}]" in read
    assert words.balance in read
    assert "Usuário" not in read


@each_language
async def test_the_exact_yes_of_the_language_confirms_and_no_other(
    stack: Stack, words: Words
) -> None:
    """Another language's yes and a yes with a sign more go to the model, with one reminder; the
    exact word books, without a model call."""
    await speaking(stack, words)
    action = await propose(stack, BOOKING % 10)
    await stack.whatsapp.wait_messages("maria", type="interactive", status="delivered")
    await stack.whatsapp.drain()
    for text in words.no_yes:
        await stack.whatsapp.send_text("maria", text, timestamp=later())
        await stack.quiet()
        assert (await stack.action(action["id"]))["status"] == "pending", text
    assert await stack.pool.fetchval("SELECT count(*) FROM decisions") == 0
    assert sum(words.reminder in text for text in await heard(stack)) == 1
    await stack.whatsapp.press("maria", "cancel")
    await stack.wait_status(action["id"], "cancelled")
    await stack.quiet()

    second = await propose(stack, BOOKING % 10)
    (*_, prompt) = await prompts(stack, "maria")
    assert words.booking in prompt.text.splitlines()
    await stack.whatsapp.wait_messages("maria", type="interactive", status="delivered", count=2)
    await stack.whatsapp.drain()
    calls = await model_calls(stack)
    await stack.whatsapp.send_text("maria", words.yes, timestamp=later())
    await stack.wait_status(second["id"], "executed")
    await stack.quiet()
    assert await model_calls(stack) == calls
    assert (await heard(stack))[-1].startswith(words.booked)
    sources = await stack.pool.fetch("SELECT source FROM decisions ORDER BY received_at")
    assert [row["source"] for row in sources] == ["button", "typed"]


@each_language
async def test_an_ending_a_late_click_a_voice_and_a_question(stack: Stack, words: Words) -> None:
    """Cancelled, pressed again, spoken, and asked for somebody who is not there: each answered in
    the language."""
    await speaking(stack, words)
    action = await propose(stack, BOOKING % 11)
    await stack.whatsapp.press("maria", "cancel")
    await stack.wait_status(action["id"], "cancelled")
    await stack.quiet()
    await stack.whatsapp.press("maria", button_id=f"pa:cancel:{action['id']}")
    await stack.whatsapp.wait_message("maria", contains=words.late)
    voice = {"type": "audio", "audio": {"id": "1", "mime_type": "audio/ogg", "voice": True}}
    await stack.whatsapp.send_raw("maria", voice)
    await stack.quiet()
    cancelled, late, spoken = await heard(stack)
    assert (cancelled, spoken) == (words.cancelled, words.voice)
    assert late == f"{words.late}{action['id'][:6]})."
    await ask(stack, PIX.replace("João Silva", "Nobody"))
    (asked,) = (await stack.claude.journal())[-1:]
    assert words.not_found in json.dumps(asked, ensure_ascii=False)
