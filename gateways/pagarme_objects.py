"""Pagar.me v5's objects, compared field by field with the request that was confirmed.

The trap: under one key the provider may hold what another body made (a repeat is answered
uncompared, facts: payments §4), so an answer is ours only if its amount, key and payer are those
of the frozen request.
"""

import json
import re
from collections.abc import Mapping

from pydantic import JsonValue

from domain.outcomes import Operation, ProviderRequest
from gateways.pagarme_requests import METADATA_KEY
from gateways.reading import Json, cents_of, clean, object_of, ref_of, text_of
from gateways.seen import Seen, Stage, hand_on_code

STAGES: Mapping[Operation, Mapping[str, Stage]] = {
    "charge": {
        "pending": Stage.DONE,
        "paid": Stage.DONE,
        "overpaid": Stage.DONE,
        "underpaid": Stage.DONE,
        "processing": Stage.WORKING,
        "failed": Stage.FAILED,
        "canceled": Stage.UNDONE,
        "chargedback": Stage.UNDONE,
    },
    "refund": {
        "refunded": Stage.DONE,
        "canceled": Stage.DONE,
        "pending_refund": Stage.WORKING,
        "processing": Stage.WORKING,
        "failed": Stage.FAILED,
        "with_error": Stage.FAILED,
    },
    "transfer": {
        "transferred": Stage.DONE,
        "created": Stage.WORKING,
        "pending": Stage.WORKING,
        "pending_transfer": Stage.WORKING,
        "processing": Stage.WORKING,
        "failed": Stage.FAILED,
        "canceled": Stage.FAILED,
    },
}


def see(request: ProviderRequest, found: Json) -> Seen:
    """Return `found` compared with `request`, by the operation's own rule."""
    frozen = object_of(json.loads(request.body))
    if request.operation == "charge":
        return _see_order(frozen, found)
    if request.operation == "refund":
        return see_refund(request, frozen, found)
    return _see_withdrawal(frozen, found)


def _see_order(frozen: Json, order: Json) -> Seen:
    charges = order.get("charges")
    charge = object_of(charges[0]) if isinstance(charges, list) and charges else {}
    transaction = object_of(charge.get("last_transaction"))
    words = [text_of(order.get("status")), text_of(charge.get("status"))]
    word = "failed" if "failed" in words else words[1] or words[0]
    data: Json = {
        "order_id": text_of(order.get("id")),
        "charge_id": text_of(charge.get("id")),
        "status": word,
        "amount_cents": cents_of(charge.get("amount")),
        "expires_at": text_of(transaction.get("expires_at")),
        "qr_code_url": text_of(transaction.get("qr_code_url")),
    }
    seen = Seen(
        provider_ref=text_of(charge.get("id")),
        stage=STAGES["charge"].get(word or ""),
        word=word,
        data=data,
    )
    _compare_order(seen, frozen, order, charges)
    if seen.stage is Stage.DONE:
        _check_code(seen, transaction, cents_of(charge.get("amount")))
    seen.failure = _why_failed(transaction)
    return seen


def _compare_order(seen: Seen, frozen: Json, order: Json, charges: JsonValue) -> None:
    items = frozen.get("items")
    amount = cents_of(object_of(items[0]).get("amount")) if isinstance(items, list) else None
    seen.differs("code", frozen=frozen.get("code"), found=order.get("code"))
    seen.differs("amount", frozen=amount, found=cents_of(order.get("amount")))
    document = object_of(frozen.get("customer")).get("document")
    found = text_of(object_of(order.get("customer")).get("document")) or ""
    if re.sub(r"[^0-9A-Z]", "", found.upper()) != document:
        seen.differences.append("customer.document differs")
    if seen.stage is Stage.FAILED and not charges:
        return
    count = len(charges) if isinstance(charges, list) else 0
    seen.differs("number of charges", frozen=1, found=count)
    if count == 1:
        seen.differs("charge amount", frozen=amount, found=seen.data["amount_cents"])
        method = object_of(charges[0] if isinstance(charges, list) else None).get("payment_method")
        seen.differs("payment method", frozen="pix", found=method)


def _check_code(seen: Seen, transaction: Json, amount: int | None) -> None:
    code = text_of(transaction.get("qr_code"))
    if code is not None:
        hand_on_code(seen, code, amount_cents=amount)
    elif seen.word == "pending":
        seen.stage = Stage.WORKING


def _why_failed(transaction: Json) -> str | None:
    gateway = object_of(transaction.get("gateway_response"))
    errors = gateway.get("errors")
    messages = [
        text_of(object_of(error).get("message"))
        for error in (errors if isinstance(errors, list) else [])
    ]
    said = [message for message in messages if message]
    acquirer = text_of(transaction.get("acquirer_message"))
    if not said and acquirer is not None:
        said = [acquirer]
    return clean("; ".join(said)) or None


def see_refund(request: ProviderRequest, frozen: Json, charge: Json) -> Seen:
    """Compare a charge with the refund that `request` asks for.

    Pagar.me keeps one running `canceled_amount` and no key per refund, so the amount that was
    refunded before, frozen with the request, is what tells ours from an earlier one.
    """
    before = cents_of(request.expect.get("refunded_before_cents")) or 0
    amount = cents_of(frozen.get("amount")) or 0
    transaction = object_of(charge.get("last_transaction"))
    refunded = refunded_cents(charge)
    word = text_of(transaction.get("status")) or text_of(charge.get("status"))
    stage = STAGES["refund"].get(word or "")
    if text_of(charge.get("status")) == "failed":
        stage, word = Stage.FAILED, "failed"
    elif stage is not Stage.WORKING and refunded == before + amount:
        stage = Stage.DONE
    elif stage is Stage.DONE and refunded == before:
        stage = None
    seen = Seen(
        provider_ref=text_of(charge.get("id")),
        stage=stage,
        word=word,
        data={"charge_id": text_of(charge.get("id")), "status": word, "amount_cents": amount},
    )
    seen.data["refunded_cents"] = refunded
    seen.differs("charge", frozen=request.path.rsplit("/", 1)[-1], found=charge.get("id"))
    if refunded not in (before, before + amount):
        seen.differs("refunded cents", frozen=before + amount, found=refunded)
    seen.failure = _why_failed(transaction)
    return seen


def refunded_cents(charge: Json) -> int:
    """Return what of `charge` was given back, in cents."""
    refunded = cents_of(charge.get("canceled_amount"))
    if refunded is None:
        whole = text_of(charge.get("status")) == "canceled"
        return (cents_of(charge.get("amount")) or 0) if whole else 0
    return refunded


def _see_withdrawal(frozen: Json, withdrawal: Json) -> Seen:
    word = text_of(withdrawal.get("status"))
    found = cents_of(withdrawal.get("amount"))
    ref = ref_of(withdrawal.get("id"))
    seen = Seen(
        provider_ref=ref,
        stage=STAGES["transfer"].get(word or ""),
        word=word,
        data={"transfer_id": ref, "status": word, "amount_cents": found},
    )
    seen.differs("amount", frozen=frozen.get("amount"), found=found)
    mine = object_of(frozen.get("metadata")).get(METADATA_KEY)
    theirs = object_of(withdrawal.get("metadata")).get(METADATA_KEY)
    seen.differs("metadata key", frozen=mine, found=theirs)
    return seen
