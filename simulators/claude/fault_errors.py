"""Faults that are an error answer: each with the status, type and code the API documents."""

from simulators.claude.errors import ApiError
from simulators.claude.faults import Fault


def fault_error(fault: Fault) -> ApiError | None:
    """Return the error answer of this fault, or None if it is not of that sort."""
    retry = {"retry-after": f"{fault.retry_after:g}"} if fault.retry_after is not None else {}
    if fault.kind == "rate_limit":
        message = "This request would exceed your account's rate limit. Please try again later."
        headers = retry or {"retry-after": "1"}
        return ApiError(429, "rate_limit_error", message, headers=headers)
    if fault.kind == "spend_limit":
        return _spend_limit()
    if fault.kind == "workspace_spend_limit":
        message = (
            "You have reached your specified workspace API usage limits. "
            "You will regain access on 2026-12-01 at 00:00 UTC."
        )
        return ApiError(400, "invalid_request_error", message)
    if fault.kind == "status":
        return ApiError(fault.status, fault.error_type, fault.message, headers=retry)
    plain = {
        "overloaded": (529, "overloaded_error", "Overloaded"),
        "server_error": (500, "api_error", "Internal server error"),
        "unauthorized": (401, "authentication_error", "invalid x-api-key"),
        "payment_required": (402, "billing_error", "Your credit balance is too low."),
        "too_large": (413, "request_too_large", "Request exceeds the maximum size"),
    }
    if fault.kind not in plain:
        return None
    status, kind, message = plain[fault.kind]
    return ApiError(status, kind, message, headers=retry)


def _spend_limit() -> ApiError:
    """No `retry-after` here: waiting does not help until the month ends or someone pays."""
    return ApiError(
        429,
        "rate_limit_error",
        "You have crossed the monthly API usage threshold of your API tier.",
        details={"error_code": "enforced_spend_limit_reached"},
    )
