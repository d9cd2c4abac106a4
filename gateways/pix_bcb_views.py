"""Charges and received Pix of the API Pix, as a tool shows them."""

from gateways.contract import ChargeView, ReadFailedError
from gateways.money import cents_of_text
from gateways.reading import Json, object_of, objects_of, text_of

GIVEN_BACK = frozenset({"EM_PROCESSAMENTO", "DEVOLVIDO"})
"""A refund under way counts: what is being given back cannot be given back again."""


def view_charge(txid: str, charge: Json) -> ChargeView:
    """Return a charge. Raises ReadFailedError for an amount that is none."""
    received = _list(txid, charge.get("pix"))
    return ChargeView(
        provider_ref=txid,
        status=text_of(charge.get("status")) or "unknown",
        amount_cents=_cents(txid, object_of(charge.get("valor")).get("original")),
        paid_cents=sum(_cents(txid, pix.get("valor")) for pix in received),
        refunded_cents=sum(_refunded(txid, pix) for pix in received),
        code=txid,
        pix_code=text_of(charge.get("pixCopiaECola")),
    )


def view_pix(e2eid: str, pix: Json) -> ChargeView:
    """Return a received Pix. Raises ReadFailedError for an amount that is none."""
    amount = _cents(e2eid, pix.get("valor"))
    return ChargeView(
        provider_ref=e2eid,
        status="CONCLUIDA",
        amount_cents=amount,
        paid_cents=amount,
        refunded_cents=_refunded(e2eid, pix),
        code=text_of(pix.get("txid")),
    )


def _refunded(ref: str, pix: Json) -> int:
    return sum(
        _cents(ref, one.get("valor"))
        for one in _list(ref, pix.get("devolucoes"))
        if one.get("status") in GIVEN_BACK
    )


def _list(ref: str, value: object) -> list[Json]:
    if value is None:
        return []
    found = objects_of(value) if isinstance(value, list) else None
    if found is None:
        raise ReadFailedError(f"charge {ref!r}: a list is none")
    return found


def _cents(ref: str, value: object) -> int:
    cents = cents_of_text(value) if isinstance(value, str) else None
    if cents is None:
        raise ReadFailedError(f"charge {ref!r}: no amount of the form 150.00")
    return cents
