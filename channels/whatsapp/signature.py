"""Who may post to the webhook: Meta's signature over the raw bytes, and the set-up handshake.

The trap: Meta signs *escaped* JSON, so only the bytes as received verify; re-serialised JSON breaks
on accents and `@`. And public integrations fail open (missing header skipped, unset secret disables
the check); here no secret is an error of set-up and a missing header is a refusal.
Rules: Meta's create-webhook-endpoint page, and the public bug reports collected on it.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence

_HEADER = re.compile(r"sha256=([0-9a-fA-F]{64})", re.ASCII)

_CHALLENGE = re.compile(r"[A-Za-z0-9._~-]{1,200}", re.ASCII)
"""Meta's challenges have about ten digits; the value is reflected, so it is plain and capped."""


def verify(body: bytes, header: str | None, secrets: Sequence[str]) -> bool:
    """Whether `header` (X-Hub-Signature-256) signs exactly these bytes with one of `secrets`.

    Two secrets during a rotation. Every secret is tried, so that time says nothing about which one
    matched. Raises `ValueError` for an empty list or an empty secret: no secret, no start.
    """
    if isinstance(secrets, str) or not secrets or any(not secret for secret in secrets):
        raise ValueError("verify needs a list of at least one non-empty app secret")
    match = _HEADER.fullmatch(header) if header is not None else None
    if match is None:
        return False
    given = match[1].lower().encode("ascii")
    matched = False
    for secret in secrets:
        expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().encode("ascii")
        matched |= hmac.compare_digest(expected, given)
    return matched


def handshake(params: Mapping[str, str], verify_token: str) -> str | None:
    """The challenge to answer as text/plain, or None to refuse.

    `params` are the query's: `hub.mode` must be `subscribe`, `hub.verify_token` ours (constant
    time), `hub.challenge` 1-200 of A-Z a-z 0-9 . _ ~ -. Raises `ValueError` for an empty token.
    """
    if not verify_token:
        raise ValueError("handshake needs a non-empty verify token")
    given = params.get("hub.verify_token", "").encode("utf-8", "surrogatepass")
    token_equal = hmac.compare_digest(given, verify_token.encode())
    if not token_equal or params.get("hub.mode") != "subscribe":
        return None
    challenge = params.get("hub.challenge", "")
    return challenge if _CHALLENGE.fullmatch(challenge) else None
