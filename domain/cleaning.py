"""Values that end up inside texts to people: one line, nothing hidden, nothing that formats.

The trap: a name or a description is somebody else's text. A line break in it could print a second
`Valor:` line, a bidi override could turn digits round, a zero-width character could make two names
look alike, and `~` could strike an amount out. A value that cannot be cleaned without changing what
it says is refused, never cut (design §4).
"""

import unicodedata

from domain.errors import ToolInputError

MAX_VALUE_CHARS = 120
"""As long as the longest name in the store; ten such lines still fit WhatsApp's 1024."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control, format (bidi, zero-width), surrogate, private, unassigned, line and paragraph marks."""

_INVISIBLE_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800")
"""Letters and marks by category, but drawn as nothing: fillers and the blank Braille cell."""

_MARKUP = frozenset("*_~")
_CODE = "`"


def clean_value(text: str, *, field: str, max_chars: int = MAX_VALUE_CHARS) -> str:
    """Return `text` in NFC, trimmed, with every run of spaces as one space.

    `field` names the value in the error. Raises ToolInputError if nothing is left, if it is longer
    than `max_chars` characters, or if it holds something hidden or WhatsApp markup.
    """
    for char in text:
        if unicodedata.category(char) in _HIDDEN or char in _INVISIBLE_LETTERS:
            raise ToolInputError(
                f"{field}: U+{ord(char):04X} is a line break, control or invisible character; "
                "give plain text on one line"
            )
    line = " ".join(unicodedata.normalize("NFC", text).split())
    if not line:
        raise ToolInputError(f"{field}: is empty")
    if len(line) > max_chars:
        raise ToolInputError(f"{field}: has {len(line)} characters, at most {max_chars} fit")
    _refuse_markup(line, field)
    return line


def clean_or_none(text: str, *, max_chars: int = MAX_VALUE_CHARS) -> str | None:
    """Return `clean_value`, or None where it refuses: for comparing with what was printed."""
    try:
        return clean_value(text, field="value", max_chars=max_chars)
    except ToolInputError:
        return None


def _refuse_markup(line: str, field: str) -> None:
    """WhatsApp has no escape. A mark between two letters or digits formats nothing and is kept, as
    in `joao_silva@exemplo.com.br`; any other is refused."""
    for at, char in enumerate(line):
        inside = 0 < at < len(line) - 1 and line[at - 1].isalnum() and line[at + 1].isalnum()
        if char == _CODE or (char in _MARKUP and not inside):
            raise ToolInputError(
                f"{field}: {char!r} would be read as formatting by WhatsApp; leave it out"
            )


def neutral_line(text: str) -> str:
    """Return `text` on one line without anything hidden and without markup marks.

    For words that come too late to be refused, such as a provider's reason for saying no: they are
    no value that anybody confirms, so what they lose changes nothing.
    """
    kept = (
        " " if unicodedata.category(char) in _HIDDEN or char in _INVISIBLE_LETTERS else char
        for char in text
        if char not in _MARKUP and char != _CODE
    )
    return " ".join("".join(kept).split())
