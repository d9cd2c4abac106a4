"""Names as people write them: what compares equal, and what a search finds.

The trap: `" João "`, `joão` and a decomposed `joa` + tilde + `o` are one name to a reader and three
strings to a computer.
"""

import unicodedata


def normalise(text: str) -> str:
    """Return `text` for comparing: NFKC, casefolded, trimmed, runs of white space as one space.

    Accents stay: `joão` and `joao` may be two people. Normalising again changes nothing.
    """
    before = text
    while True:  # casefolding can undo NFKC and the other way round; two or three rounds settle it
        after = unicodedata.normalize("NFKC", before).casefold()
        if after == before:
            return " ".join(after.split())
        before = after


def search_words(text: str) -> list[str]:
    """Return the words of `text` for searching: as `normalise`, and without accents."""
    decomposed = unicodedata.normalize("NFKD", normalise(text))
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    return plain.split()
