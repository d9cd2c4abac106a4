"""A short sentence for each tool result."""

import json
import re
from typing import Any

from simulators.claude.brain.choices import booking_start, bookings_in, detailed_candidates
from simulators.claude.brain.conversation import ToolStep
from simulators.claude.brain.words import brl, fold
from simulators.claude.fields import Json

_ERROR_KEYS = ("error", "erro", "message", "mensagem", "reason", "motivo", "detail")
_AMBIGUOUS = re.compile(
    r"mais de um|ambigu|varios|more than one|several|multiple|\bwhich\b|\bmatch(?:es)? \d"
)
_UNKNOWN = re.compile(
    r"nao (?:encontr|exist|ha )|nenhum|not found|unknown|\bno \w+ |does not exist"
)
_PORTUGUESE = re.compile(
    r"\b(?:nao|encontr\w+|mais de um|qual|quais|ja|para|uma?|esta|precisa|cliente|horario|livre)\b"
)
PENDING = "Preparei o resumo. Nada acontece antes de você decidir nos botões."


def describe(step: ToolStep) -> str:
    """Return what to tell the person about one tool result."""
    if step.is_error:
        return error_question(step)
    if isinstance(step.data, dict):
        status = str(step.data.get("status", ""))
        if status == "already_done" or step.data.get("already_done"):
            return f"Isso já foi feito antes, não precisa repetir. {_pairs(step.data)}".strip()
        if step.data.get("being_verified"):
            return "Esse pedido já foi confirmado e está sendo verificado; não peça de novo."
        if status == "already_in_progress" or step.data.get("already_in_progress"):
            return "Esse pedido já está em andamento; não é preciso pedir de novo."
        if status in ("pending", "aguardando_confirmacao", "aguardando"):
            return PENDING
    return _read_text(step)


def error_text(step: ToolStep) -> str:
    """Return the reason of a failed call, taken out of its JSON if it is in one."""
    if isinstance(step.data, dict):
        for key in _ERROR_KEYS:
            value = step.data.get(key)
            if isinstance(value, dict):
                value = value.get("message")
            if isinstance(value, str) and value.strip():
                return value.strip()
    if isinstance(step.data, str):
        return step.data.strip()
    return step.result.strip() or "Não consegui fazer isso."


def error_question(step: ToolStep) -> str:
    """Return the error as a question to the person, in Portuguese whatever language it came in."""
    text = error_text(step)
    folded = fold(text)
    closed = text if text.endswith((".", "!", "?")) else f"{text}."
    if _AMBIGUOUS.search(folded):
        return f"{_which(text, step, closed)} Qual deles?".replace("? Qual deles?", "?")
    if _UNKNOWN.search(folded):
        if not _PORTUGUESE.search(folded):
            closed = f"Não encontrei {_asked_for(step)}."
        return f"{closed} Pode me dizer o nome completo?"
    if not _PORTUGUESE.search(folded):
        return f"Não consegui usar esse pedido ({text.rstrip('.')}). Pode me dizer de outra forma?"
    return closed if text.endswith("?") else f"{closed} Como prefere seguir?"


def _which(text: str, step: ToolStep, closed: str) -> str:
    """The candidates in a Portuguese sentence; an error that is one already stays as it is."""
    if _PORTUGUESE.search(fold(text)):
        return closed
    offered = "; ".join(detailed_candidates(text))
    return f"Encontrei mais de um para {_asked_for(step)}: {offered or text.rstrip('.')}."


def _asked_for(step: ToolStep) -> str:
    """The name in the call that failed."""
    names = [v for v in step.input.values() if isinstance(v, str) and v]
    return names[0] if names else "isso"


def _read_text(step: ToolStep) -> str:
    data = step.data
    if data is None or isinstance(data, str):
        return str(data or step.result).strip() or "Feito."
    if step.name == "get_balance" and isinstance(data, dict):
        cents = _first_cents(data)
        if cents is not None:
            return f"O saldo é de {brl(cents)}."
    if step.name == "list_bookings":
        found = bookings_in(data)
        if not found:
            return "Não encontrei nenhum horário marcado."
        return "Horários marcados:\n" + "\n".join(f"- {booking_line(b)}" for b in found)
    if step.name == "list_free_slots":
        slots = _free_slots(data)
        return "Horários livres: " + ", ".join(slots) if slots else "Não há horários livres."
    if isinstance(data, list):
        return "\n".join(f"- {_pairs(i) if isinstance(i, dict) else i}" for i in data) or "Nada."
    return _pairs(data) if isinstance(data, dict) else str(data)


def booking_line(booking: Json) -> str:
    """Return one booking in a line: when and with whom."""
    who = booking.get("professional")
    name = who.get("name") if isinstance(who, dict) else who
    return " com ".join(str(part) for part in (booking_start(booking), name) if part)


def _free_slots(data: Any) -> list[str]:
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        return [text for value in lists for text in _free_slots(value)]
    if not isinstance(data, list):
        return []
    texts: list[str] = []
    for item in data:
        if isinstance(item, dict) and not booking_start(item):
            texts += _free_slots(item)
        else:
            texts.append(booking_line(item) if isinstance(item, dict) else str(item))
    return texts


def _first_cents(data: Json) -> int | None:
    cents = [v for k, v in data.items() if k.endswith("cents") and isinstance(v, int)]
    return cents[0] if cents else None


def _pairs(data: Json) -> str:
    parts: list[str] = []
    for key, value in data.items():
        if key in ("status", "already_done", "action_id") or value is None:
            continue
        if key.endswith("cents") and isinstance(value, int):
            parts.append(f"{key.removesuffix('_cents')}: {brl(value)}")
        elif isinstance(value, dict):
            parts.append(_pairs(value))
        else:
            shown = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
            parts.append(f"{key}: {shown}")
    return "; ".join(part for part in parts if part)
