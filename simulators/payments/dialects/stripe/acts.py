"""What Stripe can be asked to do: confirm a payment intent by Pix, refund, pay out.

Each act records its effect in the transaction that makes it. A failure is a result without effect.
"""

from simulators.payments import brcode
from simulators.payments.dialects.stripe.errors import declined, missing, refuse
from simulators.payments.dialects.stripe.form import Form
from simulators.payments.dialects.stripe.views import show_intent, show_payout, show_refund
from simulators.payments.provider import Provider, new_id
from simulators.payments.replies import Reply, Twist
from simulators.payments.state import Doc

INTENT, REFUND, PAYOUT = "stripe_intent", "stripe_refund", "stripe_payout"
_ONE_REAL = 100
_BILLING = "payment_method_data[billing_details]"
_EXPIRES = "payment_method_options[pix][expires_after_seconds]"
MOST_EXPIRES = 1_209_600
INTENT_FIELDS = frozenset(
    {
        "amount",
        "currency",
        "confirm",
        "description",
        "payment_method_types[]",
        "payment_method_data[type]",
        f"{_BILLING}[name]",
        f"{_BILLING}[email]",
        f"{_BILLING}[phone]",
        f"{_BILLING}[tax_id]",
        _EXPIRES,
        "expand[]",
    }
)
REFUND_FIELDS = frozenset({"payment_intent", "charge", "amount", "reason", "expand[]"})
PAYOUT_FIELDS = frozenset({"amount", "currency", "destination", "description", "expand[]"})


def create_intent(provider: Provider, key: str | None, form: Form, twist: Twist) -> Reply:
    """Create a payment intent and confirm it by Pix."""
    amount = form.positive("amount")
    _reais(form)
    if form.all("payment_method_types[]") != ["pix"] or form.get("confirm") != "true":
        raise refuse(
            400, "Only pix, confirmed at once, is simulated.", param="payment_method_types"
        )
    if form.need("payment_method_data[type]") != "pix":
        raise refuse(400, "The payment method must be pix.", param="payment_method_data")
    expires_in = form.positive(_EXPIRES, most=MOST_EXPIRES)
    if expires_in < 10:
        raise refuse(400, "expires_after_seconds must be at least 10.", param=_EXPIRES)
    if twist.precondition:
        raise declined()
    amount += _ONE_REAL if twist.alter else 0
    intent = _intent(provider, form, amount, expires_in, failed=twist.fail)
    state = provider.state
    state.put(INTENT, intent, visible_at=state.now() + twist.lookup_lag)
    if not twist.fail:
        provider.charged(
            key,
            payer=form.get(f"{_BILLING}[tax_id]") or "",
            description=form.get("description") or "",
            amount_cents=amount,
            ref=intent["id"],
        )
    shown = show_intent(provider, intent, expand=form.all("expand[]"))
    return Reply(200, shown, acted=not twist.fail)


def refund(provider: Provider, key: str | None, form: Form, twist: Twist) -> Reply:
    """Refund a paid intent, wholly or in part, found by its own id or its charge's."""
    intent = _refundable(provider, form)
    left = intent["amount"] - sum(one["amount"] for one in intent["_refunds"])
    amount = form.positive("amount") if form.get("amount") is not None else left
    if intent["status"] != "succeeded":
        raise refuse(400, "This PaymentIntent does not have a successful charge to refund.")
    if left == 0:
        raise refuse(400, "The charge has already been refunded.", code="charge_already_refunded")
    if amount > left:
        raise refuse(400, "Refund amount is greater than unrefunded amount.", param="amount")
    if twist.precondition:
        raise declined()
    amount += _ONE_REAL if twist.alter else 0
    now = provider.state.now()
    made: Doc = {
        "id": new_id("re", length=24),
        "object": "refund",
        "amount": amount,
        "charge": intent["latest_charge"],
        "created": int(now),
        "currency": "brl",
        "metadata": form.metadata,
        "payment_intent": intent["id"],
        "reason": form.get("reason"),
        "status": "failed" if twist.fail else "succeeded",
        "_settle_at": now + twist.settle_after,
    }
    if twist.fail:
        made["failure_reason"] = "declined"
    provider.state.put(REFUND, made, visible_at=now + twist.lookup_lag)
    if not twist.fail:
        intent["_refunds"].append({"amount": amount, "visible_at": now + twist.lookup_lag})
        provider.state.change(intent)
        provider.refunded(key, charge_ref=intent["id"], amount_cents=amount, was_paid=True)
    return Reply(200, show_refund(provider, made), acted=not twist.fail)


def pay_out(provider: Provider, key: str | None, form: Form, twist: Twist) -> Reply:
    """Pay a part of the balance out to the bank account."""
    amount = form.positive("amount")
    _reais(form)
    account = form.get("destination") or provider.config.bank_account_id
    if account != provider.config.bank_account_id:
        raise missing("external account", account, param="destination")
    if amount > provider.available():
        raise refuse(
            400,
            "You have insufficient funds in your Stripe account for this transfer.",
            code="balance_insufficient",
        )
    if twist.precondition:
        raise declined()
    amount += _ONE_REAL if twist.alter else 0
    state = provider.state
    now = state.now()
    payout: Doc = {
        "id": new_id("po", length=24),
        "object": "payout",
        "amount": amount,
        "arrival_date": int(now) + 86_400,
        "automatic": False,
        "created": int(now),
        "currency": "brl",
        "destination": account,
        "failure_code": "account_closed" if twist.fail else None,
        "failure_message": "The bank account has been closed." if twist.fail else None,
        "livemode": False,
        "metadata": form.metadata,
        "method": "standard",
        "status": "failed" if twist.fail else "pending",
        "type": "bank_account",
        "_settle_at": now + twist.settle_after,
    }
    state.put(PAYOUT, payout, visible_at=now + twist.lookup_lag)
    if not twist.fail:
        provider.transferred(key, account=account, amount_cents=amount, ref=payout["id"])
    # The first answer is always `pending`, and so is its replay.
    return Reply(200, show_payout(provider, payout, just_made=True), acted=not twist.fail)


def pay(provider: Provider, intent_id: str) -> Doc | None:
    """Let the customer pay an intent; None if there is none. Raises RefusedError 409."""
    with provider.state.transaction():
        intent = provider.state.get(INTENT, intent_id)
        if intent is None:
            return None
        if intent["status"] != "requires_action":
            raise refuse(409, f"The intent is {intent['status']!r}.")
        if intent["_expires_at"] <= provider.state.now():
            raise refuse(409, "The Pix code has expired.")
        intent["status"] = "succeeded"
        intent["amount_received"] = intent["amount"]
        intent["latest_charge"] = new_id("py", length=24)
        provider.state.change(intent)
        provider.paid(amount_cents=intent["amount"])
    return show_intent(provider, intent, expand=[])


def _reais(form: Form) -> None:
    if form.need("currency").lower() != "brl":
        raise refuse(400, "Pix and this balance are in brl.", param="currency")


def _refundable(provider: Provider, form: Form) -> Doc:
    by_intent, by_charge = form.get("payment_intent"), form.get("charge")
    if (by_intent is None) == (by_charge is None):
        raise refuse(400, "Give one of these params: payment_intent, charge.")
    if by_intent is not None:
        intent = provider.state.get(INTENT, by_intent)
    else:
        _, all_intents = provider.state.listed(INTENT, code=None, page=1, size=1_000_000)
        intent = next((one for one in all_intents if one["latest_charge"] == by_charge), None)
    if intent is None:
        param = "payment_intent" if by_intent is not None else "charge"
        raise missing(param, by_intent or by_charge or "", param=param)
    return intent


def _intent(provider: Provider, form: Form, amount: int, expires_in: int, *, failed: bool) -> Doc:
    now = provider.state.now()
    identity = new_id("pi", length=24)
    details = {
        name: form.get(f"{_BILLING}[{name}]") for name in ("name", "email", "phone", "tax_id")
    }
    return {
        "id": identity,
        "object": "payment_intent",
        "amount": amount,
        "amount_received": 0,
        "canceled_at": None,
        "capture_method": "automatic",
        "client_secret": f"{identity}_secret_{new_id('x')}",
        "created": int(now),
        "currency": "brl",
        "description": form.get("description"),
        "last_payment_error": _failure() if failed else None,
        "latest_charge": None,
        "livemode": False,
        "metadata": form.metadata,
        "payment_method_types": ["pix"],
        "status": "requires_payment_method" if failed else "requires_action",
        "_code": brcode.render(
            url=f"pix.simulador.example/v2/{identity}",
            amount_cents=amount,
            name=provider.config.merchant_name,
            city=provider.config.merchant_city,
        ),
        "_expires_at": now + expires_in,
        "_payment_method": {
            "id": new_id("pm", length=24),
            "object": "payment_method",
            "billing_details": details,
            "type": "pix",
        },
        "_refunds": [],
    }


def _failure() -> Doc:
    return {
        "type": "invalid_request_error",
        "code": "payment_intent_payment_attempt_failed",
        "message": "The Pix charge was refused by the simulated bank.",
    }
