"""Access tokens (OAuth2, client credentials): issued against the secret, valid for an hour."""

import base64
import binascii
import hashlib
import hmac

from simulators.payments.provider import Provider
from simulators.payments.replies import Reply

LIFE_SECONDS = 3600
SCOPES = "cob.read cob.write pix.read pix.write pix.send gn.pix.send.read gn.balance.read"


def issue(provider: Provider) -> Reply:
    """Return a token that ends in an hour."""
    ends = str(int(provider.state.now()) + LIFE_SECONDS)
    token = f"{ends}.{_mark(provider, ends)}"
    answer = {"access_token": token, "token_type": "Bearer", "expires_in": LIFE_SECONDS}
    return Reply(200, {**answer, "scope": SCOPES})


def is_client(header: str, secret: str) -> bool:
    """Return whether the header is HTTP Basic with any client id and the secret."""
    kind, _, pair = header.partition(" ")
    try:
        client, _, given = base64.b64decode(pair, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return kind == "Basic" and client != "" and hmac.compare_digest(given.encode(), secret.encode())


def is_valid(header: str, provider: Provider) -> bool:
    """Return whether the header bears a token of ours that has not ended."""
    kind, _, token = header.partition(" ")
    ends, _, mark = token.partition(".")
    ours = hmac.compare_digest(mark.encode(), _mark(provider, ends).encode())
    return kind == "Bearer" and ours and ends.isdecimal() and int(ends) > provider.state.now()


def _mark(provider: Provider, ends: str) -> str:
    secret = provider.config.api_key.encode()
    return hmac.new(secret, ends.encode(), hashlib.sha256).hexdigest()
