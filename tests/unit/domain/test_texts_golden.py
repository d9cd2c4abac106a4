"""What people read, to the letter, in each language: the same cases in the same order."""

from dataclasses import dataclass
from datetime import date, datetime

import pytest

from domain.actions import CloseReason, Status, Verdict
from domain.inbound import InboundKind
from domain.payload import Frozen
from domain.texts import LANGUAGES, texts_for

TODAY = date(2026, 11, 30)  # a Monday
ACTION = "9b1c2d" + "0" * 26
CHARGE: Frozen = {
    "customer_name": "João Silva",
    "document": "52912345634",
    "amount_cents": 123456,
    "due_date": "2026-11-30",
    "description": None,
}
BOOKING: Frozen = {
    "customer_name": "Carlos Lima",
    "document": None,
    "professional_name": "Bruno Reis",
    "starts_at": "2026-12-01T17:00:00Z",
    "old_starts_at": "2026-11-30T12:30:00Z",
    "time_zone": "America/Sao_Paulo",
    "minutes": 60,
}
REFUND: Frozen = {
    **CHARGE,
    "charge_id": 701,
    "charge_amount_cents": 200000,
    "refunded_before_cents": 5000,
}
TRANSFER: Frozen = {"amount_cents": 123456, "recipient_name": "Conta Ipanema"}
EMAIL: Frozen = {**BOOKING, "old_email": "a@x.com", "email": "b@x.com"}
DAYS = ("2026-11-30", "2026-12-01", "2026-12-03", "2026-11-29")


@dataclass(frozen=True, kw_only=True)
class Golden:
    """The agreed words of one language."""

    prompt: str
    tomorrow: str
    days: tuple[str, str, str, str]
    summaries: tuple[str, str, str, str, str, str]
    done: tuple[str, str, str, str, str, str, str]
    closed: tuple[str, str, str, str]
    late: tuple[str, str]
    verifying: str
    picture: str
    markers: tuple[str, str, str, str]


PT_BR = Golden(
    prompt=(
        "Gerar cobrança Pix\nCliente: João Silva (CPF ***.123.456-**)\nValor: R$ 1.234,56\n"
        "Vencimento: hoje\nVálido até 14:32\n\nConfirma?"
    ),
    tomorrow="x\nVálido até 01:05 de 01/12\n\nConfirma?",
    days=("hoje", "amanhã (ter., 01/12)", "qui., 03/12/2026", "dom., 29/11/2026"),
    summaries=(
        "Marcar horário\nCliente: Carlos Lima\nProfissional: Bruno Reis\n"
        "Quando: amanhã (ter., 01/12) às 14:00\nDuração: 60 min",
        "Remarcar horário\nCliente: Carlos Lima\nProfissional: Bruno Reis\nDe: hoje às 09:30\n"
        "Para: amanhã (ter., 01/12) às 14:00\nDuração: 60 min",
        "Desmarcar horário\nCliente: Carlos Lima\nProfissional: Bruno Reis\n"
        "Quando: amanhã (ter., 01/12) às 14:00",
        "Estornar cobrança\nCobrança: nº 701, de R$ 2.000,00\nValor do estorno: R$ 1.234,56\n"
        "Já estornado antes: R$ 50,00\nCliente: João Silva (CPF ***.123.456-**)",
        "Transferir saldo\nValor: R$ 1.234,56\nDestino: Conta Ipanema (conta cadastrada)",
        "Atualizar e-mail\nCliente: Carlos Lima\nE-mail atual: a@x.com\nNovo e-mail: b@x.com",
    ),
    done=(
        "Cobrança de R$ 1.234,56 gerada para João Silva. Segue o código Pix para copiar e colar:",
        "Horário marcado: ter., 01/12/2026 às 14:00, com Bruno Reis. Cliente: Carlos Lima.",
        "Horário remarcado: ter., 01/12/2026 às 14:00, com Bruno Reis. Cliente: Carlos Lima.",
        "Horário desmarcado: ter., 01/12/2026 às 14:00, com Bruno Reis. Cliente: Carlos Lima.",
        "Estorno de R$ 1.234,56 da cobrança nº 701 feito. Cliente: João Silva.",
        "Transferência de R$ 1.234,56 feita. Destino: Conta Ipanema (conta cadastrada).",
        "E-mail atualizado para b@x.com. Cliente: Carlos Lima.",
    ),
    closed=(
        "Certo, cancelado. Nada foi feito.",
        "Esse pedido expirou e nada foi feito. Quer que eu refaça?",
        "Você confirmou, mas não a tempo; nada foi feito. Quer que eu refaça?",
        "Não é mais possível: esse horário já passou. Nada foi feito.",
    ),
    late=(
        "Já está feito: Pix (ref. 9b1c2d).",
        "Já foi executado, não dá mais para cancelar: Pix (ref. 9b1c2d).",
    ),
    verifying=(
        "Estamos verificando o resultado: Pix (ref. 9b1c2d). "
        "Não peça de novo; avisamos assim que soubermos."
    ),
    picture="Ainda não consigo ler imagens. Escreva em texto, por favor.",
    markers=(
        f"[Usuário clicou em Confirmar na ação {ACTION}]",
        f"[Usuário clicou em Cancelar na ação {ACTION}]",
        f"[Usuário confirmou por texto a ação {ACTION}]",
        f"[A equipe encerrou a ação {ACTION} como executada]",
    ),
)

EN = Golden(
    prompt=(
        "Create Pix charge\nCustomer: João Silva (CPF ***.123.456-**)\nAmount: R$ 1,234.56\n"
        "Due: today\nValid until 14:32\n\nDo you confirm?"
    ),
    tomorrow="x\nValid until 01:05 on Tue 1 Dec\n\nDo you confirm?",
    days=("today", "tomorrow (Tue 1 Dec)", "Thu 3 Dec 2026", "Sun 29 Nov 2026"),
    summaries=(
        "Book appointment\nCustomer: Carlos Lima\nWith: Bruno Reis\n"
        "When: tomorrow (Tue 1 Dec) at 14:00\nLength: 60 min",
        "Reschedule appointment\nCustomer: Carlos Lima\nWith: Bruno Reis\nFrom: today at 09:30\n"
        "To: tomorrow (Tue 1 Dec) at 14:00\nLength: 60 min",
        "Call off appointment\nCustomer: Carlos Lima\nWith: Bruno Reis\n"
        "When: tomorrow (Tue 1 Dec) at 14:00",
        "Refund charge\nCharge: no. 701, of R$ 2,000.00\nAmount to refund: R$ 1,234.56\n"
        "Refunded before: R$ 50.00\nCustomer: João Silva (CPF ***.123.456-**)",
        "Transfer balance\nAmount: R$ 1,234.56\nTo: Conta Ipanema (registered account)",
        "Update email address\nCustomer: Carlos Lima\nCurrent email: a@x.com\nNew email: b@x.com",
    ),
    done=(
        "Charge of R$ 1,234.56 created for João Silva. Here is the Pix code to copy and paste:",
        "Appointment booked: Tue 1 Dec 2026 at 14:00, with Bruno Reis. Customer: Carlos Lima.",
        "Appointment rescheduled: Tue 1 Dec 2026 at 14:00, with Bruno Reis. Customer: Carlos Lima.",
        "Appointment called off: Tue 1 Dec 2026 at 14:00, with Bruno Reis. Customer: Carlos Lima.",
        "Refunded R$ 1,234.56 of charge no. 701. Customer: João Silva.",
        "Transferred R$ 1,234.56. To: Conta Ipanema (registered account).",
        "Email address updated to b@x.com. Customer: Carlos Lima.",
    ),
    closed=(
        "Okay, request cancelled. Nothing was done.",
        "That request expired and nothing was done. Shall I prepare it again?",
        "You confirmed, but not in time; nothing was done. Shall I prepare it again?",
        "This is no longer possible: that time has already passed. Nothing was done.",
    ),
    late=(
        "Already done: Pix (ref. 9b1c2d).",
        "Already executed, it can no longer be cancelled: Pix (ref. 9b1c2d).",
    ),
    verifying=(
        "We are checking the outcome: Pix (ref. 9b1c2d). "
        "Please don't ask again; we will tell you as soon as we know."
    ),
    picture="I can't read pictures yet. Please write it as text.",
    markers=(
        f"[User pressed Confirm on action {ACTION}]",
        f"[User pressed Cancel on action {ACTION}]",
        f"[User confirmed action {ACTION} by text]",
        f"[The team settled action {ACTION} as executed]",
    ),
)

ES = Golden(
    prompt=(
        "Generar cobro Pix\nCliente: João Silva (CPF ***.123.456-**)\nMonto: R$ 1.234,56\n"
        "Vencimiento: hoy\nVálido hasta las 14:32\n\n¿Confirmas?"
    ),
    tomorrow="x\nVálido hasta la 01:05 del 01/12\n\n¿Confirmas?",
    days=("hoy", "mañana (mar. 01/12)", "jue. 03/12/2026", "dom. 29/11/2026"),
    summaries=(
        "Agendar cita\nCliente: Carlos Lima\nCon: Bruno Reis\n"
        "Cuándo: mañana (mar. 01/12) a las 14:00\nDuración: 60 min",
        "Reprogramar cita\nCliente: Carlos Lima\nCon: Bruno Reis\n"
        "Fecha actual: hoy a las 09:30\nFecha nueva: mañana (mar. 01/12) a las 14:00\n"
        "Duración: 60 min",
        "Anular cita\nCliente: Carlos Lima\nCon: Bruno Reis\n"
        "Cuándo: mañana (mar. 01/12) a las 14:00",
        "Reembolsar cobro\nCobro: n.º 701, de R$ 2.000,00\nMonto del reembolso: R$ 1.234,56\n"
        "Ya reembolsado antes: R$ 50,00\nCliente: João Silva (CPF ***.123.456-**)",
        "Transferir saldo\nMonto: R$ 1.234,56\nDestino: Conta Ipanema (cuenta registrada)",
        "Actualizar correo electrónico\nCliente: Carlos Lima\nCorreo actual: a@x.com\n"
        "Correo nuevo: b@x.com",
    ),
    done=(
        "Cobro de R$ 1.234,56 generado para João Silva. Este es el código Pix para copiar y pegar:",
        "Cita agendada: mar. 01/12/2026 a las 14:00, con Bruno Reis. Cliente: Carlos Lima.",
        "Cita reprogramada: mar. 01/12/2026 a las 14:00, con Bruno Reis. Cliente: Carlos Lima.",
        "Cita anulada: mar. 01/12/2026 a las 14:00, con Bruno Reis. Cliente: Carlos Lima.",
        "Reembolso de R$ 1.234,56 del cobro n.º 701 hecho. Cliente: João Silva.",
        "Transferencia de R$ 1.234,56 hecha. Destino: Conta Ipanema (cuenta registrada).",
        "Correo actualizado a b@x.com. Cliente: Carlos Lima.",
    ),
    closed=(
        "De acuerdo, solicitud cancelada. No se hizo nada.",
        "Esa solicitud venció y no se hizo nada. ¿Quieres que la prepare de nuevo?",
        "Confirmaste, pero no a tiempo; no se hizo nada. ¿Quieres que la prepare de nuevo?",
        "Ya no es posible: ese horario ya pasó. No se hizo nada.",
    ),
    late=(
        "Ya está hecho: Pix (ref. 9b1c2d).",
        "Ya se ejecutó, ya no se puede cancelar: Pix (ref. 9b1c2d).",
    ),
    verifying=(
        "Estamos verificando el resultado: Pix (ref. 9b1c2d). "
        "No lo pidas de nuevo; te avisamos en cuanto lo sepamos."
    ),
    picture="Todavía no puedo leer imágenes. Escríbelo en texto, por favor.",
    markers=(
        f"[El usuario tocó Confirmar en la acción {ACTION}]",
        f"[El usuario tocó Cancelar en la acción {ACTION}]",
        f"[El usuario confirmó por texto la acción {ACTION}]",
        f"[El equipo cerró la acción {ACTION} como ejecutada]",
    ),
)

GOLDEN = {"pt-BR": PT_BR, "en": EN, "es": ES}
each_language = pytest.mark.parametrize("language", LANGUAGES)


@each_language
def test_the_golden_prompt(language: str) -> None:
    """The payments prompt, to the letter; on another day the deadline names the day."""
    texts, golden = texts_for(language), GOLDEN[language]
    summary = texts.charge_summary(CHARGE, today=TODAY)
    afternoon, night = map(datetime.fromisoformat, ("2026-11-30T14:32", "2026-12-01T01:05"))
    assert texts.prompt_text(summary, afternoon, today=TODAY) == golden.prompt
    assert texts.prompt_text("x", night, today=TODAY) == golden.tomorrow


@each_language
def test_day_phrases(language: str) -> None:
    """Near days by word, tomorrow with its date, others in full; in English never by number."""
    texts = texts_for(language)
    said = tuple(texts.day_phrase(date.fromisoformat(day), today=TODAY) for day in DAYS)
    assert said == GOLDEN[language].days


@each_language
def test_summaries(language: str) -> None:
    """What is asked, with local times: 17:00 UTC is 14:00 in São Paulo."""
    texts = texts_for(language)
    assert GOLDEN[language].summaries == (
        texts.booking_summary(BOOKING, today=TODAY),
        texts.reschedule_summary(BOOKING, today=TODAY),
        texts.cancel_booking_summary(BOOKING, today=TODAY),
        texts.refund_summary(REFUND),
        texts.transfer_summary(TRANSFER),
        texts.email_summary(EMAIL),
    )


@each_language
def test_feedback(language: str) -> None:
    """What was done, with days in full: it is read again tomorrow."""
    texts = texts_for(language)
    assert GOLDEN[language].done == (
        texts.charge_done(CHARGE, {"pix_code": "00020126"})[0],
        texts.booking_done(BOOKING)[0],
        texts.reschedule_done(BOOKING)[0],
        texts.cancel_booking_done(BOOKING)[0],
        texts.refund_done(REFUND)[0],
        texts.transfer_done(TRANSFER)[0],
        texts.email_done(EMAIL)[0],
    )


@each_language
def test_endings(language: str) -> None:
    """What is said when nothing was done, when a click comes late, when nobody knows yet, and of a
    picture."""
    texts, golden = texts_for(language), GOLDEN[language]
    assert golden.closed == (
        texts.closed(CloseReason.CANCELLED_BY_PERSON),
        texts.closed(CloseReason.EXPIRED),
        texts.closed(CloseReason.CONFIRMED_TOO_LATE),
        texts.closed(CloseReason.NO_LONGER_POSSIBLE, detail=f"{texts.slot_past()}."),
    )
    assert golden.late == (
        texts.late_confirm(Status.EXECUTED, summary="Pix\nx", action_id=ACTION),
        texts.late_cancel(Status.EXECUTED, summary="Pix\nx", action_id=ACTION),
    )
    assert golden.verifying == texts.verifying(summary="Pix\nx", action_id=ACTION)
    assert golden.picture == texts.unsupported_input(InboundKind.IMAGE)


@each_language
def test_markers(language: str) -> None:
    """The lines that the model reads about what a person or the team did."""
    texts = texts_for(language)
    assert GOLDEN[language].markers == (
        texts.event_confirmed(ACTION),
        texts.event_cancelled(ACTION),
        texts.event_typed_yes(ACTION),
        texts.event_operator(ACTION, verdict=Verdict.EXECUTED),
    )


def test_an_appointment_is_never_cancelled_by_the_word_on_the_button() -> None:
    """Below a button that says Cancel, a request to cancel an appointment could be read either way;
    and what pressing it ends is called the request."""
    for language, stem in (("en", "cancel"), ("es", "cancel"), ("pt-BR", "cancel")):
        texts = texts_for(language)
        assert stem in texts.cancel_title.lower()
        assert stem not in texts.cancel_booking_summary(BOOKING, today=TODAY).lower()
        assert stem not in texts.cancel_booking_done(BOOKING)[0].lower()
