"""Stripe's objects, compared field by field with the request that was confirmed.

The trap: a payment intent is a machine of its own. One whose code expired goes back to the status
it had before it was confirmed, which reads like a failure although a code was out; and objects of
the test environment look like live ones but for one field. Source: facts, payments §3.
"""

import re
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from domain.outcomes import Operation, ProviderRequest
from gateways.reading import Json, cents_of, clean, object_of, text_of
from gateways.seen import Seen, Stage, hand_on_code
from gateways.stripe_requests import CURRENCY, METADATA_KEY, fields_of, refund_target

STAGES: Mapping[Operation, Mapping[str, Stage]] = {
    "charge": {
        "requires_action": Stage.DONE,
        "succeeded": Stage.DONE,
        "processing": Stage.WORKING,
        "failed": Stage.FAILED,
        "expired": Stage.UNDONE,
        "canceled": Stage.UNDONE,
    },
    "refund": {
        "succeeded": Stage.DONE,
        "pending": Stage.WORKING,
        "requires_action": Stage.WORKING,
        "failed": Stage.FAILED,
        "canceled": Stage.FAILED,
    },
    "transfer": {
        "paid": Stage.DONE,
        "in_transit": Stage.DONE,
        "pending": Stage.WORKING,
        "failed": Stage.FAILED,
        "canceled": Stage.FAILED,
    },
}
"""By Stripe's word, except `failed` and `expired` of a charge: see `word_of`. A payout counts once
it is handed to the bank (`in_transit`); that takes up to a working day."""

EXPIRED = "payment_intent_payment_attempt_expired"
_BILLING = "payment_method_data[billing_details]"


def see(request: ProviderRequest, found: Json) -> Seen:
    """Return `found` compared with `request`, by the operation's own rule."""
    seen = _SEE[request.operation](request, found)
    mine = fields_of(request)
    seen.differs("amount", frozen=int(mine["amount"]), found=cents_of(found.get("amount")))
    seen.differs("currency", frozen=CURRENCY, found=found.get("currency"))
    key = mine[f"metadata[{METADATA_KEY}]"]
    seen.differs("metadata key", frozen=key, found=key_of(found))
    return seen


def key_of(found: Json) -> str | None:
    """Return the key that an object carries."""
    return text_of(object_of(found.get("metadata")).get(METADATA_KEY))


def word_of(intent: Json) -> str | None:
    """Return the status of an intent, with what became of its attempt in one word.

    `requires_payment_method` says only that there is no living attempt; the last error tells an
    expired code from one that never came to be.
    """
    word = text_of(intent.get("status"))
    error = object_of(intent.get("last_payment_error"))
    if word != "requires_payment_method" or not error:
        return word
    return "expired" if error.get("code") == EXPIRED else "failed"


def pix_of(intent: Json) -> Json:
    """Return what an intent shows to be paid by, empty if there is nothing."""
    return object_of(object_of(intent.get("next_action")).get("pix_display_qr_code"))


def _see_intent(request: ProviderRequest, intent: Json) -> Seen:
    mine = fields_of(request)
    word = word_of(intent)
    amount = cents_of(intent.get("amount"))
    pix = pix_of(intent)
    data: Json = {
        "charge_id": text_of(intent.get("id")),
        "status": word,
        "amount_cents": amount,
        "expires_at": cents_of(pix.get("expires_at")),
        "qr_code_url": text_of(pix.get("image_url_png")),
    }
    seen = _seen("charge", intent, word, data)
    seen.differs("livemode", frozen=request.expect["livemode"], found=intent.get("livemode"))
    seen.differs("payment methods", frozen=["pix"], found=intent.get("payment_method_types"))
    seen.differs_unnamed("description", frozen=mine["description"], found=intent.get("description"))
    _compare_payer(seen, mine, object_of(intent.get("payment_method")))
    if word == "requires_action":
        code = text_of(pix.get("data"))
        if code is None:
            seen.stage = Stage.WORKING
        else:
            hand_on_code(seen, code, amount_cents=amount)
    seen.failure = _message(intent.get("last_payment_error"))
    return seen


def _compare_payer(seen: Seen, mine: Mapping[str, str], method: Json) -> None:
    """Compare name and document where Stripe shows them; without an attempt it shows none."""
    details = object_of(method.get("billing_details"))
    name, document = text_of(details.get("name")), text_of(details.get("tax_id"))
    if name is not None:
        seen.differs_unnamed("payer name", frozen=mine[f"{_BILLING}[name]"], found=name)
    if document is not None:
        plain = re.sub(r"[^0-9A-Z]", "", document.upper())
        seen.differs_unnamed("payer document", frozen=mine[f"{_BILLING}[tax_id]"], found=plain)


def _see_refund(request: ProviderRequest, refund: Json) -> Seen:
    mine = fields_of(request)
    word = text_of(refund.get("status"))
    data: Json = {
        "refund_id": text_of(refund.get("id")),
        "status": word,
        "amount_cents": cents_of(refund.get("amount")),
    }
    seen = _seen("refund", refund, word, data)
    target = "charge" if "charge" in mine else "payment_intent"
    seen.differs(target, frozen=mine[target], found=refund.get(target))
    seen.failure = text_of(refund.get("failure_reason"))
    return seen


def _see_payout(request: ProviderRequest, payout: Json) -> Seen:
    mine = fields_of(request)
    word = text_of(payout.get("status"))
    data: Json = {
        "transfer_id": text_of(payout.get("id")),
        "status": word,
        "amount_cents": cents_of(payout.get("amount")),
        "arrives_at": cents_of(payout.get("arrival_date")),
    }
    seen = _seen("transfer", payout, word, data)
    seen.differs("livemode", frozen=request.expect["livemode"], found=payout.get("livemode"))
    seen.differs("destination", frozen=mine["destination"], found=payout.get("destination"))
    failure = text_of(payout.get("failure_message")) or text_of(payout.get("failure_code"))
    seen.failure = clean(failure) if failure is not None else None
    return seen


def _seen(operation: Operation, found: Json, word: str | None, data: Json) -> Seen:
    return Seen(
        provider_ref=text_of(found.get("id")),
        stage=STAGES[operation].get(word or ""),
        word=word,
        data=data,
    )


def _message(error: JsonValue) -> str | None:
    said = object_of(error)
    message = text_of(said.get("message")) or text_of(said.get("code"))
    return clean(message) if message is not None else None


_SEE: Mapping[Operation, Callable[[ProviderRequest, Json], Seen]] = {
    "charge": _see_intent,
    "refund": _see_refund,
    "transfer": _see_payout,
}


def belongs_to(refund: Json, charge_ref: str) -> bool:
    """Return whether a listed refund is of the charge that was asked for."""
    return refund.get(refund_target(charge_ref)) == charge_ref
