"""What Asaas can be asked to do: register a customer, charge, give back, transfer.

No act looks at what came before under the same `externalReference`: that is what Asaas does too.
Each records its effect in the transaction that makes it; a transfer that awaits its validation is
none yet.
"""

import uuid

from simulators.payments import brcode
from simulators.payments.dialects.asaas import reading, views
from simulators.payments.dialects.asaas.errors import refuse
from simulators.payments.provider import Provider, new_id
from simulators.payments.replies import Reply, Twist
from simulators.payments.state import Doc

CUSTOMER, PAYMENT, TRANSFER = "asaas_customer", "asaas_payment", "asaas_transfer"
_ONE_REAL = 100


def create_customer(provider: Provider, body: Doc) -> Reply:
    """Register a customer; two with one document are two."""
    document = reading.text(body, "cpfCnpj", limit=18)
    customer: Doc = {
        "object": "customer",
        "id": new_id("cus", length=12),
        "dateCreated": views.day(provider.state.now()),
        "name": reading.text(body, "name"),
        "cpfCnpj": document,
        "externalReference": reading.optional(body, "externalReference", limit=100),
        "deleted": False,
    }
    provider.state.put(CUSTOMER, customer, code=document)
    return Reply(200, views.public(customer), acted=True)


def create_payment(provider: Provider, body: Doc, twist: Twist) -> Reply:
    """Create a Pix charge."""
    state = provider.state
    amount = reading.cents(body, "value")
    customer = state.get(CUSTOMER, reading.text(body, "customer"))
    if customer is None:
        raise refuse(400, "invalid_customer", "Customer inválido ou não informado.")
    if body.get("billingType") != "PIX":
        raise reading.wrong("billingType")
    due = reading.text(body, "dueDate", limit=10)
    if not reading.DAY.fullmatch(due) or due < views.day(state.now() - 3 * 3600):
        raise refuse(400, "invalid_dueDate", "Não é permitido data de vencimento inferior a hoje.")
    reference = reading.optional(body, "externalReference", limit=reading.MAX_REFERENCE)
    if twist.fail or twist.precondition:
        raise refuse(400, "invalid_action", "A cobrança não pôde ser criada.")
    amount += _ONE_REAL if twist.alter else 0
    identity = new_id("pay")
    payment: Doc = {
        "object": "payment",
        "id": identity,
        "dateCreated": views.day(state.now()),
        "customer": customer["id"],
        "value": views.money(amount),
        "description": reading.optional(body, "description"),
        "billingType": "PIX",
        "status": "PENDING",
        "dueDate": due,
        "invoiceUrl": f"{provider.config.public_url}/i/{identity}",
        "externalReference": reference,
        "deleted": False,
        "_cents": amount,
        "_refunds": [],
    }
    state.put(PAYMENT, payment, code=reference, visible_at=state.now() + twist.lookup_lag)
    provider.charged(
        reference,
        payer=customer["cpfCnpj"],
        description=payment["description"] or "",
        amount_cents=amount,
        ref=identity,
    )
    return Reply(200, views.show_payment(state, payment), acted=True)


def refund(provider: Provider, payment_id: str, body: Doc, twist: Twist) -> Reply:
    """Give a received charge back, wholly or in part."""
    state = provider.state
    payment = state.get(PAYMENT, payment_id)
    if payment is None:
        raise refuse(404, "not_found", "Cobrança não encontrada.")
    left = payment["_cents"] - sum(
        one["_cents"] for one in payment["_refunds"] if not one["_failed"]
    )
    amount = reading.cents(body, "value") if "value" in body else left
    if payment["status"] != "RECEIVED" or amount > left or twist.precondition:
        raise refuse(400, "invalid_action", "A cobrança não pode ser estornada.")
    amount += _ONE_REAL if twist.alter else 0
    now = state.now()
    description = reading.optional(body, "description")
    payment["_refunds"].append(
        {
            "dateCreated": views.moment(now),
            "value": views.money(amount),
            "description": description,
            "transactionReceiptUrl": None,
            "_cents": amount,
            "_failed": twist.fail,
            "_settle_at": now + twist.settle_after,
            "_visible_at": now + twist.lookup_lag,
        }
    )
    state.change(payment)
    if not twist.fail:
        provider.refunded(description, charge_ref=payment_id, amount_cents=amount, was_paid=True)
    return Reply(200, views.show_payment(state, payment, just_made=True), acted=not twist.fail)


def transfer(provider: Provider, body: Doc, twist: Twist, *, validated: bool) -> Reply:
    """Send a Pix out of the balance. `validated`: it waits for the account's own word first."""
    state = provider.state
    amount = reading.cents(body, "value")
    pix_key = reading.text(body, "pixAddressKey", limit=77)
    reading.text(body, "pixAddressKeyType", limit=5)
    reference = reading.optional(body, "externalReference", limit=reading.MAX_REFERENCE)
    if amount > provider.available() or twist.precondition:
        raise refuse(400, "invalid_action", "Saldo insuficiente.")
    amount += _ONE_REAL if twist.alter else 0
    now = state.now()
    made: Doc = {
        "object": "transfer",
        "id": str(uuid.uuid4()),
        "dateCreated": views.day(now),
        "value": views.money(amount),
        "netValue": views.money(amount),
        "status": "PENDING",
        "transferFee": 0,
        "effectiveDate": None,
        "failReason": None,
        "externalReference": reference,
        "description": reading.optional(body, "description"),
        "operationType": "PIX",
        "bankAccount": {"bank": None, "ownerName": None, "pixAddressKey": pix_key},
        "_cents": amount,
        "_failed": "Recusada pela instituição de destino." if twist.fail else None,
        "_awaiting": validated,
        "_settle_at": now + twist.settle_after,
    }
    state.put(TRANSFER, made, code=reference, visible_at=now + twist.lookup_lag)
    if not validated:
        _transferred(provider, made)
    shown = views.show_transfer(state, made, just_made=True)
    return Reply(200, shown, acted=not twist.fail and not validated)


def decide_transfer(provider: Provider, transfer_id: str, *, approved: bool, why: str) -> None:
    """Let a transfer that awaits its validation go, or cancel it. A repeat changes nothing."""
    state = provider.state
    with state.transaction():
        made = state.get(TRANSFER, transfer_id)
        if made is None or not made["_awaiting"]:
            return
        made["_awaiting"] = False
        if not approved:
            made |= {"status": "CANCELLED", "failReason": why}
        state.change(made)
        if approved:
            _transferred(provider, made)


def _transferred(provider: Provider, made: Doc) -> None:
    if made["_failed"] is None:
        provider.transferred(
            made["externalReference"],
            account=made["bankAccount"]["pixAddressKey"],
            amount_cents=made["_cents"],
            ref=made["id"],
        )


def pay(provider: Provider, payment_id: str) -> Doc | None:
    """Let the customer pay a charge; None if there is none. Raises RefusedError 409."""
    state = provider.state
    with state.transaction():
        payment = state.get(PAYMENT, payment_id)
        if payment is None:
            return None
        if payment["status"] not in views.PIX_PAYABLE:
            raise refuse(409, "invalid_action", f"The charge is {payment['status']!r}.")
        payment["status"] = "RECEIVED"
        state.change(payment)
        provider.paid(amount_cents=payment["_cents"])
    return views.show_payment(state, payment)


def pix_code(provider: Provider, payment: Doc) -> str:
    """Return the code that pays a charge."""
    return brcode.render(
        url=f"pix.simulador.example/v2/{payment['id']}",
        amount_cents=payment["_cents"],
        name=provider.config.merchant_name,
        city=provider.config.merchant_city,
    )
