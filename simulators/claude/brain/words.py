"""Folding of Portuguese text, so that "João", "joao" and "JOÃO" read alike.

Folding keeps the length: a match in the folded text points at the same place in the original.
"""

import unicodedata


def fold(text: str) -> str:
    """Return `text` in lower case without accents, with the length of its NFC form."""
    folded = []
    for char in unicodedata.normalize("NFC", text):
        base = unicodedata.normalize("NFD", char)[0].lower()
        folded.append(base if len(base) == 1 else char)
    return "".join(folded)


def nfc(text: str) -> str:
    """Return the composed form that `fold` is aligned with."""
    return unicodedata.normalize("NFC", text)


def blank(text: str, start: int, end: int) -> str:
    """Return `text` with one span replaced by spaces, so that other places stay where they are."""
    return text[:start] + " " * (end - start) + text[end:]


def brl(cents: int) -> str:
    """Return cents as Brazilian money, for example `R$ 1.234,56`."""
    whole, rest = divmod(abs(cents), 100)
    sign = "-" if cents < 0 else ""
    return f"{sign}R$ {whole:,}".replace(",", ".") + f",{rest:02d}"
