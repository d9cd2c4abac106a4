"""Pagar.me's answers as values, and its error shape."""

from dataclasses import dataclass, field

from simulators.payments.state import Doc


@dataclass(frozen=True)
class Reply:
    """A status with its JSON."""

    status: int
    doc: Doc
    headers: dict[str, str] = field(default_factory=dict)
    acted: bool = False
    replayed: bool = False


@dataclass(frozen=True, kw_only=True)
class Twist:
    """What a fault changes in the provider's act itself. Times in seconds."""

    fail: bool = False
    precondition: bool = False
    alter: bool = False
    ignore_key: bool = False
    lookup_lag: float = 0.0
    settle_after: float = 0.0


class RefusedError(Exception):
    """The provider says no. `kept`: execution had begun, so the answer is replayed."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: dict[str, list[str]] | None = None,
        *,
        kept: bool = False,
    ) -> None:
        """Take the status, the message and the errors by field."""
        super().__init__(message)
        self.kept = kept
        self.reply = Reply(status, error_doc(message, errors))


def error_doc(message: str, errors: dict[str, list[str]] | None = None) -> Doc:
    """Return the error shape {message, errors?}."""
    return {"message": message, "errors": errors} if errors else {"message": message}


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
