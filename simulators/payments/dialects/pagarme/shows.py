"""What Pagar.me shows: orders, charges, withdrawals and the balance."""

from typing import Any

from simulators.payments.dialects.pagarme.errors import refuse
from simulators.payments.dialects.pagarme.views import show_charge, show_order, show_withdrawal
from simulators.payments.provider import Provider
from simulators.payments.replies import Reply
from simulators.payments.state import Doc

MAX_PAGE = 30


def orders(provider: Provider, *, code: str | None, page: int, size: int) -> Reply:
    """Return a page of orders, newest first."""
    total, docs = provider.state.listed("order", code=code, page=page, size=min(size, MAX_PAGE))
    return _page([show_order(provider.state, doc) for doc in docs], total)


def order(provider: Provider, order_id: str) -> Reply:
    """Return one order."""
    doc = provider.state.get("order", order_id, lagging=True)
    if doc is None:
        raise refuse(404, "Order not found.")
    return Reply(200, show_order(provider.state, doc))


def charge(provider: Provider, charge_id: str) -> Reply:
    """Return one charge."""
    doc = provider.state.get("charge", charge_id, lagging=True)
    if doc is None:
        raise refuse(404, "Charge not found.")
    return Reply(200, show_charge(provider.state, doc))


def withdrawals(provider: Provider, recipient_id: str, *, page: int, size: int) -> Reply:
    """Return a page of withdrawals, newest first."""
    require_recipient(provider, recipient_id)
    total, docs = provider.state.listed(
        "withdrawal", code=None, page=page, size=min(size, MAX_PAGE)
    )
    return _page([show_withdrawal(provider.state, doc) for doc in docs], total)


def balance(provider: Provider, recipient_id: str) -> Reply:
    """Return the recipient's balance."""
    require_recipient(provider, recipient_id)
    return Reply(
        200,
        {
            "currency": "BRL",
            "available_amount": provider.available(),
            "waiting_funds_amount": 0,
            "transferred_amount": int(provider.state.number("transferred")),
            "recipient": {"id": recipient_id},
        },
    )


def pix_code(provider: Provider, transaction_id: str) -> str | None:
    """Return the Pix code of a transaction, None if there is none."""
    charge_id = provider.state.get("transaction", transaction_id)
    found = charge_id and provider.state.get("charge", charge_id["charge_id"])
    return found["last_transaction"].get("qr_code") if found else None


def require_recipient(provider: Provider, recipient_id: str) -> None:
    """Raise the 404 for any other recipient than the configured one."""
    if recipient_id != provider.config.recipient_id:
        raise refuse(404, "Recipient not found.")


def _page(docs: list[Doc], total: int) -> Reply:
    paging: dict[str, Any] = {"total": total}
    return Reply(200, {"data": docs, "paging": paging})
