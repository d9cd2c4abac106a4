"""What was executed, read at the far side and held against what was shown."""

import json
import re
from datetime import datetime, timedelta

from tests.integration.lying.asked import Books
from tests.integration.lying.prompts import ZONE, Shown
from tests.integration.lying.records import Changed, Trip, promise

SAME = "what was executed is what was shown"
_FULL = re.compile(r"\w{3}\., ([0-9]{2})/([0-9]{2})/([0-9]{4}) às ([0-9]{2}):([0-9]{2})")
_NEAR = re.compile(r"(hoje|amanhã \(.*\)) às ([0-9]{2}):([0-9]{2})")


def check_trip(shown: Shown, trip: Trip, books: Books) -> None:
    """Fail unless the bytes that went out are those of the prompt: amount, whom, and for what."""
    body = json.loads(trip.body)
    match shown.title:
        case "Gerar cobrança Pix":
            kept = _charge(shown, trip, body)
        case "Transferir saldo":
            amount = shown.cents("Valor")
            path = f"/core/v5/recipients/{books.recipient}/withdrawals"
            kept = (trip.path, body["amount"]) == (path, amount)
        case "Estornar cobrança":
            kept = _refund(shown, trip, body, books)
        case _:
            kept = False
    promise(SAME, kept=kept, detail=(shown, trip))


def _charge(shown: Shown, trip: Trip, body: dict[str, object]) -> bool:
    customer, items, payments = body["customer"], body["items"], body["payments"]
    assert isinstance(customer, dict)
    assert isinstance(items, list)
    assert isinstance(payments, list)
    amount = shown.cents("Valor")
    return (
        (trip.method, trip.path) == ("POST", "/core/v5/orders")
        and [(one["amount"], one["quantity"]) for one in items] == [(amount, 1)]
        and [one["amount"] for one in payments] == [amount]
        and items[0]["description"] == shown.lines.get("Descrição", "Cobrança")
        and customer["name"] == shown.customer
        and shown.document in customer["document"]
    )


def _refund(shown: Shown, trip: Trip, body: dict[str, object], books: Books) -> bool:
    number = re.match(r"nº ([0-9]+), de ", shown.lines["Cobrança"])
    assert number is not None
    path = f"/core/v5/charges/{books.refs[int(number[1])]}"
    return (trip.path, body["amount"]) == (path, shown.cents("Valor do estorno"))


def agrees(shown: Shown, change: Changed) -> bool:
    """Whether the books changed as this prompt says."""
    if shown.title != change.title or shown.customer != change.about["customer"]:
        return False
    if shown.title == "Atualizar e-mail":
        printed = (shown.lines.get("E-mail atual", ""), shown.lines["Novo e-mail"])
        return printed == (change.about["old"], change.about["email"])
    if shown.lines["Profissional"] != change.about["professional"]:
        return False
    times = {"Quando": "starts_at", "De": "old_starts_at", "Para": "starts_at"}
    return all(
        local_time(shown.lines[label], shown) == datetime.fromisoformat(change.about[key])
        for label, key in times.items()
        if label in shown.lines
    )


def local_time(printed: str, shown: Shown) -> datetime:
    """The moment that a line prints; `hoje` and `amanhã` are seen from the deadline's day."""
    full = _FULL.fullmatch(printed)
    if full is not None:
        day, month, year, hour, minute = map(int, full.groups())
        return datetime(year, month, day, hour, minute, tzinfo=ZONE)
    near = _NEAR.fullmatch(printed)
    assert near is not None, f"no time in {printed!r}"
    asked_at = shown.until.astimezone(ZONE) - timedelta(minutes=11)
    day_after = timedelta(days=near[1] != "hoje")
    return (asked_at + day_after).replace(
        hour=int(near[2]), minute=int(near[3]), second=0, microsecond=0
    )
