"""A charge as Asaas shows it, in cents."""

from gateways.asaas_requests import KEY_FIELD
from gateways.contract import ChargeView, ReadFailedError
from gateways.money import cents_of_number
from gateways.reading import Json, objects_of, text_of

_PAID_ONCE = frozenset(
    {
        "RECEIVED",
        "CONFIRMED",
        "RECEIVED_IN_CASH",
        "REFUND_REQUESTED",
        "REFUND_IN_PROGRESS",
        "REFUNDED",
    }
)


def view_charge(ref: str, charge: Json) -> ChargeView:
    """Return the charge. Raises ReadFailedError for another one, or unreadable amounts."""
    amount = cents_of_number(charge.get("value"))
    if amount is None or text_of(charge.get("id")) != ref:
        raise ReadFailedError(f"charge {ref!r}: the answer is not that charge")
    refunds = [] if charge.get("refunds") is None else objects_of(charge.get("refunds"))
    given_back = [
        cents_of_number(one.get("value"))
        for one in refunds or []
        if one.get("status") != "CANCELLED"
    ]
    if refunds is None or None in given_back:
        raise ReadFailedError(f"charge {ref!r}: a refund without a readable value")
    status = "deleted" if charge.get("deleted") is True else text_of(charge.get("status"))
    return ChargeView(
        provider_ref=ref,
        status=status or "unknown",
        amount_cents=amount,
        paid_cents=amount if status in _PAID_ONCE else 0,
        refunded_cents=sum(cents for cents in given_back if cents is not None),
        code=text_of(charge.get(KEY_FIELD)),
    )
