"""From one trip over the wire to an outcome class, as far as it is the same for all providers.

An adapter says by a table how its provider's statuses are read, and gives two functions: what a
success proves, and what a refusal in the provider's own shape proves. A status that stands in no
table proves nothing.
"""

from collections.abc import Callable, Mapping
from enum import Enum, auto

from pydantic import JsonValue

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from gateways.contract import ReadFailedError
from gateways.reading import Json, parse_object
from gateways.seen import Seen, verdict
from gateways.transport import Answer, Lost, NotSent, Trip

READ_KEY = "0" * 32
"""Stands in for a key on plain reads, which carry none."""

_REQUEST_ID_HEADERS = ("x-request-id", "request-id")


class Reading(Enum):
    """How an HTTP status is read before the body is looked at."""

    SUCCESS = auto()
    REFUSAL = auto()
    """Counts only in the provider's own error shape."""
    THROTTLED = auto()
    OPEN = auto()
    """Proves nothing."""


Judge = Callable[[Answer, Json | None], GatewayResult]


def classify(
    trip: Trip,
    readings: Mapping[int, Reading],
    *,
    success: Judge,
    refusal: Judge,
    throttled: Judge | None = None,
) -> GatewayResult:
    """Return what one trip proved. `throttled` None: a rate limit is not executed, whoever
    sets it."""
    if isinstance(trip, NotSent):
        return GatewayResult(
            outcome=Outcome.NOT_SENT, reason=trip.reason, evidence={"exception": trip.exception}
        )
    if isinstance(trip, Lost):
        evidence: Json = {"exception": trip.exception, "status": trip.status}
        return GatewayResult(outcome=Outcome.UNKNOWN, reason=trip.reason, evidence=evidence)
    reading = readings.get(trip.status, Reading.OPEN)
    body = parse_object(trip.body)
    if reading is Reading.SUCCESS:
        return success(trip, body)
    if reading is Reading.REFUSAL:
        return refusal(trip, body)
    if reading is Reading.THROTTLED:
        if throttled is not None:
            return throttled(trip, body)
        return result(trip, Outcome.NOT_SENT, "rate limit: not executed")
    return result(trip, Outcome.UNKNOWN, f"status {trip.status} proves nothing")


def foreign(request: ProviderRequest, key: str, *, key_header: str, ours: bool) -> NotSent | None:
    """Return why a request may not be sent or looked up here, None if it may.

    The trap: an account's gateway may be changed while an action of the old one is unsettled. The
    new provider knows nothing of it, and its empty list would pass for "nothing was done". `ours`:
    whether path and mode are those of this gateway.
    """
    if request.headers.get(key_header) != key:
        reason = f"the request was not rendered for key {key!r}"
    elif not ours:
        reason = f"the request {request.path!r} was not rendered by this gateway"
    else:
        return None
    return NotSent(reason=reason, exception="ValueError")


def answer_evidence(answer: Answer) -> Json:
    """Return what may be kept of an answer's head: status, type, request ids, Retry-After, and
    whether it is said to be the replay of an earlier one."""
    evidence: Json = {"status": answer.status}
    if "content-type" in answer.headers:
        evidence["content_type"] = answer.headers["content-type"][:80]
    for name in _REQUEST_ID_HEADERS:
        if name in answer.headers:
            evidence["provider_request_id"] = answer.headers[name][:80]
    if "retry-after" in answer.headers:
        evidence["retry_after"] = answer.headers["retry-after"][:40]
    if answer.headers.get("idempotent-replayed", "").lower() == "true":
        evidence["replayed"] = True
        evidence["original_request"] = answer.headers.get("original-request", "")[:80]
    return evidence


def result(answer: Answer, outcome: Outcome, reason: str, **more: JsonValue) -> GatewayResult:
    """Return an outcome that carries no object."""
    return GatewayResult(
        outcome=outcome, reason=reason, evidence={**answer_evidence(answer), **more}
    )


def from_seen(answer: Answer, seen: Seen) -> GatewayResult:
    """Return the outcome of an answer that carries this object."""
    outcome, reason = verdict(seen)
    return GatewayResult(
        outcome=outcome,
        provider_ref=seen.provider_ref,
        data=seen.data,
        evidence={**answer_evidence(answer), **seen.evidence()},
        reason=reason,
    )


def readable(trip: Trip, what: str) -> Json:
    """Return the object of a plain read answered with 200. Raises ReadFailedError."""
    if not isinstance(trip, Answer):
        raise ReadFailedError(f"{what}: {trip.reason} ({trip.exception})")
    body = parse_object(trip.body)
    if trip.status != 200 or body is None:
        raise ReadFailedError(f"{what}: status {trip.status}, no readable object")
    return body
