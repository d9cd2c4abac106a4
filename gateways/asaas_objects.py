"""Asaas' objects, compared field by field with the request that was confirmed.

The trap: `externalReference` is neither unique nor ours alone, so an object is ours only if amount,
payer or destination are those of the frozen request too. A refund bears our key only in its
description.
"""

from collections.abc import Mapping

from domain.outcomes import Operation, ProviderRequest
from gateways.asaas_requests import KEY_FIELD, REFUND_KEY_FIELD, plain_pix_key
from gateways.money import cents_of_number
from gateways.reading import Json, clean, object_of, objects_of, text_of
from gateways.seen import Seen, Stage, hand_on_code

STAGES: Mapping[Operation, Mapping[str, Stage]] = {
    "charge": {
        "PENDING": Stage.DONE,
        "RECEIVED": Stage.DONE,
        "CONFIRMED": Stage.DONE,
        "OVERDUE": Stage.DONE,
        "RECEIVED_IN_CASH": Stage.DONE,
        "AWAITING_RISK_ANALYSIS": Stage.WORKING,
        "REFUND_REQUESTED": Stage.UNDONE,
        "REFUND_IN_PROGRESS": Stage.UNDONE,
        "REFUNDED": Stage.UNDONE,
        "CHARGEBACK_REQUESTED": Stage.UNDONE,
        "CHARGEBACK_DISPUTE": Stage.UNDONE,
    },
    "refund": {
        "DONE": Stage.DONE,
        "PENDING": Stage.WORKING,
        "AWAITING_CRITICAL_ACTION_AUTHORIZATION": Stage.WORKING,
        "AWAITING_CUSTOMER_EXTERNAL_AUTHORIZATION": Stage.WORKING,
        "CANCELLED": Stage.FAILED,
    },
    "transfer": {
        "DONE": Stage.DONE,
        "PENDING": Stage.WORKING,
        "BANK_PROCESSING": Stage.WORKING,
        "BLOCKED": Stage.WORKING,
        "CANCELLED": Stage.FAILED,
        "FAILED": Stage.FAILED,
    },
}


def see(request: ProviderRequest, found: Json) -> Seen:
    """Return `found` compared with `request`; for a refund `found` is the charge of the answer."""
    if request.operation == "charge":
        return _see_charge(request, found)
    if request.operation == "refund":
        return _see_answered_refund(request, found)
    return _see_transfer(request, found)


def _see_charge(request: ProviderRequest, charge: Json) -> Seen:
    deleted = charge.get("deleted") is True
    word = "deleted" if deleted else text_of(charge.get("status"))
    cents = cents_of_number(charge.get("value"))
    seen = Seen(
        provider_ref=text_of(charge.get("id")),
        stage=Stage.UNDONE if deleted else STAGES["charge"].get(word or ""),
        word=word,
        data={
            "charge_id": text_of(charge.get("id")),
            "status": word,
            "amount_cents": cents,
            "invoice_url": text_of(charge.get("invoiceUrl")),
        },
    )
    expect = request.expect
    seen.differs(KEY_FIELD, frozen=expect.get("key"), found=charge.get(KEY_FIELD))
    seen.differs("value in cents", frozen=expect.get("amount_cents"), found=cents)
    seen.differs("billingType", frozen="PIX", found=charge.get("billingType"))
    seen.differs("dueDate", frozen=expect.get("due_date"), found=charge.get("dueDate"))
    return seen


def add_code(seen: Seen, code: Json | None) -> None:
    """Hand the Pix code of a charge on, after comparing its amount. None: it could not be read, so
    the charge is not ready for the person yet."""
    payload = text_of(code.get("payload")) if code is not None else None
    if payload is None:
        if seen.word == "PENDING":
            seen.stage = Stage.WORKING
        return
    amount = seen.data.get("amount_cents")
    hand_on_code(seen, payload, amount_cents=amount if isinstance(amount, int) else None)


def compare_payer(seen: Seen, request: ProviderRequest, customer: Json) -> None:
    """Compare the document of the customer that was charged with the frozen one."""
    seen.differs_unnamed(
        "customer.cpfCnpj",
        frozen=request.expect.get("document"),
        found=plain_document(customer.get("cpfCnpj")),
    )


def plain_document(value: object) -> str | None:
    """Return a CPF or CNPJ without punctuation, None for anything that is no text."""
    if not isinstance(value, str):
        return None
    return "".join(sign for sign in value.upper() if sign.isascii() and sign.isalnum())


def see_refund(request: ProviderRequest, refund: Json) -> Seen:
    """Return one refund of the charge's list compared with `request`."""
    word = text_of(refund.get("status"))
    cents = cents_of_number(refund.get("value"))
    charge = text_of(request.expect.get("charge"))
    seen = Seen(
        provider_ref=charge,
        stage=STAGES["refund"].get(word or ""),
        word=word,
        data={"charge_id": charge, "status": word, "amount_cents": cents},
    )
    seen.differs("value in cents", frozen=request.expect.get("amount_cents"), found=cents)
    seen.failure = "Asaas cancelled the refund" if seen.stage is Stage.FAILED else None
    return seen


def _see_answered_refund(request: ProviderRequest, charge: Json) -> Seen:
    """The answer to a refund is its charge; which of its refunds is ours the key says. Where the
    answer lists none of ours, Asaas took it in and the look-up has to find it."""
    key = request.expect.get("key")
    ours = [
        one for one in objects_of(charge.get("refunds")) or [] if one.get(REFUND_KEY_FIELD) == key
    ]
    if ours:
        seen = see_refund(request, ours[-1])
    else:
        word = text_of(charge.get("status"))
        data: Json = {"charge_id": text_of(charge.get("id")), "status": word}
        seen = Seen(
            provider_ref=text_of(charge.get("id")), stage=Stage.WORKING, word=word, data=data
        )
    seen.differs("charge", frozen=request.expect.get("charge"), found=charge.get("id"))
    return seen


def _see_transfer(request: ProviderRequest, transfer: Json) -> Seen:
    word = text_of(transfer.get("status"))
    cents = cents_of_number(transfer.get("value"))
    seen = Seen(
        provider_ref=text_of(transfer.get("id")),
        stage=STAGES["transfer"].get(word or ""),
        word=word,
        data={
            "transfer_id": text_of(transfer.get("id")),
            "status": word,
            "amount_cents": cents,
        },
    )
    expect = request.expect
    seen.differs(KEY_FIELD, frozen=expect.get("key"), found=transfer.get(KEY_FIELD))
    seen.differs("value in cents", frozen=expect.get("amount_cents"), found=cents)
    seen.differs_unnamed(
        "pixAddressKey", frozen=expect.get("pix_key"), found=destination_of(transfer)
    )
    seen.failure = clean(text_of(transfer.get("failReason")) or "") or None
    return seen


def destination_of(transfer: Json) -> str | None:
    """Return the Pix key that a transfer goes to, None if it names none."""
    pix_key = text_of(object_of(transfer.get("bankAccount")).get("pixAddressKey"))
    return plain_pix_key(pix_key) if pix_key is not None else None
