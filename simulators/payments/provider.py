"""The simulated provider's acts and what it shows of them.

Written from the public description of Pagar.me v5: a key is kept for 24 hours with whatever the
first execution gave, failures included, and a repeat is answered from that, without comparing
the body. Refusals of malformed requests are not kept.
"""

from collections.abc import Callable
from typing import Any

from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.replies import RefusedError, Reply, Twist
from simulators.payments.state import Doc, State
from simulators.payments.views import show_charge, show_order, show_withdrawal

MAX_PAGE = 30
Act = Callable[[Twist], Reply]


class Provider:
    """Reads and keyed execution over one State; the acts themselves are in acts.py."""

    def __init__(self, config: PaymentsSimulatorConfig, state: State) -> None:
        """Take the settings and the memory."""
        self.config = config
        self.state = state

    def execute(self, key: str | None, twist: Twist, act: Act) -> Reply:
        """Run `act` once per key, in one transaction with the kept answer."""
        retention = self.config.key_retention_seconds
        with self.state.transaction():
            if key is not None and not twist.ignore_key:
                kept = self.state.kept(key, retention_seconds=retention)
                if kept is not None:
                    return Reply(*kept, replayed=True)
            try:
                reply = act(twist)
            except RefusedError as refused:
                if not refused.kept:
                    raise
                reply = refused.reply
            if key is not None:
                self.state.keep(key, reply.status, reply.doc)
            return reply

    def orders(self, *, code: str | None, page: int, size: int) -> Reply:
        """Return a page of orders, newest first."""
        total, docs = self.state.listed("order", code=code, page=page, size=min(size, MAX_PAGE))
        return _page([show_order(self.state, doc) for doc in docs], total)

    def order(self, order_id: str) -> Reply:
        """Return one order."""
        doc = self.state.get("order", order_id, lagging=True)
        if doc is None:
            raise RefusedError(404, "Order not found.")
        return Reply(200, show_order(self.state, doc))

    def charge(self, charge_id: str) -> Reply:
        """Return one charge."""
        doc = self.state.get("charge", charge_id, lagging=True)
        if doc is None:
            raise RefusedError(404, "Charge not found.")
        return Reply(200, show_charge(self.state, doc))

    def withdrawals(self, recipient_id: str, *, page: int, size: int) -> Reply:
        """Return a page of withdrawals, newest first."""
        self.require_recipient(recipient_id)
        total, docs = self.state.listed(
            "withdrawal", code=None, page=page, size=min(size, MAX_PAGE)
        )
        return _page([show_withdrawal(self.state, doc) for doc in docs], total)

    def balance(self, recipient_id: str) -> Reply:
        """Return the recipient's balance."""
        self.require_recipient(recipient_id)
        return Reply(
            200,
            {
                "currency": "BRL",
                "available_amount": self.available(),
                "waiting_funds_amount": 0,
                "transferred_amount": int(self.state.number("transferred")),
                "recipient": {"id": recipient_id},
            },
        )

    def available(self) -> int:
        """Return the available balance in cents."""
        return self.config.opening_balance_cents + int(self.state.number("balance_change"))

    def pix_code(self, transaction_id: str) -> str | None:
        """Return the Pix code of a transaction, None if there is none."""
        charge_id = self.state.get("transaction", transaction_id)
        charge = charge_id and self.state.get("charge", charge_id["charge_id"])
        return charge["last_transaction"].get("qr_code") if charge else None

    def require_recipient(self, recipient_id: str) -> None:
        """Raise the 404 for any other recipient than the configured one."""
        if recipient_id != self.config.recipient_id:
            raise RefusedError(404, "Recipient not found.")


def _page(docs: list[Doc], total: int) -> Reply:
    paging: dict[str, Any] = {"total": total}
    return Reply(200, {"data": docs, "paging": paging})
