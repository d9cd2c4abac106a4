"""The system prompt: a file that an account may replace, the same for all of its persons.

The shipped ones are one a language; an account without a file of its own gets that of its language.
The trap this closes: a date, a name or an id in the system prompt voids the cache for everybody and
leaks one person's data to the next. So the file knows one placeholder, the business's name, and any
other is refused when it is loaded.
"""

import re
from pathlib import Path
from typing import Any

from domain.errors import OperatorError

_SHIPPED = Path(__file__).with_name("prompts")

CACHE_SYSTEM = {"type": "ephemeral", "ttl": "1h"}
"""An hour: tools and prompt are shared by all conversations of an account (facts §3.4)."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = "business_name"


def load_prompt(path: Path | str | None, *, language: str) -> str:
    """The prompt's text; None for the shipped one of the account's language.

    Raises OperatorError, naming the file, if it cannot be read, is blank or holds a placeholder
    other than `{business_name}`.
    """
    file = Path(path) if path is not None else _SHIPPED / f"default.{language}.md"
    try:
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise OperatorError(
            f"prompt file {str(file)!r} cannot be read ({reason}): correct the account's "
            "prompt_file, or leave it empty for the shipped prompt"
        ) from error
    if not text:
        raise OperatorError(f"prompt file {str(file)!r} is blank: write the prompt into it")
    unknown = sorted(set(_PLACEHOLDER.findall(text)) - {_NAME})
    if unknown:
        raise OperatorError(
            f"prompt file {str(file)!r} has the placeholder {unknown[0]!r}: only "
            f"{{{_NAME}}} is filled in"
        )
    return text


def system_blocks(prompt: str, *, business_name: str) -> list[dict[str, Any]]:
    """The `system` field of a call. `business_name`: the account's, one line of it is used.

    Raises ValueError if the name is blank.
    """
    name = " ".join(business_name.split())
    if not name:
        raise ValueError(f"an account needs a name, got {business_name!r}")
    text = prompt.replace(f"{{{_NAME}}}", name)
    return [{"type": "text", "text": text, "cache_control": CACHE_SYSTEM}]
