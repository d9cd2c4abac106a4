"""A prompt as a person reads it, read by a grammar of its own: title, lines, deadline, question.

Written from the design and the words of the templates, not from the product's code. Whatever does
not have exactly this form could show one thing and be another.
"""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from tests.integration.lying.records import Json, promise

ZONE = ZoneInfo("America/Sao_Paulo")
FORM = "a prompt has exactly the form of its template"

LINES: dict[str, tuple[str, ...]] = {
    "Gerar cobrança Pix": ("Cliente", "Valor", "Vencimento", "Descrição?"),
    "Estornar cobrança": ("Cobrança", "Valor do estorno", "Já estornado antes?", "Cliente"),
    "Transferir saldo": ("Valor", "Destino"),
    "Marcar horário": ("Cliente", "Profissional", "Quando", "Duração"),
    "Remarcar horário": ("Cliente", "Profissional", "De", "Para", "Duração"),
    "Desmarcar horário": ("Cliente", "Profissional", "Quando"),
    "Atualizar e-mail": ("Cliente", "E-mail atual?", "Novo e-mail"),
}
"""Each title with its labels in order; `?` marks those that may be missing."""

BY_WORD = {"Marcar horário", "Remarcar horário", "Desmarcar horário", "Atualizar e-mail"}
"""What a typed yes may decide as well."""

TOOLS = {
    "create_pix_charge": "Gerar cobrança Pix",
    "refund_charge": "Estornar cobrança",
    "transfer_balance": "Transferir saldo",
    "create_booking": "Marcar horário",
    "reschedule_booking": "Remarcar horário",
    "cancel_booking": "Desmarcar horário",
    "update_email": "Atualizar e-mail",
}

_UNTIL = re.compile(r"Válido até ([0-9]{2}):([0-9]{2})(?: de ([0-9]{2})/([0-9]{2}))?")
_BUTTON = re.compile(r"pa:(confirm|cancel):([0-9a-f]{32})")
_MONEY = re.compile(r"R\$ ([0-9]{1,3}(?:\.[0-9]{3})*),([0-9]{2})")
_DOCUMENT = re.compile(r" \((?:CPF|CNPJ) ([^()]*)\)$")
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a prompt says. `until`: the end of the minute that it prints (UTC)."""

    action: str
    title: str
    lines: dict[str, str]
    until: datetime
    text: str

    @property
    def customer(self) -> str:
        """The printed name, without the document."""
        return _DOCUMENT.sub("", self.lines["Cliente"])

    @property
    def document(self) -> str:
        """What is printed of the document: signs that stand together in it."""
        match = _DOCUMENT.search(self.lines["Cliente"])
        return re.sub(r"[^0-9A-Z]", "", match[1]) if match else ""

    def cents(self, label: str) -> int:
        """The printed amount."""
        return printed_cents(self.lines[label])


def printed_cents(text: str) -> int:
    """The amount in a text that holds exactly one. Breaks the promise of the form otherwise."""
    found = _MONEY.findall(text)
    promise(FORM, kept=len(found) == 1, detail=text)
    return int(found[0][0].replace(".", "") + found[0][1])


def is_prompt(body: Json) -> bool:
    """Whether the message has anything to press."""
    return body.get("type") != "text" or "interactive" in body


def read_prompt(body: Json, *, sent_at: datetime) -> Shown:
    """The prompt. Raises BrokenPromiseError for any other message with buttons."""
    interactive = body.get("interactive", {})
    promise(FORM, kept=set(interactive) == {"type", "body", "action"}, detail=body)
    text: str = interactive["body"]["text"]
    hidden = [char for char in text if unicodedata.category(char) in _HIDDEN and char != "\n"]
    promise(FORM, kept=not hidden, detail=(hidden, text))
    title, *rest = text.split("\n")
    promise(FORM, kept=title in LINES and rest[-2:] == ["", "Confirma?"], detail=text)
    return Shown(
        action=_action(interactive["action"]["buttons"]),
        title=title,
        lines=_lines(title, rest[:-3], text),
        until=_until(rest[-3], sent_at),
        text=text,
    )


def _action(buttons: list[Json]) -> str:
    replies = [one["reply"] for one in buttons]
    read = [_BUTTON.fullmatch(one["id"]) for one in replies]
    verdicts = [one and one[1] for one in read]
    actions = {one[2] for one in read if one}
    titles = [one["title"] for one in replies]
    promise(
        FORM,
        kept=verdicts == ["confirm", "cancel"]
        and len(actions) == 1
        and titles == ["Confirmar", "Cancelar"],
        detail=buttons,
    )
    return actions.pop()


def _lines(title: str, rest: list[str], text: str) -> dict[str, str]:
    """Each line by its label: all that must be there, none twice, none besides."""
    lines: dict[str, str] = {}
    for label in LINES[title]:
        name = label.removesuffix("?")
        if rest and rest[0].startswith(f"{name}: "):
            lines[name] = rest.pop(0).partition(": ")[2]
        else:
            promise(FORM, kept=label.endswith("?"), detail=text)
    promise(FORM, kept=not rest, detail=text)
    return lines


def _until(line: str, sent_at: datetime) -> datetime:
    match = _UNTIL.fullmatch(line)
    promise(FORM, kept=match is not None, detail=line)
    assert match is not None
    local = sent_at.astimezone(ZONE).replace(second=0, microsecond=0)
    until = local.replace(hour=int(match[1]), minute=int(match[2]))
    if match[3] is not None:
        until = until.replace(day=int(match[3]), month=int(match[4]))
    elif until < local - timedelta(hours=12):
        until += timedelta(days=1)
    return until + timedelta(minutes=1)
