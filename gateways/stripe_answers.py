"""What Stripe's answers prove, as tables.

Two traps. Stripe keeps a 500 under the key and replays it, so asking again never tells what
happened: only a look-up does. And two refusals about the key say opposite things: with other
parameters (400) something else was done under it, in use (409) this very request is being worked
on. Source: facts, payments §3 and §7.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from gateways import answers
from gateways.answers import Reading, from_seen, result
from gateways.reading import Json, clean, object_of, text_of
from gateways.stripe_objects import see
from gateways.transport import Answer, Trip

STATUS_READINGS: Mapping[int, Reading] = {
    200: Reading.SUCCESS,
    400: Reading.REFUSAL,
    401: Reading.REFUSAL,
    402: Reading.REFUSAL,
    403: Reading.REFUSAL,
    404: Reading.REFUSAL,
    409: Reading.REFUSAL,
    429: Reading.THROTTLED,
}
"""Every other status (424, 5xx, 3xx, ...) proves nothing."""

REFUSING_TYPES = frozenset({"invalid_request_error", "card_error"})
"""The types of error by which Stripe says no; `api_error` is its own trouble and proves nothing."""


@dataclass(frozen=True, kw_only=True)
class StripeError:
    """Stripe's own error shape."""

    type: str
    code: str | None
    message: str

    @property
    def in_use(self) -> bool:
        """Whether the first request under the key is still being worked on."""
        return self.code == "idempotency_key_in_use"


def classify(request: ProviderRequest, trip: Trip) -> GatewayResult:
    """Return what one trip of `request` proved."""

    def success(answer: Answer, body: Json | None) -> GatewayResult:
        if body is None or text_of(body.get("id")) is None:
            return result(answer, Outcome.UNKNOWN, "a success without a readable object")
        return from_seen(answer, see(request, body))

    return answers.classify(
        trip, STATUS_READINGS, success=success, refusal=_refusal, throttled=_throttled
    )


def own_error(body: Json | None) -> StripeError | None:
    """Return the error if `body` has Stripe's shape {error: {type, message, code?}}, else None."""
    error = object_of(body.get("error")) if body is not None else {}
    kind = text_of(error.get("type"))
    if kind is None:
        return None
    code = text_of(error.get("code"))
    return StripeError(
        type=kind, code=code, message=clean(text_of(error.get("message")) or code or kind)
    )


def _refusal(answer: Answer, body: Json | None) -> GatewayResult:
    error = own_error(body)
    if error is None:
        return result(answer, Outcome.UNKNOWN, "a refusal, but not in Stripe's own shape")
    outcome, reason = _meaning(answer.status, error)
    more: dict[str, JsonValue] = {"provider_message": error.message, "error_type": error.type}
    if error.code is not None:
        more["error_code"] = error.code
    return result(answer, outcome, reason, **more)


def _meaning(status: int, error: StripeError) -> tuple[Outcome, str]:
    if error.in_use:
        return Outcome.IN_PROGRESS, "the key is in use: its first request is under way"
    if error.type == "idempotency_error" and status == 400:
        return Outcome.CONFLICT, f"the key was used with other parameters: {error.message}"
    if status == 409 or error.type not in REFUSING_TYPES:
        return Outcome.UNKNOWN, f"{error.type} with status {status} proves nothing"
    return Outcome.REJECTED, error.message


def _throttled(answer: Answer, body: Json | None) -> GatewayResult:
    if own_error(body) is None:
        return result(answer, Outcome.UNKNOWN, "a rate limit, but not in Stripe's own shape")
    return result(answer, Outcome.NOT_SENT, "rate limit: not executed")
