"""For which account a member of several works: how his answer is read.

The trap: a model that guesses the account acts on another company's money. So the system asks and
reads the answer by itself, and only exact ones: the number that stood there, or the name. The
account's name then stands in every summary, where the person sees it before he decides.
"""

import unicodedata
from collections.abc import Sequence

MOST_NAME_CHARS = 50
"""Of an account that shares a number: its name has to fit into the longest summary, uncut."""


def plain(text: str) -> str:
    """For comparing: lower case, without accents, one space between words, no final `.`/`!`."""
    letters = unicodedata.normalize("NFD", text.casefold())
    bare = "".join(char for char in letters if unicodedata.category(char) != "Mn")
    return " ".join(bare.split()).rstrip(".!").rstrip()


def picked(text: str, names: Sequence[str]) -> int | None:
    """Which of the names, counted from 0, the answer means; None for no clear answer."""
    said = plain(text)
    if said.isascii() and said.isdigit():
        return int(said) - 1 if len(said) < 4 and 1 <= int(said) <= len(names) else None
    found = [n for n, name in enumerate(names) if plain(name) == said]
    return found[0] if len(found) == 1 else None
