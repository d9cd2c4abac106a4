"""The ids behind the two buttons. Their titles never decide; these do.

Strict both ways: an id that is not exactly ours (other prefix, case, length, trailing newline) is
nobody's button and reads as None.
"""

import re
from typing import Literal

Verdict = Literal["confirm", "cancel"]

_ACTION_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_BUTTON_ID = re.compile(r"pa:(confirm|cancel):([0-9a-f]{32})", re.ASCII)


def button_id(verdict: Verdict, action_id: str) -> str:
    """The id of a button of the action `action_id` (32 lower-case hex).

    Raises `ValueError` for any other action id or verdict.
    """
    if verdict not in ("confirm", "cancel"):
        raise ValueError(f"verdict must be 'confirm' or 'cancel', got {verdict!r}")
    if _ACTION_ID.fullmatch(action_id) is None:
        raise ValueError(f"action id must be 32 lower-case hex, got {action_id!r}")
    return f"pa:{verdict}:{action_id}"


def parse_button_id(text: str) -> tuple[Verdict, str] | None:
    """(verdict, action id) of one of our buttons, or None for anything else."""
    match = _BUTTON_ID.fullmatch(text)
    if match is None:
        return None
    verdict: Verdict = "confirm" if match[1] == "confirm" else "cancel"
    return verdict, match[2]
