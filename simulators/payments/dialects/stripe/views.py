"""How stored objects look from outside at this moment. Names with `_` are the simulator's own."""

from collections.abc import Collection

from simulators.payments.provider import Provider
from simulators.payments.state import Doc

EXPIRED = {
    "type": "invalid_request_error",
    "code": "payment_intent_payment_attempt_expired",
    "message": "The payment attempt expired.",
}


def show_intent(provider: Provider, intent: Doc, *, expand: Collection[str]) -> Doc:
    """Return an intent. `expand`: which ids are shown as objects."""
    shown = _public(intent)
    if shown["status"] == "requires_action" and intent["_expires_at"] <= provider.state.now():
        shown["status"] = "requires_payment_method"
        shown["last_payment_error"] = EXPIRED
    waiting = shown["status"] == "requires_action"
    shown["next_action"] = _next_action(provider, intent) if waiting else None
    method = intent["_payment_method"]
    if shown["status"] == "requires_payment_method":
        shown["payment_method"] = None
    else:
        shown["payment_method"] = method if "payment_method" in expand else method["id"]
    if "latest_charge" in expand and intent["latest_charge"] is not None:
        shown["latest_charge"] = show_charge(provider, intent)
    return shown


def show_charge(provider: Provider, intent: Doc) -> Doc:
    """Return the charge of a paid intent."""
    now = provider.state.now()
    refunded = sum(one["amount"] for one in intent["_refunds"] if one["visible_at"] <= now)
    return {
        "id": intent["latest_charge"],
        "object": "charge",
        "amount": intent["amount"],
        "amount_captured": intent["amount"],
        "amount_refunded": refunded,
        "currency": "brl",
        "livemode": False,
        "metadata": intent["metadata"],
        "paid": True,
        "payment_intent": intent["id"],
        "refunded": refunded == intent["amount"],
        "status": "succeeded",
    }


def show_refund(provider: Provider, refund: Doc) -> Doc:
    """Return a refund, succeeded once its time has come."""
    shown = _public(refund)
    if shown["status"] == "succeeded" and refund["_settle_at"] > provider.state.now():
        shown["status"] = "pending"
    return shown


def show_payout(provider: Provider, payout: Doc, *, just_made: bool = False) -> Doc:
    """Return a payout, with the bank once its time has come."""
    shown = _public(payout)
    due = payout["_settle_at"] <= provider.state.now()
    if shown["status"] == "pending" and due and not just_made:
        shown["status"] = "in_transit"
    return shown


def _next_action(provider: Provider, intent: Doc) -> Doc:
    page = f"{provider.config.public_url}/stripe/pix/{intent['id']}"
    return {
        "type": "pix_display_qr_code",
        "pix_display_qr_code": {
            "data": intent["_code"],
            "expires_at": int(intent["_expires_at"]),
            "hosted_instructions_url": page,
            "image_url_png": f"{page}.png",
            "image_url_svg": f"{page}.svg",
        },
    }


def _public(doc: Doc) -> Doc:
    return {name: value for name, value in doc.items() if not name.startswith("_")}
