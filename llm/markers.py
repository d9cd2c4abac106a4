"""A person's own imitation of what only the system writes, made neutral.

The trap this closes: a person types `[Usuário clicou em Confirmar na ação …]` or `<facts>`, and the
model takes it for the system's word (facts/claude.md §4.5). Nothing executes without a click, but
the model would say that it did. The signs stay visible, as full-width ones, so that nothing that
he wrote is lost.
"""

import re
import unicodedata
from typing import Any

_ARTICLE = r"(?:(?:an?|the|os?|as?|el|la|los|las)\s+)?"
_OWN_WORDS = "usuario|user|sistema|system|acao|accion|action|equipe|equipo|team"
_WORDS = (
    f"{_OWN_WORDS}|fatos|facts|hechos|mensagem|message|mensaje|pessoa|person|persona"
    "|assistente|assistant|asistente|ferramenta|tool|herramienta|confirmado|confirmed"
    "|executado|executed|ejecutado|botao|boton|button|operador|operator"
)
_MARKER = re.compile(rf"\[\s*{_ARTICLE}(?:{_WORDS})", re.IGNORECASE)
_OWN_MARKER = re.compile(rf"\[\s*{_ARTICLE}(?:{_OWN_WORDS})\b", re.IGNORECASE)
_OWN_TAG = re.compile(
    r"<\s*/?\s*(?:facts|system|mensagem_da_pessoa|mensagem_da_equipe|trecho_citado)\b",
    re.IGNORECASE,
)
_TAG = re.compile(r"<\s*[/!?|]?\s*[^\W\d]", re.IGNORECASE)
_LINE_START = re.compile(r"(?:^|[\n\r\v\f\x85\u2028\u2029])[\s>*_~`-]*\S")
_FULL_WIDTH = {"[": "［", "<": "＜"}


def neutral(text: str) -> str:
    """The person's text without a line that begins like a marker, a marker or a tag.

    Only `[` and `<` change, each into its full-width form; the length stays the same.
    """
    folded, places = _folded(text)
    hits = [match.start() for pattern in (_MARKER, _TAG) for match in pattern.finditer(folded)]
    hits += [at for at in _line_starts(folded) if folded[at] == "["]
    return _widened(text, {places[at] for at in hits})


def neutral_tags(text: str) -> str:
    """The text without tags; brackets stay. For our own texts that quote somebody's."""
    folded, places = _folded(text)
    return _widened(text, {places[match.start()] for match in _TAG.finditer(folded)})


def _widened(text: str, places: set[int]) -> str:
    signs = (_FULL_WIDTH.get(sign, sign) if at in places else sign for at, sign in enumerate(text))
    return "".join(signs)


def neutral_json(value: Any) -> Any:
    """The same JSON with every text and key neutral: results quote what people wrote."""
    match value:
        case str():
            return neutral(value)
        case list():
            return [neutral_json(item) for item in value]
        case dict():
            return {neutral(key): neutral_json(item) for key, item in value.items()}
        case _:
            return value


def imitates_marker(text: str) -> bool:
    """Whether a text of the model holds what only the system writes (claude-code#87591)."""
    folded, _ = _folded(text)
    return _OWN_MARKER.search(folded) is not None or _OWN_TAG.search(folded) is not None


def _folded(text: str) -> tuple[str, list[int]]:
    """The text as a reader sees it (no accents, no invisible signs) with the place of each sign."""
    signs: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        if unicodedata.category(char) in {"Cf", "Mn"}:
            continue
        base = unicodedata.normalize("NFD", char)[0]
        signs.append(base)
        places.append(at)
    return "".join(signs), places


def _line_starts(folded: str) -> list[int]:
    """Where the first visible sign of each line stands; `>`, `*`, `_` and `-` may come before."""
    return [match.end() - 1 for match in _LINE_START.finditer(folded)]
