"""How stored objects look from outside at this moment. Names with `_` are the simulator's own."""

from datetime import UTC, datetime
from typing import Any

from simulators.payments.state import Doc, State


def iso(seconds: float) -> str:
    """Return Unix seconds as Pagar.me writes times."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def show_order(state: State, order: Doc) -> Doc:
    """Return an order with its charges."""
    charge = state.get("charge", order["_charge_id"])
    charges = [show_charge(state, charge)] if charge is not None else []
    shown = _public(order)
    if charges and shown["status"] != "failed":
        status = charges[0]["status"]
        shown["status"] = status if status in ("pending", "paid", "canceled") else "pending"
    shown["charges"] = charges
    return shown


def show_charge(state: State, charge: Doc, *, at_once: bool = False) -> Doc:
    """Return a charge with its visible refunds; `at_once` shows those that still lag."""
    now = state.now()
    refunds: list[dict[str, Any]] = [
        refund for refund in charge["_refunds"] if at_once or refund["visible_at"] <= now
    ]
    shown = _public(charge)
    shown["canceled_amount"] = sum(refund["amount"] for refund in refunds)
    transaction = dict(charge["last_transaction"])
    if refunds:
        pending = any(refund["settle_at"] > now for refund in refunds)
        transaction["status"] = "pending_refund" if pending else "refunded"
        transaction["amount"] = refunds[-1]["amount"]
        if shown["canceled_amount"] >= charge["amount"]:
            shown["status"] = "canceled"
    shown["last_transaction"] = transaction
    return shown


def show_withdrawal(state: State, withdrawal: Doc) -> Doc:
    """Return a withdrawal, transferred once its time has come."""
    shown = _public(withdrawal)
    if shown["status"] == "pending_transfer" and withdrawal["_settle_at"] <= state.now():
        shown["status"] = "transferred"
    return shown


def _public(doc: Doc) -> Doc:
    return {name: value for name, value in doc.items() if not name.startswith("_")}
