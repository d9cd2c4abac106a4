"""Names of people after a preposition, in whatever case the person types them."""

import re

from simulators.claude.brain.words import fold, nfc

_STOP_WORDS = (
    "de no na com por ate valor reais real hoje amanha depois dia as vencimento vencendo vence "
    "referente ref sobre em r$ pix cobranca e que mim horario consulta segunda terca quarta "
    "quinta sexta sabado domingo favor agora ja o a os as um uma minha meu proxima proximo "
    "pra para pro"
)
_INNER_WORDS = "da de do das dos e"
_STOP = frozenset(_STOP_WORDS.split())
_INNER = frozenset(_INNER_WORDS.split())
_WORD = re.compile(r"[^\s,;:!?()]+")
_TO = re.compile(r"\b(?:pro|pra|para|ao|a cliente|o cliente|cliente)\b(?: (?:o|a))?\b(?: cliente)?")
_OF = re.compile(r"\b(?:do|da)\b(?: cliente)?")
_WITH = re.compile(r"\bcom\b(?: (?:o|a))?\b")


def name_to(text: str) -> str | None:
    """Return the name after "pro", "pra", "para o", "ao", "cliente"."""
    return _after(text, _TO)


def name_of(text: str) -> str | None:
    """Return the name after "do", "da", "do cliente"."""
    return _after(text, _OF)


def name_with(text: str) -> str | None:
    """Return the name after "com", "com a"; titles such as "Dra." are kept."""
    return _after(text, _WITH)


def bare_name(text: str) -> str | None:
    """Return the name that a short answer consists of ("o João Silva", "é a Maria"), or None."""
    folded = fold(text)
    lead = re.match(
        r"\s*(?:(?:e|eh|quero|seria|para|pra|pro|do|da|no caso|com|o|a|cliente)\b\s*)*", folded
    )
    rest = nfc(text)[lead.end() if lead else 0 :]
    name = _words(rest)
    consumed = name is not None and not re.sub(r"[\s.!?,]", "", rest.replace(name, "", 1))
    return name if name is not None and consumed and len(name.split()) <= 5 else None


def _after(text: str, lead: re.Pattern[str]) -> str | None:
    original = nfc(text)
    for match in lead.finditer(fold(original)):
        name = _words(original[match.end() :])
        if name:
            return name
    return None


def _words(rest: str) -> str | None:
    taken: list[str] = []
    end = 0
    for match in _WORD.finditer(rest):
        if taken and re.search(r"[,;:!?()\n]", rest[end : match.start()]):
            break
        word = match[0]
        title = fold(word) in ("dr.", "dra.")
        plain = fold(word if title else word.rstrip("."))
        if any(char.isdigit() for char in plain) or "@" in plain:
            break
        if plain in _INNER and taken and _goes_on(rest[match.end() :], word):
            taken.append(word)
        elif plain in _STOP or plain in _INNER:
            break
        else:
            taken.append(word if title else word.rstrip("."))
            if word.endswith(".") and not title:
                break
        end = match.end()
    return " ".join(taken) or None


def _goes_on(rest: str, particle: str) -> bool:
    """Whether a surname follows the particle: a capital or, typed all small, no stop word."""
    following = _WORD.match(rest.lstrip())
    if following is None or not following[0][0].isalpha():
        return False
    plain = fold(following[0].rstrip("."))
    small = plain not in _STOP and plain not in _INNER and fold(particle) != "e"
    return following[0][0].isupper() or small
