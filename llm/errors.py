"""What a failed call means: whether to try again, when, and who must act.

The trap this closes: two layers of retry make nine calls out of one, a 400 is repeated for nothing,
and a provider's `retry-after` of weeks is slept inside an activity (facts/claude.md §6.2, §6.3). So
the client never retries, and the decision is made here, where the failure is understood, after the
table in facts §6.4. Messages hold status, type and code, never what was sent or answered.
"""

import json
import math
import random
from collections.abc import Callable
from enum import StrEnum

import anthropic
import httpx2

from domain.errors import AvalError

MAX_RETRY_AFTER = 60.0
"""Seconds. Whoever waits on WhatsApp has left by then; a longer wish means: answer by template."""


class FailureKind(StrEnum):
    """Why there is no answer; the activity's error type."""

    UNREACHABLE = "model_unreachable"
    OVERLOADED = "model_overloaded"
    RATE_LIMITED = "model_rate_limited"
    BUDGET = "model_budget"
    CONFIG = "model_config"
    BAD_REQUEST = "model_bad_request"
    GARBLED = "model_garbled"


class ModelFailure(AvalError):  # noqa: N818 - design says failure; its kinds are error types
    """A call to the model without an answer.

    `retry_after`: seconds, over 0 and at most 60, None for the policy's own back-off.
    `repairable`: a history rule was broken, so one call after a repair makes sense.
    `request_id`: the provider's, if it answered at all. The text is free of personal data.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        retryable: bool,
        retry_after: float | None = None,
        request_id: str | None = None,
        repairable: bool = False,
    ) -> None:
        super().__init__(f"{kind.value}: {message}")
        self.kind = kind
        self.retryable = retryable
        self.retry_after = retry_after if retryable else None
        self.request_id = request_id
        self.repairable = repairable


Jitter = Callable[[], float]

_NEVER_AGAIN = frozenset({400, 401, 402, 403, 404, 413, 422})
_CONFIG = frozenset({401, 402, 403, 404})
_HISTORY_RULES = (
    "tool_use ids were found without tool_result",
    "unexpected tool_use_id",
    "each tool_use must have a single result",
    "tool_use ids must be unique",
    "text content blocks must be non-empty",
    "messages must have non-empty content",
    "first message must use the",
    "role 'system' must",
    "bound to a different conversation",
)
_OTHER_RULES = ("conversation must end with a user message", "role 'system' is not supported")
"""No repair helps: the caller's fault, and a wrong row of the capability table."""
_SPEND_WORDS = ("spend limit", "spending limit", "usage limit", "credit balance")


def spread() -> float:
    """Seconds, up to two, so that workers that were refused together do not come back together."""
    return random.random() * 2  # noqa: S311 - spreads load, guards nothing


def to_failure(error: BaseException, *, jitter: Jitter = spread) -> ModelFailure | None:
    """The failure that an exception of a call means; None if it is not about the call (a bug)."""
    match error:
        case ModelFailure():
            return error
        case anthropic.APIStatusError():
            return _of_status(error, jitter)
        case anthropic.APIConnectionError() | httpx2.TransportError():
            name = type(error).__name__
            return ModelFailure(FailureKind.UNREACHABLE, f"no answer ({name})", retryable=True)
        case anthropic.APIResponseValidationError() | json.JSONDecodeError():
            return garbled("the answer is not the JSON that was promised")
        case anthropic.CredentialsError():
            return ModelFailure(FailureKind.CONFIG, "no usable credentials", retryable=False)
        case TypeError() if "authentication" in str(error):
            return ModelFailure(FailureKind.CONFIG, "no API key is set", retryable=False)
        case _:
            return None


def garbled(reason: str, *, request_id: str | None = None) -> ModelFailure:
    """An answer came, but it is none; the next one may be."""
    return ModelFailure(FailureKind.GARBLED, reason, retryable=True, request_id=request_id)


def _of_status(error: anthropic.APIStatusError, jitter: Jitter) -> ModelFailure:
    kind, retryable = _kind(error)
    should_retry = error.response.headers.get("x-should-retry")
    if should_retry in {"true", "false"} and kind is not FailureKind.BUDGET:
        retryable = should_retry == "true" and error.status_code not in _NEVER_AGAIN
    return ModelFailure(
        kind,
        f"HTTP {error.status_code}, type {error.type!r}, code {error.error_code!r}"
        + (f", rule {rule!r}" if (rule := _broken_rule(error)) else ""),
        retryable=retryable,
        retry_after=_retry_after(error, kind, jitter),
        request_id=error.request_id,
        repairable=rule in _HISTORY_RULES,
    )


def _kind(error: anthropic.APIStatusError) -> tuple[FailureKind, bool]:
    """The kind, and whether to retry if the provider says nothing about it."""
    status = error.status_code
    if _is_about_money(error):
        return FailureKind.BUDGET, False
    if status in _CONFIG:
        return FailureKind.CONFIG, False
    if status == 429:
        return FailureKind.RATE_LIMITED, True
    if status in {408, 409} or status >= 500:
        return FailureKind.OVERLOADED, True
    if status < 400:
        return FailureKind.GARBLED, True
    return FailureKind.BAD_REQUEST, False


def _is_about_money(error: anthropic.APIStatusError) -> bool:
    """A spend cap: by its code with 429, by its type or words with 400 (facts §6.4)."""
    if error.status_code == 429:
        return "spend" in (error.error_code or "")
    if error.status_code != 400:
        return False
    said = (error.api_message or "").lower()
    return (
        error.type == "billing_error"
        or "spend" in (error.error_code or "")
        or any(words in said for words in _SPEND_WORDS)
    )


def _broken_rule(error: anthropic.APIStatusError) -> str | None:
    """The known rule that a 400 names; its own words may quote the conversation and stay out."""
    if error.status_code != 400:
        return None
    said = (error.api_message or "").lower().replace("`", "")
    return next((rule for rule in (*_HISTORY_RULES, *_OTHER_RULES) if rule in said), None)


def _retry_after(
    error: anthropic.APIStatusError, kind: FailureKind, jitter: Jitter
) -> float | None:
    """Seconds. Overload: as asked, if that is at most 60. Rate limit: at most 60, spread."""
    asked = _asked_seconds(error.response.headers)
    if asked is None:
        return None
    if kind is FailureKind.RATE_LIMITED:
        return min(asked + jitter(), MAX_RETRY_AFTER)
    return asked if asked <= MAX_RETRY_AFTER else None


def _asked_seconds(headers: httpx2.Headers) -> float | None:
    """`retry-after-ms`, else `retry-after` in seconds; a date or nonsense counts as not said."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds > 0:
            return seconds
    return None
