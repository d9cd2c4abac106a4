"""Meta's escaped JSON and its signature.

The trap: Meta signs the bytes it sends, and those are escaped more than any usual JSON
writer escapes. Who parses and writes the body again before checking gets another signature,
first seen when a name has an accent. So the simulator must escape as Meta does.
"""

import hashlib
import hmac
import json
from typing import Any

# Not escaped by json.dumps, escaped by Meta. None of them occurs outside a JSON string.
_ALSO_ESCAPED = {"/": "\\/", "@": "\\u0040", "<": "\\u003c", "%": "\\u0025"}


def escaped_json(body: Any) -> bytes:
    """Return `body` as ASCII bytes, non-ASCII as lower-case \\uXXXX and `/` as \\/."""
    text = json.dumps(body, ensure_ascii=True, separators=(",", ":"))
    for plain, escaped in _ALSO_ESCAPED.items():
        text = text.replace(plain, escaped)
    return text.encode("ascii")


def signature(raw: bytes, app_secret: str) -> str:
    """Return the X-Hub-Signature-256 value for exactly these bytes."""
    digest = hmac.new(app_secret.encode(), raw, hashlib.sha256).hexdigest()
    return f"sha256={digest}"
