"""WhatsApp's limits, so that what does not fit is refused when it is proposed, never cut.

The trap: over-long button titles are the most frequent failure of public bots, and a summary that
is cut may lose the amount. Meta does not say in what it counts, so the larger of UTF-16 units and
code points is taken. Source: Meta's pages on text, reply buttons and send-messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """A maximum in the unit of `measure`, and what it is for."""

    name: str
    maximum: int
    reason: str


TEXT_BODY = Limit("text", 4096, "Meta refuses a longer text body")
PROMPT_BODY = Limit("prompt text", 1024, "Meta refuses a longer body above reply buttons")
BUTTON_TITLE = Limit("button title", 20, "Meta refuses longer titles")
BUTTON_ID = Limit("button id", 256, "Meta refuses longer ids")
HEADER_TEXT = Limit("header", 60, "Meta refuses a longer header")
FOOTER_TEXT = Limit("footer", 60, "Meta refuses a longer footer")
CALLBACK_DATA = Limit("callback data", 512, "Meta refuses longer biz_opaque_callback_data")

MAX_BUTTONS = 3
"""Reply buttons under one message; at least one."""


class MessageRefusedError(ValueError):
    """A message that WhatsApp would not take as it is; the text says which part and why."""


class MessageTooLong(MessageRefusedError):  # noqa: N818 - the name that callers agreed on
    """One part is over its limit; `length` and `limit` say by how much, the text is not quoted."""

    def __init__(self, limit: Limit, length: int) -> None:
        self.limit = limit
        self.length = length
        super().__init__(
            f"{limit.name} has length {length}, at most {limit.maximum} fit: {limit.reason}"
        )


def measure(text: str) -> int:
    """The length of `text`: the larger of its UTF-16 units and its code points.

    A lone surrogate counts as one unit; whether it may be sent is `check_text`'s question.
    """
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return max(units, len(text))


def check_text(text: str) -> None:
    """Refuse a text body that is blank, unencodable or too long.

    Raises `MessageTooLong`, else `MessageRefusedError`.
    """
    _check(text, TEXT_BODY)


def check_prompt(summary: str, buttons: Sequence[tuple[str, str]]) -> None:
    """Refuse a prompt whose body or buttons, given as (id, title), WhatsApp would not take.

    Raises `MessageTooLong`, else `MessageRefusedError` (blank parts, equal ids or titles, too many
    or no buttons).
    """
    _check(summary, PROMPT_BODY)
    if not 1 <= len(buttons) <= MAX_BUTTONS:
        raise MessageRefusedError(f"1 to {MAX_BUTTONS} buttons fit, got {len(buttons)}")
    for own_id, title in buttons:
        _check(own_id, BUTTON_ID)
        _check(title, BUTTON_TITLE)
    if len({own_id for own_id, _ in buttons}) < len(buttons):
        raise MessageRefusedError("button ids must differ")
    if len({title for _, title in buttons}) < len(buttons):
        raise MessageRefusedError("button titles must differ")


def check_callback_data(data: str) -> None:
    """Refuse callback data that would not come back as it was. Raises like `check_text`."""
    _check(data, CALLBACK_DATA)


def _check(text: str, limit: Limit) -> None:
    if not text.strip():
        raise MessageRefusedError(f"{limit.name} is blank")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise MessageRefusedError(f"{limit.name} holds a lone surrogate") from None
    if "\x00" in text:
        raise MessageRefusedError(f"{limit.name} holds a NUL")
    length = measure(text)
    if length > limit.maximum:
        raise MessageTooLong(limit, length)
