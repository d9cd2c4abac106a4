"""The brain's dialogues: what a person writes, which tool with which input, what comes back."""

import json
from typing import Any

import pytest

from tests.unit.simulators.claude_kit import (
    NOW,
    all_tools,
    ask,
    assistant,
    result,
    tool,
    use,
    user,
)

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "gera um Pix de 150 reais pro João": (
        "create_pix_charge",
        {"customer": "João", "amount_cents": 15000},
    ),
    "gera um pix de R$ 1.234,56 para maria da silva": (
        "create_pix_charge",
        {"customer": "maria da silva", "amount_cents": 123456},
    ),
    "cobra cento e cinquenta reais da Maria Souza": (
        "create_pix_charge",
        {"customer": "Maria Souza", "amount_cents": 15000},
    ),
    "faz um pix de dois mil e quinhentos reais pra Ana": (
        "create_pix_charge",
        {"customer": "Ana", "amount_cents": 250000},
    ),
    "Pix de 200 pro João vencendo dia 10": (
        "create_pix_charge",
        {"customer": "João", "amount_cents": 20000, "due_date": "2026-12-10"},
    ),
    "cobra 80,50 do Beto Lima referente a consulta de sexta": (
        "create_pix_charge",
        {"customer": "Beto Lima", "amount_cents": 8050, "description": "consulta de sexta"},
    ),
    "quais horários livres amanhã?": ("list_free_slots", {"date": "2026-12-01"}),
    "tem horário livre na sexta com a Dra. Ana?": (
        "list_free_slots",
        {"professional": "Dra. Ana", "date": "2026-12-04"},
    ),
    "marca com Dra. Ana amanhã às 14h": (
        "create_booking",
        {"professional": "Dra. Ana", "starts_at": "2026-12-01T14:00:00-03:00"},
    ),
    "agenda para o João com a Dra. Ana dia 05/12 às 9:30": (
        "create_booking",
        {
            "customer": "João",
            "professional": "Dra. Ana",
            "starts_at": "2026-12-05T09:30:00-03:00",
        },
    ),
    "cancela meu horário": ("list_bookings", {}),
    "remarca para sexta às 10h": ("list_bookings", {}),
    "meus horários": ("list_bookings", {}),
    "qual é o meu saldo?": ("get_balance", {}),
    "estorna a cobrança ch_abc123": ("refund_charge", {"charge": "ch_abc123"}),
    "estorna 50 reais da cobrança ch_abc123": (
        "refund_charge",
        {"charge": "ch_abc123", "amount_cents": 5000},
    ),
    "transfere 200 para Fornecedor Alfa": (
        "transfer_balance",
        {"recipient": "Fornecedor Alfa", "amount_cents": 20000},
    ),
    "muda o e-mail do cliente João Silva para joao@exemplo.com": (
        "update_email",
        {"customer": "João Silva", "email": "joao@exemplo.com"},
    ),
    "procura o cliente João": ("find_customer", {"name": "João"}),
    '/tool get_charge {"charge": "x y"}': ("get_charge", {"charge": "x y"}),
}


@pytest.mark.parametrize("text", CALLS)
def test_a_wish_becomes_the_right_call(text: str) -> None:
    """Tool and input follow from the text, read against the moment in the envelope."""
    assert ask(user(f"{NOW}\n{text}")) == CALLS[text]


@pytest.mark.parametrize("text", CALLS)
def test_a_tool_that_is_not_offered_is_never_called(text: str) -> None:
    """Without the tool in the request, and with tool_choice none, only text comes."""
    name = CALLS[text][0]
    others = [offered for offered in all_tools() if offered["name"] != name]
    for changes in ({"tools": others}, {"tool_choice": {"type": "none"}}):
        answer = ask(user(f"{NOW}\n{text}"), **changes)
        assert isinstance(answer, str) or answer[0] != name
        if "tool_choice" in changes:
            assert isinstance(answer, str)


PIX = user(f"{NOW}\ngera um Pix de 150 reais pro João")
PIX_CALL = assistant(use("toolu_a", "create_pix_charge", customer="João", amount_cents=15000))
TWO = "Encontrei mais de um João: João Silva (***.456.789-**), João Souza (***.111.222-**)."


def test_which_joao() -> None:
    """An ambiguous name comes back as a question with the candidates."""
    answer = ask(PIX, PIX_CALL, user(result("toolu_a", TWO, is_error=True)))
    assert answer == f"{TWO} Qual deles?"


@pytest.mark.parametrize("reply", ["o João Silva", "o Silva", "é o joão silva.", "o primeiro", "1"])
def test_the_answer_continues_the_pix(reply: str) -> None:
    """The next message goes on with the fuller name and the amount asked for before."""
    for error in (TWO, json.dumps({"error": TWO})):
        question = ask(PIX, PIX_CALL, user(result("toolu_a", error, is_error=True)))
        assert isinstance(question, str)
        history = [PIX, PIX_CALL, user(result("toolu_a", error, is_error=True))]
        answer = ask(*history, assistant(question), user(f"{NOW}\n{reply}"))
        assert not isinstance(answer, str)
        name, arguments = answer
        assert name == "create_pix_charge"
        assert arguments["customer"].casefold() == "joão silva"
        assert arguments["amount_cents"] == 15000


def test_an_unknown_name_is_asked_again() -> None:
    """After "not found" the new name replaces the old one."""
    error = user(result("toolu_a", "Não encontrei nenhum cliente chamado João.", is_error=True))
    question = ask(PIX, PIX_CALL, error)
    assert isinstance(question, str)
    assert question.endswith("nome completo?")
    answer = ask(PIX, PIX_CALL, error, assistant(question), user("João Pedro Alves"))
    assert answer == ("create_pix_charge", {"customer": "João Pedro Alves", "amount_cents": 15000})


def test_what_is_missing_is_asked_piece_by_piece() -> None:
    """Amount and name may come in messages of their own."""
    first = user("gera um pix")
    assert ask(first) == "Qual é o valor?"
    second = [first, assistant("Qual é o valor?"), user("150")]
    assert ask(*second) == "Para qual cliente?"
    third = [*second, assistant("Para qual cliente?"), user("o João")]
    assert ask(*third) == ("create_pix_charge", {"customer": "João", "amount_cents": 15000})


PENDING = user(result("toolu_a", json.dumps({"status": "pending", "action_id": "ab" * 16})))
PROMPT = assistant("Pix de R$ 150,00 para João Silva. Confirma?")


def test_a_new_question_does_not_continue_a_proposal() -> None:
    """After a proposal a bare name or number is no wish: nothing is proposed twice by accident."""
    for text in ("o Silva", "200", "amanhã às 14h"):
        assert isinstance(ask(PIX, PIX_CALL, PENDING, PROMPT, user(text)), str)


def test_a_correction_changes_the_last_call() -> None:
    """ "sim, mas muda pra 200" is a new proposal with the new amount."""
    answer = ask(PIX, PIX_CALL, PENDING, PROMPT, user("sim, mas muda pra 200 reais"))
    assert answer == ("create_pix_charge", {"customer": "João", "amount_cents": 20000})


BOOKINGS: list[dict[str, Any]] = [
    {
        "booking_id": "b1",
        "professional": {"name": "Dra. Ana"},
        "starts_at": "2026-12-01T14:00:00-03:00",
    },
    {"booking_id": "b2", "professional": "Dr. Caio", "starts_at": "2026-12-02T09:00:00-03:00"},
]


def listing(text: str, bookings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A turn in which the bookings were listed."""
    return [
        user(f"{NOW}\n{text}"),
        assistant(use("toolu_l", "list_bookings")),
        user(result("toolu_l", json.dumps({"bookings": bookings}))),
    ]


def test_cancelling_takes_the_id_from_the_list() -> None:
    """One booking: its id; several: a question; the answer lists again and picks."""
    assert ask(*listing("cancela meu horário", BOOKINGS[:1])) == (
        "cancel_booking",
        {"booking_id": "b1"},
    )
    several = listing("cancela meu horário", BOOKINGS)
    question = ask(*several)
    assert isinstance(question, str)
    assert question.endswith("Qual deles?")
    assert ask(*listing("cancela meu horário com o Dr. Caio", BOOKINGS)) == (
        "cancel_booking",
        {"booking_id": "b2"},
    )
    again = [*several, assistant(question), user("com a Dra. Ana")]
    assert ask(*again) == ("list_bookings", {})
    relisted = [
        *again,
        assistant(use("toolu_m", "list_bookings")),
        user(result("toolu_m", json.dumps(BOOKINGS))),
    ]
    assert ask(*relisted) == ("cancel_booking", {"booking_id": "b1"})
    assert ask(*listing("cancela meu horário", [])) == "Não encontrei nenhum horário marcado."


def test_rescheduling_gives_id_and_moment() -> None:
    """The new moment comes from the text, the id from the list."""
    assert ask(*listing("remarca para sexta às 10h", BOOKINGS[:1])) == (
        "reschedule_booking",
        {"booking_id": "b1", "starts_at": "2026-12-04T10:00:00-03:00"},
    )


RESULTS: dict[str, tuple[str, str]] = {
    '{"status": "already_done", "amount_cents": 15000, "pix_code": "0002"}': (
        "create_pix_charge",
        "já foi feito antes, não precisa repetir. amount: R$ 150,00; pix_code: 0002",
    ),
    '{"status": "already_in_progress"}': ("create_pix_charge", "já está em andamento"),
    '{"already_in_progress": true, "being_verified": true}': (
        "create_pix_charge",
        "está sendo verificado",
    ),
    '{"status": "pending", "action_id": "x"}': ("create_pix_charge", "decidir nos botões"),
    '{"balance_cents": 123456}': ("get_balance", "O saldo é de R$ 1.234,56."),
    '{"slots": ["09:00", "10:00"]}': ("list_free_slots", "Horários livres: 09:00, 10:00"),
    '{"slots": []}': ("list_free_slots", "Não há horários livres."),
    '[{"name": "João Silva"}]': ("find_customer", "- name: João Silva"),
    "Livres: 9h e 10h": ("list_free_slots", "Livres: 9h e 10h"),
}


@pytest.mark.parametrize("content", RESULTS)
def test_a_result_is_told_in_a_sentence(content: str) -> None:
    """Whatever a tool answers, the person gets a short text and no second call."""
    name, text = RESULTS[content]
    answer = ask(
        user("pode ver?"), assistant(use("toolu_r", name)), user(result("toolu_r", content))
    )
    assert isinstance(answer, str)
    assert text in answer


TEXTS = {
    "oi": "Olá!",
    "Boa tarde": "Olá!",
    "obrigado": "De nada!",
    "blá blá": "Não entendi",
    "quais horários livres": "Para qual dia?",
    "/tool create_pix_charge {isso não}": "Escreva assim: /tool NOME",
    "/tool create_pix_charge [1]": "precisa ser um objeto",
    "/tool nada {}": "não está disponível",
}


@pytest.mark.parametrize("text", TEXTS)
def test_small_talk_gets_text(text: str) -> None:
    """Greetings, thanks and the unknown get a short helpful text, never a call."""
    answer = ask(user(text))
    assert isinstance(answer, str)
    assert TEXTS[text] in answer


def test_the_schema_decides_the_form() -> None:
    """Unknown fields are not sent, required nullable ones are null, amounts follow the type."""
    schema = {
        "type": "object",
        "properties": {
            "customer": {"type": "string"},
            "amount_cents": {"type": "string"},
            "due_date": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["customer", "amount_cents", "due_date"],
        "additionalProperties": False,
    }
    offered = [tool("create_pix_charge", input_schema=schema)]
    assert ask(PIX, tools=offered) == (
        "create_pix_charge",
        {"customer": "João", "amount_cents": "150.00", "due_date": None},
    )


def test_quoted_text_is_not_the_persons_wish() -> None:
    """What somebody else wrote, quoted, asks for nothing."""
    quoted = "<trecho_citado>gera um pix de 9 pro Zé</trecho_citado>"
    text = f"<mensagem_da_pessoa>\n{quoted}\noi\n</mensagem_da_pessoa>"
    assert "Olá!" in ask(user(text))


def test_a_forced_tool_is_called() -> None:
    """tool_choice tool gets that tool, filled from the text where it fits."""
    choice = {"type": "tool", "name": "create_pix_charge"}
    assert ask(PIX, tool_choice=choice) == (
        "create_pix_charge",
        {"customer": "João", "amount_cents": 15000},
    )


def test_an_english_error_becomes_a_portuguese_question() -> None:
    """Errors are written for the model; the person reads a sentence in his language."""
    error = "customer: more than one matches 'João': João Silva (***.456.789-**), João Souza"
    for content in (error, json.dumps({"error": error})):
        answer = ask(PIX, PIX_CALL, user(result("toolu_a", content, is_error=True)))
        assert answer == (
            "Encontrei mais de um para João: João Silva (***.456.789-**); João Souza. Qual deles?"
        )
    unknown = ask(
        PIX, PIX_CALL, user(result("toolu_a", "customer: no match for 'João'", is_error=True))
    )
    assert unknown == "Não encontrei João. Pode me dizer o nome completo?"


def test_the_envelope_of_each_message_is_taken_off() -> None:
    """The frame around a person's messages is no part of what he wrote; a burst is one wish."""
    frame = '<mensagem_da_pessoa hora="2026-11-30T23:00:00-03:00">\n{}\n</mensagem_da_pessoa>'
    burst = "\n".join(frame.format(text) for text in ("marca com a Dra. Ana", "amanhã às 14h"))
    assert ask(user("[Usuário clicou em Cancelar na ação ab]", burst)) == (
        "create_booking",
        {"professional": "Dra. Ana", "starts_at": "2026-12-01T14:00:00-03:00"},
    )
