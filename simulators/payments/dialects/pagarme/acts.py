"""What the provider can be asked to do: create an order, cancel a charge, pay a balance out.

Each act records its effect in the transaction that makes it. A failure is a result without effect.
"""

from simulators.payments import brcode
from simulators.payments.dialects.pagarme.errors import MESSAGES, refuse
from simulators.payments.dialects.pagarme.reading import Fields
from simulators.payments.dialects.pagarme.shows import require_recipient
from simulators.payments.dialects.pagarme.views import (
    iso,
    show_charge,
    show_order,
    show_withdrawal,
)
from simulators.payments.provider import Provider, new_id
from simulators.payments.replies import Reply, Twist
from simulators.payments.state import Doc

_ONE_REAL = 100


def create_order(provider: Provider, key: str | None, body: Doc, twist: Twist) -> Reply:
    """Create an order with one Pix charge."""
    fields = Fields()
    item = fields.first(body, "items", "order.items")
    amount = fields.cents(item, "amount", "order.items[0].amount")
    amount *= fields.cents(item, "quantity", "order.items[0].quantity")
    description = fields.text(item, "description", "order.items[0].description", limit=256)
    customer = fields.inner(body, "customer")
    fields.text(customer, "name", "order.customer.name", limit=64)
    document = fields.text(customer, "document", "order.customer.document", limit=50)
    payment = fields.first(body, "payments", "order.payments")
    if payment.get("payment_method") != "pix":
        fields.wrong("order.payments[0].payment_method", "Only pix is simulated.")
    expires_in = fields.cents(fields.inner(payment, "pix"), "expires_in", "order.payments[0].pix")
    if payment.get("amount", amount) != amount:
        fields.wrong("order.payments[0].amount", "The payments must sum up to the items.")
    code = body.get("code")
    if code is not None:
        fields.text(body, "code", "order.code", limit=52)
    fields.raise_if_wrong()
    _precondition(twist)
    amount += _ONE_REAL if twist.alter else 0
    order, charge = _order(provider, body, amount, expires_in, failed=twist.fail)
    visible_at = provider.state.now() + twist.lookup_lag
    provider.state.put("charge", charge, visible_at=visible_at)
    transaction = charge["last_transaction"]["id"]
    provider.state.put("transaction", {"id": transaction, "charge_id": charge["id"]})
    provider.state.put("order", order, code=code, visible_at=visible_at)
    if not twist.fail:
        provider.charged(
            key or code,
            payer=document,
            description=description,
            amount_cents=amount,
            ref=charge["id"],
        )
    return Reply(200, show_order(provider.state, order), acted=not twist.fail)


def cancel_charge(
    provider: Provider, key: str | None, charge_id: str, body: Doc, twist: Twist
) -> Reply:
    """Refund a paid charge or cancel an unpaid one, wholly or in part."""
    charge = provider.state.get("charge", charge_id)
    if charge is None:
        raise refuse(404, "Charge not found.")
    left = charge["amount"] - sum(refund["amount"] for refund in charge["_refunds"])
    fields = Fields()
    amount = fields.cents(body, "amount", "charge.amount") if "amount" in body else left
    fields.raise_if_wrong()
    _precondition(twist)
    if charge["status"] not in ("pending", "paid") or amount > left or left == 0:
        raise refuse(412, "This charge can not be canceled.", kept=True)
    if twist.fail:
        return Reply(200, _failed_refund(show_charge(provider.state, charge, at_once=True)))
    amount += _ONE_REAL if twist.alter else 0
    now = provider.state.now()
    charge["_refunds"].append(
        {
            "amount": amount,
            "visible_at": now + twist.lookup_lag,
            "settle_at": now + twist.settle_after,
        }
    )
    provider.state.change(charge)
    provider.refunded(
        key, charge_ref=charge_id, amount_cents=amount, was_paid=charge["status"] == "paid"
    )
    return Reply(200, show_charge(provider.state, charge, at_once=True), acted=True)


def withdraw(
    provider: Provider, key: str | None, recipient_id: str, body: Doc, twist: Twist
) -> Reply:
    """Pay a part of the balance out to the recipient's bank account."""
    require_recipient(provider, recipient_id)
    fields = Fields()
    amount = fields.cents(body, "amount", "withdrawal.amount")
    fields.raise_if_wrong()
    _precondition(twist)
    if amount > provider.available():
        raise refuse(412, "The recipient has not enough balance.", kept=True)
    amount += _ONE_REAL if twist.alter else 0
    state = provider.state
    now = state.now()
    withdrawal: Doc = {
        "id": new_id("withdrawal"),
        "amount": amount,
        "fee": 0,
        "status": "failed" if twist.fail else "pending_transfer",
        "type": "ted",
        "metadata": fields.inner(body, "metadata"),
        "source": {"source_id": recipient_id, "type": "recipient"},
        "created_at": iso(now),
        "updated_at": iso(now),
        "_settle_at": now + twist.settle_after,
    }
    state.put("withdrawal", withdrawal, visible_at=now + twist.lookup_lag)
    if not twist.fail:
        provider.transferred(key, account=recipient_id, amount_cents=amount, ref=withdrawal["id"])
    return Reply(200, show_withdrawal(state, withdrawal), acted=not twist.fail)


def pay(provider: Provider, charge_id: str) -> Doc | None:
    """Let the customer pay a pending charge; None if there is none. Raises RefusedError 409."""
    with provider.state.transaction():
        charge = provider.state.get("charge", charge_id)
        if charge is None:
            return None
        if charge["status"] != "pending" or charge["_refunds"]:
            raise refuse(409, f"The charge is {charge['status']!r}.")
        if charge["_expires_at"] <= provider.state.now():
            raise refuse(409, "The Pix code has expired.")
        charge["status"] = "paid"
        charge["paid_amount"] = charge["amount"]
        charge["paid_at"] = iso(provider.state.now())
        charge["last_transaction"]["status"] = "paid"
        provider.state.change(charge)
        provider.paid(amount_cents=charge["amount"])
    return show_charge(provider.state, charge)


def _precondition(twist: Twist) -> None:
    if twist.precondition:
        raise refuse(412, MESSAGES[412], kept=True)


def _order(
    provider: Provider, body: Doc, amount: int, expires_in: int, *, failed: bool
) -> tuple[Doc, Doc]:
    now = provider.state.now()
    charge_id = new_id("ch")
    status = "failed" if failed else "pending"
    customer = {**body["customer"], "id": new_id("cus")}
    charge: Doc = {
        "id": charge_id,
        "code": body.get("code"),
        "amount": amount,
        "paid_amount": 0,
        "status": status,
        "currency": "BRL",
        "payment_method": "pix",
        "created_at": iso(now),
        "updated_at": iso(now),
        "customer": customer,
        "last_transaction": _transaction(provider, amount, now + expires_in, failed=failed),
        "_refunds": [],
        "_expires_at": now + expires_in,
    }
    order: Doc = {
        "id": new_id("or"),
        "code": body.get("code"),
        "amount": amount,
        "currency": "BRL",
        "closed": bool(body.get("closed", True)),
        "items": [{**item, "id": new_id("oi")} for item in body["items"]],
        "customer": customer,
        "status": status,
        "metadata": body.get("metadata") or {},
        "created_at": iso(now),
        "updated_at": iso(now),
        "_charge_id": charge_id,
    }
    return order, charge


def _transaction(provider: Provider, amount: int, expires_at: float, *, failed: bool) -> Doc:
    transaction: Doc = {
        "id": new_id("tran"),
        "transaction_type": "pix",
        "amount": amount,
        "success": not failed,
        "status": "failed" if failed else "waiting_payment",
        "gateway_response": {"code": "200", "errors": []},
    }
    if failed:
        errors = [{"message": "The Pix charge was refused by the simulated acquirer."}]
        transaction["gateway_response"] = {"code": "412", "errors": errors}
        return transaction
    identity = transaction["id"]
    transaction["qr_code"] = brcode.render(
        url=f"pix.simulador.example/v2/{identity}",
        amount_cents=amount,
        name=provider.config.merchant_name,
        city=provider.config.merchant_city,
    )
    transaction["qr_code_url"] = (
        f"{provider.config.public_url}/core/v5/transactions/{identity}/qrcode?payment_method=pix"
    )
    transaction["expires_at"] = iso(expires_at)
    return transaction


def _failed_refund(charge: Doc) -> Doc:
    errors = [{"message": "The refund was refused by the simulated acquirer."}]
    transaction = {
        **charge["last_transaction"],
        "status": "failed",
        "gateway_response": {"code": "412", "errors": errors},
    }
    return {**charge, "last_transaction": transaction}
