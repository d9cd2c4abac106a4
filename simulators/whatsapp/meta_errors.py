"""Errors in the shape of the Graph API: `{"error": {message, type, code, error_data, ...}}`.

A caller must decide on `error.code`, so the simulator gives codes their usual HTTP status
and title, but lets a test pair any code with any status.
"""

import secrets
from typing import Any

_TITLES: dict[int, tuple[int, str]] = {
    1: (500, "API Unknown"),
    2: (503, "API Service"),
    4: (400, "API Too Many Calls"),
    10: (403, "Permission Denied"),
    100: (400, "Invalid parameter"),
    190: (401, "Invalid OAuth access token"),
    368: (403, "Temporarily blocked for policies violations"),
    80007: (400, "Rate limit issues"),
    130429: (400, "Rate limit hit"),
    130472: (400, "User's number is part of an experiment"),
    130497: (403, "Business account is restricted from messaging users in this country"),
    131000: (500, "Something went wrong"),
    131005: (403, "Access denied"),
    131008: (400, "Required parameter is missing"),
    131009: (400, "Parameter value is not valid"),
    131016: (503, "Service unavailable"),
    131021: (400, "Recipient cannot be sender"),
    131026: (400, "Message undeliverable"),
    131030: (400, "Recipient phone number not in allowed list"),
    131042: (400, "Business eligibility payment issue"),
    131047: (400, "Re-engagement message"),
    131048: (400, "Spam rate limit hit"),
    131049: (400, "This message was not delivered to maintain healthy ecosystem engagement"),
    131050: (400, "User stopped marketing messages"),
    131051: (400, "Unsupported message type"),
    131056: (400, "(Business Account, Consumer Account) pair rate limit hit"),
    131057: (403, "Account in maintenance mode"),
    131062: (400, "Business-scoped user id is not allowed for this message"),
    133004: (503, "Server temporarily unavailable"),
    133010: (400, "Phone number not registered"),
    137000: (400, "Identity key hash mismatch"),
}


class MetaError(Exception):
    """A send that the simulated Meta answers with an error, accepting nothing."""

    def __init__(
        self,
        code: int,
        details: str = "",
        *,
        http_status: int | None = None,
        subcode: int | None = None,
    ) -> None:
        super().__init__(f"Meta error {code}: {details}")
        self.code = code
        self.details = details
        self.http_status = http_status or http_status_of(code)
        self.subcode = subcode

    def body(self) -> dict[str, Any]:
        """Return the JSON body of the answer."""
        return error_body(self.code, self.details, subcode=self.subcode)


def http_status_of(code: int) -> int:
    """Return the HTTP status that usually goes with a code; 400 for unknown codes."""
    return _TITLES.get(code, (400, ""))[0]


def title_of(code: int) -> str:
    """Return the title of a code, as webhooks print it in `errors[].title`."""
    return _TITLES.get(code, (400, "Unknown error"))[1]


def error_body(code: int, details: str = "", *, subcode: int | None = None) -> dict[str, Any]:
    """Return a Graph API error body for `code`."""
    error: dict[str, Any] = {
        "message": f"(#{code}) {title_of(code)}",
        "type": "OAuthException",
        "code": code,
        "error_data": {"messaging_product": "whatsapp", "details": details or title_of(code)},
        "fbtrace_id": "A" + secrets.token_urlsafe(16)[:22],
    }
    if subcode is not None:
        error["error_subcode"] = subcode
    return {"error": error}


def status_errors(code: int, details: str = "") -> list[dict[str, Any]]:
    """Return `errors` of a `failed` status webhook."""
    return [
        {
            "code": code,
            "title": title_of(code),
            "message": title_of(code),
            "error_data": {"details": details or title_of(code)},
            "href": "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/",
        }
    ]
