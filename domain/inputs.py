"""What becomes of each kind of input: one table, and `docs/inputs.md` is compared with it.

The trap: a kind that nobody thought of is either read as words (a caption that confirms, an edited
"sim") or answered with silence where a person waits. So every kind stands here, and a new one is an
error until it does.
"""

from enum import StrEnum

from domain.inbound import InboundKind


class Treatment(StrEnum):
    """What Aval does with a kind."""

    WORDS = "words"  # the person's words: the model reads them
    CAPTION = "caption"  # what is written on it are the person's words; without any, a template
    HEARD = "heard"  # its transcript, where one can be had, are the person's words; else a template
    TEMPLATE = "template"  # one short answer by template
    DECISION = "decision"  # a click on one of our own buttons; silence for any other button
    IDENTITY = "identity"  # cancels what is pending; the person is told so
    SILENCE = "silence"  # stored, and nobody is answered


TREATMENTS: dict[InboundKind, Treatment] = {
    InboundKind.TEXT: Treatment.WORDS,
    InboundKind.LIST_REPLY: Treatment.WORDS,
    InboundKind.IMAGE: Treatment.CAPTION,
    InboundKind.VIDEO: Treatment.CAPTION,
    InboundKind.DOCUMENT: Treatment.CAPTION,
    InboundKind.AUDIO: Treatment.HEARD,
    InboundKind.STICKER: Treatment.TEMPLATE,
    InboundKind.LOCATION: Treatment.TEMPLATE,
    InboundKind.CONTACTS: Treatment.TEMPLATE,
    InboundKind.ORDER: Treatment.TEMPLATE,
    InboundKind.FLOW: Treatment.TEMPLATE,
    InboundKind.UNSUPPORTED: Treatment.TEMPLATE,
    InboundKind.BUTTON: Treatment.DECISION,
    InboundKind.IDENTITY_CHANGED: Treatment.IDENTITY,
    InboundKind.REACTION: Treatment.SILENCE,
    InboundKind.EDITED: Treatment.SILENCE,
    InboundKind.DELETED: Treatment.SILENCE,
    InboundKind.CALL: Treatment.SILENCE,
    InboundKind.ECHO: Treatment.SILENCE,
    InboundKind.STANDBY: Treatment.SILENCE,
    InboundKind.ACCOUNT: Treatment.SILENCE,
    InboundKind.UNKNOWN: Treatment.SILENCE,
    InboundKind.QUARANTINED: Treatment.SILENCE,
}


READ = frozenset({Treatment.WORDS, Treatment.CAPTION, Treatment.HEARD})
"""The treatments by which a message may have words."""


def words_of(kind: InboundKind, text: str | None) -> str | None:
    """The person's words in a message, or None: text, a list's choice, a caption, a transcript."""
    return text if TREATMENTS[kind] in READ and text and text.strip() else None
