"""All words to people, by language: `texts_for(language)` gives the one object that speaks it.

A language is one class that fills `Texts` completely; a missing text is an error when the class is
made, never a silent fall-back into another language in the middle of a conversation.
"""

from domain.errors import SettingsError
from domain.texts.contract import ActionFact, Texts, short_reference
from domain.texts.en import En
from domain.texts.es import Es
from domain.texts.pt_br import PtBr

__all__ = ["LANGUAGES", "ActionFact", "Texts", "short_reference", "texts_for"]

_TEXTS: dict[str, Texts] = {texts.language: texts for texts in (PtBr(), En(), Es())}

LANGUAGES = tuple(_TEXTS)
"""The languages that an account may have; the first is the default."""


def texts_for(language: str) -> Texts:
    """Return the texts of an account's language. Raises SettingsError if nobody wrote them."""
    texts = _TEXTS.get(language)
    if texts is None:
        known = ", ".join(sorted(_TEXTS))
        raise SettingsError(f"no texts in the language {language!r}; there are: {known}")
    return texts
