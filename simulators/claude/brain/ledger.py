"""One line of facts, read: which action, what became of it, when.

A line is either JSON with fields or plain Portuguese or English text with a status word in it.
"""

import json
import re
from dataclasses import dataclass

from simulators.claude.brain.words import fold

_STATUSES: tuple[tuple[str, str], ...] = (
    (
        "executing",
        r"\bexecuting\b|\bstuck\b|verificando|\bem (?:execucao|andamento|verificacao|processa)",
    ),
    ("superseded", r"\bsuperseded\b|substituid"),
    ("expired", r"\bexpired\b|\bexpirad|\bexpirou"),
    ("cancelled", r"\bcancell?ed\b|\bcancelad|\bcancelou"),
    ("failed", r"\bfailed\b|\bfalh|\bnao feito"),
    ("pending", r"\bpending\b|\bpendente|\baguarda|\bem aberto"),
    ("executed", r"\bexecuted\b|\bexecutad|\bconcluid|\bfeito"),
)
_EXPLICIT = re.compile(r"\b(?:status|estado|situacao)\"?\s*[:=]\s*\"?([a-z_]+(?: [a-z]+)?)")
_MOMENT = re.compile(r"(?<!expires_at[\"=: ])(?<!ate )\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?")
_IDS = re.compile(r"\b(?:action_id|id|acao)?\s*[:=]?\s*\b[0-9a-f]{12,}\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What one line says. `about`: folded text to match a question with; `shown`: for the person,
    empty if it is not fit for him; `moment`: sortable, empty if the line names none."""

    status: str
    about: str
    shown: str
    moment: str


def fact_of(line: str) -> Fact | None:
    """Return the fact of a line, or None if it names no status."""
    try:
        data = json.loads(line)
    except ValueError:
        data = None
    if isinstance(data, dict):
        return _from_json(data, line)
    folded = fold(line)
    explicit = _EXPLICIT.search(folded)
    status = _first_status(explicit[1] if explicit else "") or _first_status(folded)
    if status is None:
        return None
    moment = max(_MOMENT.findall(line), default="")
    shown = _IDS.sub("", line).strip(" -*•\t")
    return Fact(status=status, about=folded, shown=shown, moment=moment.replace("T", " "))


def _from_json(data: dict[str, object], line: str) -> Fact | None:
    """The words of `situacao` come first: `status` may be the provider's own."""
    words = [fold(str(data[key])) for key in ("situacao", "status") if key in data]
    status = next((found for word in words if (found := _first_status(word))), None)
    if status is None:
        return None
    shown = str(data.get("resumo") or data.get("summary") or "")
    return Fact(status=status, about=fold(line), shown=shown, moment=str(data.get("quando", "")))


def _first_status(folded: str) -> str | None:
    return next((name for name, pattern in _STATUSES if re.search(pattern, folded)), None)
