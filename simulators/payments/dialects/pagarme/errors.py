"""Pagar.me's error shape."""

from simulators.payments.replies import RefusedError, Reply
from simulators.payments.state import Doc

MESSAGES = {
    400: "The request is invalid.",
    401: "Authorization has been denied for this request.",
    403: "This action is not allowed for this account.",
    404: "Resource not found.",
    409: "Idempotency-Key is being used by another request.",
    412: "The action could not be completed.",
    422: "The request is invalid.",
    429: "Too many requests.",
    500: "Internal server error.",
    503: "Service unavailable.",
}


def refuse(
    status: int,
    message: str,
    errors: dict[str, list[str]] | None = None,
    *,
    kept: bool = False,
) -> RefusedError:
    """Return the error to raise. `kept`: execution had begun, so the answer is replayed."""
    return RefusedError(Reply(status, error_doc(message, errors)), message, kept=kept)


def error_doc(message: str, errors: dict[str, list[str]] | None = None) -> Doc:
    """Return the error shape {message, errors?}."""
    return {"message": message, "errors": errors} if errors else {"message": message}
