"""When a typed message is as good as a click on Confirm (design §6).

The trap: "ok" to the agent's last question, "sim" to another prompt, or "sim, mas muda pra 200"
must never execute anything. So the text has to be one of a few words of the account's language and
nothing else (another language's word is only nearly a yes), and everything around it has to leave
one reading only: this one prompt was seen, and nothing came after it. Signs are not interpreted but
refused: a struck-out or boxed word is no yes, though its letters are.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from domain.errors import SettingsError
from domain.inbound import InboundKind

YES_WORDS = {
    "pt-BR": frozenset({"sim", "confirmo", "confirmar", "pode", "ok"}),
    "en": frozenset({"yes", "confirm", "ok"}),
    "es": frozenset({"si", "confirmo", "confirmar", "ok"}),
}
"""By language, without accents. Only what can hardly answer anything but "do you confirm?" is one:
an English "sure" or a Spanish "dale" is as often a word on the way."""

Words = TypeVar("Words")

_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0308")
"""Grave, acute, circumflex, tilde, diaeresis. Other marks (a stroke, a box) change what is said."""

_ANYWHERE = r"s+i+m*|s{1,2}|y+e+s+|confirm\w*|o+k+(?:a+y+|e+y+|e+)?"
_FAMILIES = {
    "pt-BR": r"pod[ei]\w{0,2}|isso|exato|certo|claro|positivo|fechado|aceito|blz|beleza|manda|bora"
    r"|vai|faz|perfeito",
    "en": r"y|y+e+a+h*|ye[pa]|yup|ya|sure|correct|right|exactly|agreed?|accept(?:ed)?|approved?"
    r"|perfect|great|absolutely|definitely|certainly|fine|pode|go(?: ahead)?|do it"
    r"|i (?:do|agree|accept|confirm)",
    "es": r"sip|claro|dale|listo|vale|bueno|correcto|exacto|acepto|perfecto|adelante|hazlo|eso"
    r"|puedes?|seguro|positivo|pode|de acuerdo|(?:lo|te) confirmo",
}
"""Words that say yes besides those of every language, for which somebody may be reminded."""

_NEAR_WORDS = {
    language: re.compile(f"{_ANYWHERE}|{family}", re.ASCII)
    for language, family in _FAMILIES.items()
}
"""The family of a yes, as the first word or the first two of a message, letters only."""

_NEAR_EMOJI = frozenset("\U0001f44d\U0001f44c\u2705\u2714\u2611\U0001f197\U0001f64f\U0001f4af")
"""Thumb, ring of fingers, the check marks, OK, folded hands, hundred: a yes without letters."""


def _plain(text: str) -> str:
    """Lower case without accents; what is not an accent stays, and so disqualifies."""
    parts = unicodedata.normalize("NFD", text).lower()
    return "".join(char for char in parts if char not in _ACCENTS)


def is_yes(text: str, *, language: str) -> bool:
    """Whether the text is exactly a yes-word of the language, after case, accents, outer spaces and
    final `.`/`!`.

    Any other sign disqualifies, `?`, `¡` and emoji too. Raises SettingsError for a language without
    such words.
    """
    return _plain(text.strip()).rstrip(".!") in _of(YES_WORDS, language)


def is_near_yes(text: str, *, language: str) -> bool:
    """Whether the text begins like a yes or is the sign of one: it confirms nothing, but whoever
    wrote it may think that it did. An exact yes of any language is one as well. Raises
    SettingsError for a language without such words."""
    near = _of(_NEAR_WORDS, language)
    words = _plain(unicodedata.normalize("NFKD", text)).split(maxsplit=2)[:2]
    first, *two = ["".join(filter(str.isalpha, word)) for word in words] or [""]
    if first:
        return any(near.fullmatch(" ".join(said)) for said in ([first], [first, *two]))
    return any(char in _NEAR_EMOJI for char in text)


def is_near_yes_of(kind: InboundKind, text: str | None, *, language: str) -> bool:
    """The same for a message of any kind: a voice message may have been meant as a yes."""
    if kind is InboundKind.AUDIO:
        return True
    return text is not None and is_near_yes(text, language=language)


def _of(by_language: Mapping[str, Words], language: str) -> Words:
    if language not in by_language:
        raise SettingsError(f"no yes-words in the language {language!r}")
    return by_language[language]


@dataclass(frozen=True, kw_only=True)
class YesFacts:
    """What holds for the only unhandled message of a conversation with a pending action.

    `language`: the account's. `sent_at` and `delivered_at` are the channel's clock, in whole
    seconds. `delivered`: the prompt is known to have arrived and not to have failed.
    `sent_between`, `received_between`: anything else of the conversation since the prompt was
    written.
    """

    language: str
    kind: InboundKind
    text: str | None
    quoted: bool
    forwarded: bool
    sent_at: datetime | None
    policy: str
    delivered: bool
    delivered_at: datetime | None
    sent_between: bool
    received_between: bool


class YesRefusal(StrEnum):
    """Why the message is an ordinary one: the first rule of design §6 that it breaks."""

    NOT_TEXT = "not_text"
    NOT_EXACT = "not_exact"
    QUOTED = "quoted"
    FORWARDED = "forwarded"
    BUTTON_ONLY = "button_only"
    NOT_DELIVERED = "not_delivered"
    NOT_AFTER_THE_PROMPT = "not_after_the_prompt"
    SENT_BETWEEN = "sent_between"
    RECEIVED_BETWEEN = "received_between"


def why_no_yes(facts: YesFacts) -> YesRefusal | None:
    """None if the message confirms the action, else the first rule that it breaks."""
    rules = (
        (facts.kind is InboundKind.TEXT, YesRefusal.NOT_TEXT),
        (_exact(facts), YesRefusal.NOT_EXACT),
        (not facts.quoted, YesRefusal.QUOTED),
        (not facts.forwarded, YesRefusal.FORWARDED),
        (facts.policy == "button_or_yes", YesRefusal.BUTTON_ONLY),
        (facts.delivered and facts.delivered_at is not None, YesRefusal.NOT_DELIVERED),
        (_strictly_after(facts), YesRefusal.NOT_AFTER_THE_PROMPT),
        (not facts.sent_between, YesRefusal.SENT_BETWEEN),
        (not facts.received_between, YesRefusal.RECEIVED_BETWEEN),
    )
    return next((refusal for kept, refusal in rules if not kept), None)


def _exact(facts: YesFacts) -> bool:
    return facts.text is not None and is_yes(facts.text, language=facts.language)


def _strictly_after(facts: YesFacts) -> bool:
    """Whole seconds: what came in the same second may have been written before."""
    if facts.sent_at is None or facts.delivered_at is None:
        return False
    return facts.sent_at > facts.delivered_at
