"""Which tool a text asks for, by rules tried in order; the first that matches wins."""

import re

from simulators.claude.brain.words import fold

_BOOKING = r"(?:horarios?|consultas?|agendamentos?|sessao|sessoes|reservas?)"
_RULES: tuple[tuple[str, str], ...] = (
    ("talk_to_human", r"\b(?:falar|atendimento) com\b.*\b(?:atendente|humano|pessoa|alguem)\b"),
    ("update_email", r"\b(?:mud|troc|atualiz|alter|corrig)\w*\b.*\be-?mail\b"),
    ("refund_charge", r"\b(?:estorn|reembols|devolv)\w*"),
    ("transfer_balance", r"\btransf[ei]r\w*"),
    ("get_charge", r"\b(?:consult|ver|veja|status|situacao|detalhe)\w*\b.*\bcobranca\b"),
    (
        "create_pix_charge",
        r"\b(?:ger|cri|faz|faca|mand|envi|emit|quero|preciso|cobr)\w*\b.*\b(?:pix|cobranca)\b"
        r"|\bcobr(?:a|ar|e)\b|\bpix de\b",
    ),
    (
        "reschedule_booking",
        rf"\b(?:remarc|reagend)\w*|\b(?:mud|troc|pass)\w*\b.*\b{_BOOKING}\b",
    ),
    ("cancel_booking", rf"\bdesmarc\w*|\bcancel\w*\b.*\b{_BOOKING}\b"),
    (
        "list_free_slots",
        rf"\b(?:livres?|disponive(?:l|is)|disponibilidade|vagas?)\b|\bque {_BOOKING} tem\b",
    ),
    (
        "list_bookings",
        rf"\b(?:meus?|minhas?|quais|proxim[oa]s?)\b.*\b{_BOOKING}\b|\bminha agenda\b",
    ),
    ("create_booking", r"\b(?:marc(?:a|ar|e|o)|agend(?:a|ar|e|o)|reserv(?:a|ar|e|o))\b"),
    ("get_balance", r"\bsaldo\b"),
    ("find_customer", r"\b(?:procur|busc|encontr)\w*\b|\bacha\b|\bcadastro d"),
)
_COMPILED = tuple((tool, re.compile(pattern)) for tool, pattern in _RULES)

_THINGS = r"(?:pix|cobranca|pagamento|horario|agendamento|consulta|transferencia|estorno|e-?mail)"
_STATUS = re.compile(
    rf"^\s*(?:e|cade)\s+(?:o|a)\s+(?:meu |minha )?{_THINGS}\b[^.\n]*$"
    r"|\bdeu certo\b|\bfoi (?:pag|feit|gerad|cancelad|marcad|agendad|executad)"
    r"|\bja (?:pag|foi|caiu)|\bcaiu\b|\bo que (?:aconteceu|houve)\b|\bconseguiu\b|\bfuncionou\b"
)
_YES = re.compile(r"^\s*(?:sim|confirmo|confirmar|confirma|pode|ok|isso)[\s.!]*$")
_BARE_CANCEL = re.compile(r"^\s*(?:nao,? )?(?:cancel|desist)\w*(?: (?:isso|o pix|tudo))?[\s.!]*$")
_REDO = re.compile(r"\b(?:refa(?:z|ca)|refazer|repete|(?:faz|gera|tenta|prepara|manda) de novo)\b")
_GREETING = re.compile(r"^\s*(?:oi|ola|bom dia|boa tarde|boa noite|e ai|tudo bem)\b[^\n]{0,30}$")
_THANKS = re.compile(r"\b(?:obrigad[oa]|valeu|agradeco)\b")
_CORRECTION = re.compile(
    r"\b(?:na verdade|muda(?:r)? (?:pra|para|o|a)|corrig\w+|melhor|alias|digo|troca (?:pra|para))\b"
    r"|^\s*(?:nao|sim)\b.*\b(?:mas|,)"
)


def tool_of(text: str) -> str | None:
    """Return the name of the tool that `text` asks for, None if it asks for none."""
    folded = fold(text)
    return next((tool for tool, pattern in _COMPILED if pattern.search(folded)), None)


def asks_status(text: str) -> bool:
    """Return whether `text` asks what became of an action."""
    return _STATUS.search(fold(text)) is not None


def is_typed_yes(text: str) -> bool:
    """Return whether `text` is nothing but a yes."""
    return _YES.match(fold(text)) is not None


def is_bare_cancel(text: str) -> bool:
    """Return whether `text` only calls off, without saying what."""
    return _BARE_CANCEL.match(fold(text)) is not None


def is_redo(text: str) -> bool:
    """Return whether `text` asks for the same once more."""
    return _REDO.search(fold(text)) is not None


def is_greeting(text: str) -> bool:
    """Return whether `text` only greets."""
    return _GREETING.match(fold(text)) is not None


def is_thanks(text: str) -> bool:
    """Return whether `text` says thanks."""
    return _THANKS.search(fold(text)) is not None


def is_correction(text: str) -> bool:
    """Return whether `text` corrects what was asked before."""
    return _CORRECTION.search(fold(text)) is not None
