"""Amounts in Portuguese text, as integer cents."""

import re

from simulators.claude.brain.moments import without_moments
from simulators.claude.brain.words import blank, fold

_UNITS = (
    "zero um dois tres quatro cinco seis sete oito nove dez onze doze treze quatorze quinze "
    "dezesseis dezessete dezoito dezenove"
)
_TENS = "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa"
_HUNDREDS = (
    "cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos"
)
VALUES: dict[str, int] = (
    {word: value for value, word in enumerate(_UNITS.split())}
    | {word: 20 + 10 * i for i, word in enumerate(_TENS.split())}
    | {word: 100 * (i + 1) for i, word in enumerate(_HUNDREDS.split())}
    | {"cem": 100, "uma": 1, "duas": 2, "catorze": 14}
)
_NUMBER = r"\d{1,3}(?:\.\d{3})+(?:,\d{1,2})?|\d+(?:[.,]\d{1,2})?"
_MARKED = re.compile(rf"r\$ ?({_NUMBER})|\b({_NUMBER}) ?(?:reais|real|conto|contos|pila|pilas)\b")
_PLAIN = re.compile(rf"(?<![\w.,@-])({_NUMBER})(?: (mil)\b)?(?![\w@-])")
_WORDS = re.compile(r"\b((?:[a-z]+ )+)(?:reais|real)\b")
_NOT_MONEY = re.compile(r"\S+@\S+|\b[a-z]+[_-]\w*\d\w*|\b[0-9a-f]{16,}\b|\bc\w+ \d{6,}\b")


def find_amounts(text: str) -> list[int]:
    """Return the amounts named in `text` in cents: those marked as money, else bare numbers."""
    folded = fold(without_moments(text))
    for match in _NOT_MONEY.finditer(folded):
        folded = blank(folded, match.start(), match.end())
    marked = [_cents(m[1] or m[2]) for m in _MARKED.finditer(folded)]
    if marked:
        return marked
    spelled = [value * 100 for m in _WORDS.finditer(folded) if (value := _spelled(m[1]))]
    if spelled:
        return spelled
    return [_cents(m[1]) * (1000 if m[2] else 1) for m in _PLAIN.finditer(folded)]


def _cents(number: str) -> int:
    """Read `1.234,56`, `150,00`, `150.50` and `150`; three digits after a dot are thousands."""
    if "," in number:
        number = number.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3})+", number):
        number = number.replace(".", "")
    whole, _, rest = number.partition(".")
    return int(whole) * 100 + int((rest + "00")[:2])


def _spelled(words: str) -> int:
    """Return the value of the number words at the end of `words`, 0 if there are none."""
    tail: list[str] = []
    for word in reversed(words.split()):
        if word not in VALUES and word not in ("e", "mil"):
            break
        tail.insert(0, word)
    total = current = 0
    for word in tail:
        if word == "mil":
            total += (current or 1) * 1000
            current = 0
        else:
            current += VALUES.get(word, 0)
    return total + current
