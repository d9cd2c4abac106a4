"""What the brain says of actions: it reads the facts that came with the request, nothing else."""

import json

import pytest

from tests.unit.simulators.claude_kit import NOW, ask, assistant, result, system, use, user

PIX = user(f"{NOW}\ngera um Pix de 150 reais pro João")
PIX_CALL = assistant(use("toolu_a", "create_pix_charge", customer="João", amount_cents=15000))
PENDING = user(result("toolu_a", json.dumps({"status": "pending", "action_id": "ab" * 16})))
PROMPT = assistant("Pix de R$ 150,00 para João Silva. Confirma?")

STATUSES = {
    "executada": "registrado como executado",
    "executed": "registrado como executado",
    "cancelada": "foi cancelado",
    "cancelled": "foi cancelado",
    "expirada": "prazo para confirmar passou",
    "expired": "prazo para confirmar passou",
    "falhou": "falhou",
    "failed": "falhou",
    "executing": "Ainda estamos verificando",
    "em verificação": "Ainda estamos verificando",
    "pending": "aguardando a sua decisão",
    "aguardando confirmação": "aguardando a sua decisão",
    "superseded": "foi substituído",
    "substituída": "foi substituído",
}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("question", ["e o Pix?", "deu certo?", "foi pago?"])
def test_the_facts_decide_what_became_of_it(status: str, question: str) -> None:
    """The answer follows the status in the facts, wherever in the request they stand."""
    line = f"- create_pix_charge (Pix de R$ 150,00 para João Silva): {status}"
    facts = f"<facts>\nAgora: 2026-11-30T14:00:00-03:00\n{line}\n</facts>"
    history = [PIX, PIX_CALL, PENDING, PROMPT]
    for tail in (
        [user(question), system(facts)],
        [user(facts, question)],
        [user(question, facts)],
        [user(f"{facts}\n{question}")],
    ):
        answer = ask(*history, *tail)
        assert isinstance(answer, str)
        assert STATUSES[status] in answer
        assert "R$ 150,00 para João Silva" in answer


def test_without_facts_nothing_is_claimed() -> None:
    """No facts, no result in the history: it knows of none."""
    answer = ask(user("e o Pix?"))
    assert isinstance(answer, str)
    assert answer.startswith("Não tenho registro")


def test_facts_of_an_older_turn_do_not_count() -> None:
    """Only the facts that come with the last message speak; the tool result says pending."""
    old = [PIX, PIX_CALL, PENDING, system("create_pix_charge: pending"), PROMPT, user("oi")]
    answer = ask(*old, system("create_pix_charge: executed"), assistant("Oi!"), user("e o Pix?"))
    assert isinstance(answer, str)
    assert "aguardando a sua decisão" in answer


def test_a_typed_yes_points_to_the_buttons() -> None:
    """With an open action in the facts, "sim" is no wish."""
    for text in ("sim", "ok!", "cancela"):
        answer = ask(PIX, PIX_CALL, PENDING, PROMPT, user(text), system("Pix: pending"))
        assert isinstance(answer, str)
        assert "botões" in answer


LEDGER = (
    "now: 2026-11-30T14:05:00-03:00\nAções desta conversa segundo o registro do sistema:\n"
    '{"acao": "ab", "ferramenta": "create_pix_charge", "status": "pending", "situacao": "feito", '
    '"quando": "2026-11-30 14:02", "resumo": "Gerar cobrança Pix; Valor: R$ 150,00"}\n'
    '{"acao": "cd", "ferramenta": "cancel_booking", "status": "expired", '
    '"situacao": "expirado sem decisão a tempo, não feito", "quando": "2026-11-30 13:00", '
    '"resumo": "Cancelar horário"}'
)


def test_the_ledger_as_json_lines() -> None:
    """One JSON object a line: each question finds its own action, and only its summary is shown;
    a provider's status inside does not hide that the action is done."""
    assert ask(user("e o Pix?"), system(LEDGER)) == (
        "Sim, está registrado como executado.\nGerar cobrança Pix; Valor: R$ 150,00"
    )
    assert "prazo para confirmar passou" in ask(user("cadê o meu horário?"), system(LEDGER))
    assert "registrado como executado" in ask(user("deu certo?"), system(LEDGER))
    assert ask(user("tem horário livre amanhã?"), system(LEDGER)) == (
        "list_free_slots",
        {"date": "2026-12-01"},
    )


def test_a_yes_after_expiry_prepares_it_anew() -> None:
    """ "Quer que eu refaça?" - "sim" proposes the same again; without an end it does not."""
    history = [PIX, PIX_CALL, PENDING, PROMPT]
    for text in ("sim", "refaz"):
        assert ask(*history, user(text), system("create_pix_charge: expired")) == (
            "create_pix_charge",
            {"customer": "João", "amount_cents": 15000},
        )
    assert isinstance(ask(*history, user("sim"), system("create_pix_charge: executed")), str)
