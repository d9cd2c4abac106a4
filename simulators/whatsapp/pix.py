"""Recognises a Pix code sent as a message of its own, and draws its QR picture.

A Pix copy-and-paste code is an EMV text: it starts with the format indicator `000201` and
names the Pix arrangement `br.gov.bcb.pix` (Banco Central's BR Code manual).
"""

import io

import segno


def is_pix_code(text: str) -> bool:
    """Tell whether the whole text is a Pix code."""
    code = text.strip()
    return code.startswith("000201") and "br.gov.bcb.pix" in code.lower() and code.isprintable()


def qr_svg(code: str) -> bytes:
    """Return the QR picture of a code as SVG."""
    picture = io.BytesIO()
    segno.make(code.strip(), error="m", micro=False).save(
        picture, kind="svg", scale=4, border=4, dark="#111b21", light="#ffffff"
    )
    return picture.getvalue()
