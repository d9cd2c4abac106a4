"""What became of an action, read from the facts that the request carries, never from hope."""

import re

from simulators.claude.brain.conversation import View
from simulators.claude.brain.words import fold

_STATUSES: tuple[tuple[str, str], ...] = (
    (
        "executing",
        r"\bexecuting\b|em execucao|em verificacao|verificando|em processamento|\bstuck\b",
    ),
    ("superseded", r"\bsuperseded\b|substituid"),
    ("expired", r"\bexpired\b|\bexpirad|\bexpirou"),
    ("cancelled", r"\bcancell?ed\b|\bcancelad|\bcancelou"),
    ("failed", r"\bfailed\b|\bfalh"),
    ("pending", r"\bpending\b|\bpendente|\baguarda|\bem aberto"),
    ("executed", r"\bexecuted\b|\bexecutad|\bconcluid"),
)
_EXPLICIT = re.compile(r"\b(?:status|estado|situacao)\"?\s*[:=]\s*\"?([a-z_]+(?: [a-z]+)?)")
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
    r"pix|cobranca|pagamento|charge|pago",
    r"horario|agendamento|consulta|booking|marcad|agendad",
    r"transfer",
    r"estorn|refund",
    r"e-?mail",
)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?")
_IDS = re.compile(r"\b(?:action_id|id|acao)?\s*[:=]?\s*\b[0-9a-f]{12,}\b", re.IGNORECASE)
NOTHING_KNOWN = "Não tenho registro de nenhum pedido desse tipo por aqui. O que você precisa?"


def status_of(line: str) -> str | None:
    """Return the status a line of facts names, in the English state words, or None."""
    folded = fold(line)
    explicit = _EXPLICIT.search(folded)
    return _first_status(explicit[1] if explicit else "") or _first_status(folded)


def status_answer(view: View) -> str:
    """Return the answer to "e o Pix?" from the newest line of facts that fits the question."""
    lines = [line for line in view.facts if status_of(line)]
    if not lines:
        lines = _from_results(view)
    lines = _about_same(view.text, lines)
    if not lines:
        return NOTHING_KNOWN
    newest = max(enumerate(lines), key=lambda pair: (_last_moment(pair[1]), pair[0]))[1]
    status = status_of(newest)
    answer = _ANSWERS[status] if status else NOTHING_KNOWN
    shown = _IDS.sub("", newest).strip(" -*•\t")
    return answer if newest.startswith("{") else f"{answer}\n{shown}"


def has_open_action(view: View) -> bool:
    """Return whether the facts name an action that waits for its decision."""
    return any(status_of(line) == "pending" for line in view.facts)


def _first_status(folded: str) -> str | None:
    return next((name for name, pattern in _STATUSES if re.search(pattern, folded)), None)


def _about_same(question: str, lines: list[str]) -> list[str]:
    """Keep the lines on the thing asked about; lines that name no thing at all stay."""
    asked = [kind for kind in _KINDS if re.search(kind, fold(question))]
    if not asked:
        return lines
    same = [line for line in lines if any(re.search(kind, fold(line)) for kind in asked)]
    return same or [line for line in lines if not re.search("|".join(_KINDS), fold(line))]


def _from_results(view: View) -> list[str]:
    """Without facts, a tool result of the history still says what was asked for."""
    steps = [step for turn in view.turns for step in turn.steps if not step.is_error]
    return [
        f"{step.result} {step.name}"
        for step in steps
        if isinstance(step.data, dict) and "status" in step.data and status_of(step.result)
    ]


def _last_moment(line: str) -> str:
    found = [
        moment for moment in _MOMENT.findall(line) if "expire" not in line.split(moment)[0][-14:]
    ]
    return max(found, default="")
