"""Stripe's error shape: {error: {type, code, message, param}}."""

from simulators.payments.replies import RefusedError, Reply
from simulators.payments.state import Doc

TYPES = {402: "card_error", 500: "api_error", 503: "api_error"}
CODES = {409: "idempotency_key_in_use", 429: "rate_limit"}
MESSAGES = {
    400: "Invalid request.",
    401: "Invalid API Key provided: sk_****.",
    402: "The payment was declined.",
    403: "The provided key does not have access to this account.",
    404: "Unrecognized request URL.",
    409: "There is currently another in-progress request using this Idempotent Key.",
    429: "Too many requests hit the API too quickly.",
    500: "An unknown error occurred.",
    503: "Service unavailable.",
}


def general(status: int) -> Reply:
    """Return the refusal that Stripe gives with this status."""
    kind = TYPES.get(status, "invalid_request_error")
    message = MESSAGES.get(status, f"Status {status}.")
    return Reply(status, error_doc(message, kind=kind, code=CODES.get(status)))


def refuse(
    status: int, message: str, *, code: str | None = None, param: str | None = None
) -> RefusedError:
    """Return the error to raise for a request that never began to execute: not kept."""
    return RefusedError(Reply(status, error_doc(message, code=code, param=param)), message)


def declined() -> RefusedError:
    """Return the error to raise for a decline after execution began: kept under the key."""
    reply = general(402)
    return RefusedError(reply, MESSAGES[402], kept=True)


def missing(kind: str, identity: str, *, param: str = "id") -> RefusedError:
    """Return the 404 for an object that is not there."""
    message = f"No such {kind}: '{identity}'"
    return refuse(404, message, code="resource_missing", param=param)


def error_doc(
    message: str,
    *,
    kind: str = "invalid_request_error",
    code: str | None = None,
    param: str | None = None,
) -> Doc:
    """Return the error shape, without the parts that are None."""
    error = {"type": kind, "code": code, "message": message, "param": param}
    return {"error": {name: value for name, value in error.items() if value is not None}}
