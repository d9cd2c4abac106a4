"""The API's error shape, so that the SDK maps each status to its own class."""

from typing import Any


class ApiError(Exception):
    """An answer that is not a 200; carries what the far side would send."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        details: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.details = details
        self.headers = headers or {}

    def body(self, request_id: str) -> dict[str, Any]:
        """Return the JSON body `{"type": "error", "error": {...}, "request_id": ...}`."""
        error: dict[str, Any] = {"type": self.kind, "message": self.message}
        if self.details is not None:
            error["details"] = self.details
        return {"type": "error", "error": error, "request_id": request_id}


def bad_request(message: str) -> ApiError:
    """Return the 400 of a broken documented rule."""
    return ApiError(400, "invalid_request_error", message)
