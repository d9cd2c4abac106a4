"""How stored objects look from outside at this moment. Names with `_` are the simulator's own."""

from datetime import UTC, datetime
from typing import Any

from simulators.payments.state import Doc, State

PIX_PAYABLE = frozenset({"PENDING", "OVERDUE"})


def day(seconds: float) -> str:
    """Return Unix seconds as a day."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def moment(seconds: float) -> str:
    """Return Unix seconds as Asaas writes times."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def money(cents: int) -> float:
    """Return cents as a number of reais."""
    return cents / 100


def public(doc: Doc) -> Doc:
    """Return a document without the simulator's own fields."""
    return {name: value for name, value in doc.items() if not name.startswith("_")}


def listed(docs: list[Doc], total: int, *, limit: int, offset: int) -> Doc:
    """Return a page of Asaas' lists."""
    return {
        "object": "list",
        "hasMore": offset + len(docs) < total,
        "totalCount": total,
        "limit": limit,
        "offset": offset,
        "data": docs,
    }


def show_payment(state: State, payment: Doc, *, just_made: bool = False) -> Doc:
    """Return a charge with its visible refunds; `just_made` shows those that still lag."""
    refunds = show_refunds(state, payment, just_made=just_made)
    given_back = sum(one["_cents"] for one in payment["_refunds"] if not one["_failed"])
    shown = public(payment)
    if given_back == payment["_cents"]:
        shown["status"] = "REFUNDED"
    shown["refunds"] = refunds or None
    return shown


def show_refunds(state: State, payment: Doc, *, just_made: bool = False) -> list[dict[str, Any]]:
    """Return the refunds of a charge: PENDING at first, then DONE or CANCELLED."""
    now = state.now()
    shown = []
    for refund in payment["_refunds"]:
        if not just_made and refund["_visible_at"] > now:
            continue
        settled = refund["_settle_at"] <= now and not just_made
        done = "CANCELLED" if refund["_failed"] else "DONE"
        shown.append({**public(refund), "status": done if settled else "PENDING"})
    return shown


def show_transfer(state: State, transfer: Doc, *, just_made: bool = False) -> Doc:
    """Return a transfer: PENDING at first and while nobody approved it."""
    shown = public(transfer)
    waiting = transfer["_awaiting"] or transfer["_settle_at"] > state.now() or just_made
    if shown["status"] == "PENDING" and not waiting:
        failed = transfer["_failed"]
        shown |= {"status": "FAILED", "failReason": failed} if failed else {"status": "DONE"}
        shown["effectiveDate"] = moment(transfer["_settle_at"])
    return shown
