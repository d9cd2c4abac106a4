"""The exact yes of design §6, read a second time."""

import unicodedata

WORDS = {"sim", "confirmo", "confirmar", "pode", "ok"}


def is_yes(text: str) -> bool:
    """After case, accents, outer spaces and final `.` and `!`."""
    parts = unicodedata.normalize("NFD", text.strip().lower())
    plain = "".join(char for char in parts if unicodedata.category(char) != "Mn")
    return plain.rstrip(".!") in WORDS
