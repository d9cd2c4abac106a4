"""What became of an action, read from the facts that the request carries, never from hope."""

import re

from simulators.claude.brain.conversation import View
from simulators.claude.brain.ledger import Fact, fact_of
from simulators.claude.brain.words import fold

_ANSWERS = {
    "executing": "Ainda estamos verificando com o provedor; não é preciso pedir de novo.",
    "superseded": "Esse pedido foi substituído por outro mais novo; nada foi feito por ele.",
    "expired": "O prazo para confirmar passou e nada foi feito. Quer que eu prepare de novo?",
    "cancelled": "Esse pedido foi cancelado; nada foi feito.",
    "failed": "Não deu certo: a operação falhou e nada foi feito. Quer tentar de novo?",
    "pending": "Ainda não: está aguardando a sua decisão. Use os botões Confirmar ou Cancelar.",
    "executed": "Sim, está registrado como executado.",
}
_KINDS = (
    r"pix|cobranca|pagamento|charge|\bpag[oa]",
    r"horario|agendamento|consulta|booking|marcad|agendad",
    r"transfer",
    r"estorn|refund",
    r"e-?mail",
)
NOTHING_KNOWN = "Não tenho registro de nenhum pedido desse tipo por aqui. O que você precisa?"


def status_answer(view: View) -> str:
    """Return the answer to "e o Pix?" from the newest fact that fits the question."""
    fact = _newest(_about_same(view.text, _facts(view)))
    if fact is None:
        return NOTHING_KNOWN
    answer = _ANSWERS[fact.status]
    return f"{answer}\n{fact.shown}" if fact.shown else answer


def has_open_action(view: View) -> bool:
    """Return whether the facts name an action that waits for its decision."""
    return any(fact.status == "pending" for fact in _facts(view))


def last_came_to_nothing(view: View) -> bool:
    """Return whether the newest action of the facts ended without having been done."""
    fact = _newest(_facts(view))
    return fact is not None and fact.status in ("expired", "failed", "cancelled")


def _facts(view: View) -> list[Fact]:
    """Without facts, a tool result of the history still says what was asked for."""
    found = [fact for line in view.facts if (fact := fact_of(line))]
    if found:
        return found
    steps = [step for turn in view.turns for step in turn.steps if not step.is_error]
    read = [(step, fact_of(step.result)) for step in steps if isinstance(step.data, dict)]
    return [
        Fact(status=fact.status, about=f"{step.name} {fact.about}", shown="", moment="")
        for step, fact in read
        if fact is not None
    ]


def _about_same(question: str, facts: list[Fact]) -> list[Fact]:
    """Keep the facts on the thing asked about; those that name no thing at all stay."""
    asked = [kind for kind in _KINDS if re.search(kind, fold(question))]
    if not asked:
        return facts
    same = [fact for fact in facts if any(re.search(kind, fact.about) for kind in asked)]
    return same or [fact for fact in facts if not re.search("|".join(_KINDS), fact.about)]


def _newest(facts: list[Fact]) -> Fact | None:
    """The latest moment; of equal ones the first, since ledgers list the newest first. Lines
    without any moment are a log: the last one counts."""
    if not any(fact.moment for fact in facts):
        return facts[-1] if facts else None
    return max(facts, key=lambda fact: fact.moment)
