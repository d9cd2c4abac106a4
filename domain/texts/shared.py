"""What the languages share: how a text names an action, and the shape of the ledger's facts.

The words are each language's own; what is here holds none, so that no language can leak into
another.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from domain.actions import Status
from domain.cleaning import neutral_line
from domain.dates import from_iso_utc, zone
from domain.payload import Frozen, text_at
from domain.texts.contract import ActionFact, short_reference

_ESSENTIALS = ("booking_id", "charge_id", "transfer_id", "due_date", "starts_at", "email", "status")
"""What the model may need of payload and result; no Pix code, no document."""


def named(summary: str, action_id: str) -> str:
    """The summary's first line, with the reference: `Gerar cobrança Pix (ref. 9b1c2d)`."""
    return f"{summary.splitlines()[0]} (ref. {short_reference(action_id)})"


def referred(text: str, action_id: str) -> str:
    """The text and a last line `(ref. 9b1c2d)`: "ref." is read in all three languages."""
    return f"{text}\n(ref. {short_reference(action_id)})"


def with_detail(text: str | None, detail: str | None) -> str | None:
    """The text with `{detail}` as a colon and the detail on one line, without markup and without
    its full stop; without one, the text alone."""
    if text is None or "{detail}" not in text:
        return text
    line = neutral_line(detail or "").rstrip(".")
    return text.replace("{detail}", f": {line}" if line else "")


def within_marker(text: str) -> str:
    """One line for an event marker; square brackets in it would end the marker."""
    return neutral_line(text).replace("[", "(").replace("]", ")")


def local_time(payload: Frozen, key: str) -> datetime:
    """The payload's moment under `key`, in the payload's zone."""
    return from_iso_utc(text_at(payload, key)).astimezone(zone(text_at(payload, "time_zone")))


def numbered(options: Sequence[str]) -> str:
    """One option a line, from 1 on, to be answered by its number."""
    return "\n".join(f"{n}. {option}" for n, option in enumerate(options, start=1))


@dataclass(frozen=True, kw_only=True)
class FactWords:
    """A language's words around the facts. `deadline`: how its prompts begin that line."""

    head: str
    deadline: str
    action: str
    tool: str
    state: str
    states: Mapping[Status, str]
    at: str
    summary: str
    valid_until: str
    reason: str
    detail: str
    amount: str
    money: Callable[[int], str]


def facts_text(facts: Sequence[ActionFact], words: FactWords) -> str:
    """The head, then one JSON object a line: quoting keeps a free text from posing as another
    field. Empty without facts."""
    lines = (json.dumps(_fact(fact, words), ensure_ascii=False) for fact in facts)
    return "\n".join([words.head, *lines] if facts else [])


def _fact(fact: ActionFact, words: FactWords) -> dict[str, object]:
    known = {**fact.payload, **(fact.result or {})}
    amount = known.get("amount_cents")
    line: dict[str, object] = {
        words.action: fact.action_id,
        words.tool: fact.tool,
        "status": fact.status.value,
        words.state: words.states[fact.status],
        words.at: f"{fact.at:%Y-%m-%d %H:%M}",
        words.summary: "; ".join(_without_question(fact.summary, words.deadline)),
    }
    if fact.status is Status.PENDING and fact.expires_at is not None:
        line[words.valid_until] = f"{fact.expires_at:%Y-%m-%d %H:%M}"
    if fact.close_reason is not None:
        line[words.reason] = fact.close_reason.value
    if fact.detail:
        line[words.detail] = neutral_line(fact.detail)
    if isinstance(amount, int):
        line[words.amount] = words.money(amount)
    if fact.status is Status.EXECUTED:
        line.update({key: known[key] for key in _ESSENTIALS if known.get(key) is not None})
    return line


def _without_question(summary: str, deadline: str) -> list[str]:
    """The lines of what was asked, whether or not deadline and question stand below them."""
    asked = summary.split("\n\n")[0].splitlines()
    return asked[:-1] if asked[-1].startswith(deadline) else asked
