"""Reads a Pix "copia e cola" (BR Code) before a customer sees it.

The trap: the provider's text is what gets paid, not our record of it. A code with another amount
or a damaged checksum would make the person pay something he never confirmed, or nothing at all.
EMV QR: fields of two-digit id, two-digit length, value; the last is a CRC16-CCITT over the rest.
"""

import re

from pydantic import BaseModel, ConfigDict

PREFIX = "000201"
_AMOUNT = re.compile(r"\d{1,10}\.\d{2}")


class BrCodeError(ValueError):
    """The text is not a sound BR Code of a dynamic Pix charge."""


class BrCode(BaseModel):
    """What of a BR Code decides about the payment."""

    model_config = ConfigDict(frozen=True)

    amount_cents: int | None
    """None where the code leaves the amount to the provider's page."""
    url: str
    """Where the payer's bank fetches the charge, without scheme."""


def parse(text: str) -> BrCode:
    """Return what `text` says. Raises BrCodeError for anything that is not sound."""
    if not text.isascii() or text[-8:-4] != "6304" or text[-4:] != f"{crc16(text[:-4]):04X}":
        raise BrCodeError("the checksum does not fit the text")
    fields = _fields(text)
    if fields.get("00") != "01" or fields.get("58") != "BR" or fields.get("53") != "986":
        raise BrCodeError("not a Pix code in reais of Brazil")
    pix = _fields(fields.get("26", ""))
    if pix.get("00", "").lower() != "br.gov.bcb.pix" or not pix.get("25"):
        raise BrCodeError("not a dynamic Pix charge: no URL in 26/25")
    return BrCode(amount_cents=_cents(fields.get("54")), url=pix["25"])


def crc16(text: str) -> int:
    """Return CRC16-CCITT (polynomial 0x1021, start 0xFFFF) of ASCII `text`."""
    crc = 0xFFFF
    for byte in text.encode("ascii"):
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def _cents(amount: str | None) -> int | None:
    if amount is None:
        return None
    if not _AMOUNT.fullmatch(amount):
        raise BrCodeError(f"amount {amount!r} is not of the form 150.00")
    return int(amount.replace(".", ""))


def _fields(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    at = 0
    while at < len(text):
        head = text[at : at + 4]
        if not re.fullmatch(r"[0-9]{4}", head):
            raise BrCodeError(f"no field begins at position {at}")
        value = text[at + 4 : at + 4 + int(head[2:])]
        if len(value) != int(head[2:]) or head[:2] in fields:
            raise BrCodeError(f"field {head[:2]!r} is cut or repeated")
        fields[head[:2]] = value
        at += 4 + len(value)
    return fields
