"""How stored objects look from outside at this moment. Names with `_` are the simulator's own."""

import secrets
import string
from datetime import UTC, datetime

from simulators.payments.state import Doc

_ALPHABET = string.ascii_letters + string.digits
ISPB = "09089356"


def iso(seconds: float) -> str:
    """Return Unix seconds as Efí writes times."""
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def money(cents: int) -> str:
    """Return cents as `150.00`."""
    return f"{cents // 100}.{cents % 100:02d}"


def end_to_end(kind: str, now: float) -> str:
    """Return a fresh id of the payment system: kind, bank, minute, 11 characters; 32 in all."""
    minute = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d%H%M")
    return f"{kind}{ISPB}{minute}" + "".join(secrets.choice(_ALPHABET) for _ in range(11))


def public(doc: Doc) -> Doc:
    """Return a document without the simulator's own fields."""
    return {name: value for name, value in doc.items() if not name.startswith("_") and name != "id"}


def show_charge(charge: Doc, pix: Doc | None, now: float) -> Doc:
    """Return a charge, with the Pix that paid it."""
    shown = public(charge)
    return shown if pix is None else {**shown, "pix": [show_pix(pix, now)]}


def show_pix(pix: Doc, now: float) -> Doc:
    """Return a received Pix with its refunds that are visible."""
    refunds = [show_refund(one, now) for one in pix["_refunds"] if one["_visible_at"] <= now]
    return {**public(pix), **({"devolucoes": refunds} if refunds else {})}


def show_refund(refund: Doc, now: float, *, just_made: bool = False) -> Doc:
    """Return a refund: in progress at first, always."""
    shown = {name: value for name, value in refund.items() if not name.startswith("_")}
    if just_made or refund["_settle_at"] > now:
        return {**shown, "status": "EM_PROCESSAMENTO"}
    if refund["_failed"]:
        return {**shown, "status": "NAO_REALIZADO", "motivo": "Devolução recusada"}
    liquidated = {**refund["horario"], "liquidacao": iso(refund["_settle_at"])}
    return {**shown, "status": "DEVOLVIDO", "horario": liquidated}


def show_sent(sent: Doc, now: float) -> Doc:
    """Return a sent Pix as a look-up shows it."""
    if sent["_settle_at"] > now:
        return {**public(sent), "status": "EM_PROCESSAMENTO"}
    return {**public(sent), "status": "NAO_REALIZADO" if sent["_failed"] else "REALIZADO"}
