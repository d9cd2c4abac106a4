"""Writes a valid Pix "copia e cola" for a dynamic charge, so that any reader can be tested on it.

Format: EMV QR fields (two-digit id, two-digit length, value), 26 with the URL of the charge,
62/05 `***` as dynamic codes have it, 63 a CRC16-CCITT over everything before it.
"""

import io

import segno


def render(*, url: str, amount_cents: int, name: str, city: str) -> str:
    """Return the code. `url` without scheme, `name` at most 25 and `city` at most 15 characters."""
    account = _field("00", "br.gov.bcb.pix") + _field("25", url)
    text = (
        _field("00", "01")
        + _field("01", "12")
        + _field("26", account)
        + _field("52", "0000")
        + _field("53", "986")
        + _field("54", f"{amount_cents // 100}.{amount_cents % 100:02d}")
        + _field("58", "BR")
        + _field("59", name[:25])
        + _field("60", city[:15])
        + _field("62", _field("05", "***"))
        + "6304"
    )
    return f"{text}{_crc16(text):04X}"


def as_png(code: str) -> bytes:
    """Return the code as the image of a QR."""
    image = io.BytesIO()
    segno.make_qr(code).save(image, kind="png", scale=5)
    return image.getvalue()


def _field(field: str, value: str) -> str:
    if not value.isascii() or not 1 <= len(value) <= 99:
        raise ValueError(f"field {field!r} cannot hold {value!r}")
    return f"{field}{len(value):02d}{value}"


def _crc16(text: str) -> int:
    crc = 0xFFFF
    for byte in text.encode("ascii"):
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
        crc &= 0xFFFF
    return crc
