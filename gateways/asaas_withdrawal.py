"""Reads what Asaas asks before money leaves, and compares it with a frozen request.

Source: facts, payments §11. Asaas POSTs the creation's payload. What cannot be read in full is
refused: a field that is missing is not a field that agrees.
"""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from domain.outcomes import KEY_PATTERN, ProviderRequest
from gateways.asaas_objects import destination_of
from gateways.asaas_requests import KEY_FIELD, REFUND_KEY_FIELD
from gateways.money import cents_of_number
from gateways.reading import Json, object_of, parse_object, text_of

_ID = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)


class Withdrawal(BaseModel):
    """One operation that takes money out. Amounts in cents.

    `destination`: the Pix key of a transfer, the charge of a refund. Personal data: never logged.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    operation: Literal["transfer", "refund"]
    operation_id: str
    key: str | None
    """Our key, None if what stands in its place has not its form."""
    amount_cents: int
    destination: str


def read_withdrawal(body: bytes) -> Withdrawal | None:
    """Return the operation that Asaas asks about; None for any other kind, and for what cannot be
    read in full."""
    asked = parse_object(body) or {}
    if asked.get("type") == "TRANSFER":
        transfer = object_of(asked.get("transfer"))
        if transfer.get("operationType", "PIX") != "PIX":
            return None
        return _read("transfer", transfer, transfer.get(KEY_FIELD), destination_of(transfer))
    if asked.get("type") == "PIX_REFUND":
        refund = object_of(asked.get("pixRefund"))
        charge = refund.get("payment")
        ref = text_of(charge) or text_of(object_of(charge).get("id"))
        key = refund.get(KEY_FIELD) or refund.get(REFUND_KEY_FIELD)
        return _read("refund", refund, key, ref)
    return None


def _read(
    operation: Literal["transfer", "refund"], found: Json, key: JsonValue, destination: str | None
) -> Withdrawal | None:
    identity = text_of(found.get("id"))
    cents = cents_of_number(found.get("value"))
    if identity is None or not _ID.fullmatch(identity) or not cents or destination is None:
        return None
    ours = isinstance(key, str) and KEY_PATTERN.fullmatch(key) is not None
    return Withdrawal(
        operation=operation,
        operation_id=identity,
        key=str(key) if ours else None,
        amount_cents=cents,
        destination=destination,
    )


def differs(withdrawal: Withdrawal, request: ProviderRequest) -> str | None:
    """Return why `withdrawal` is not what `request` asks for, None if it is. No personal data."""
    expect = request.expect
    if not str(expect.get("gateway", "")).startswith("asaas:"):
        return "the action is one of another gateway"
    if withdrawal.operation != request.operation:
        return f"the action is a {request.operation}"
    if withdrawal.key != expect.get("key"):
        return "the action's request bears another key"
    if withdrawal.amount_cents != expect.get("amount_cents"):
        return "the action has another amount"
    target = "pix_key" if request.operation == "transfer" else "charge"
    if withdrawal.destination != expect.get(target):
        return "the action has another destination"
    return None
