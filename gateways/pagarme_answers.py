"""What Pagar.me v5's answers prove, as tables.

Two traps. A refusal counts only in Pagar.me's own error shape: a proxy's HTML page with the same
status says nothing about what happened behind it. And 200 is not success: it may carry
`status: failed`, or replay, uncompared, what an earlier body under the same key did (facts:
payments §4, §7).
"""

import json
import re
from collections.abc import Mapping
from enum import Enum, auto

from pydantic import JsonValue

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from gateways.pagarme_objects import Json, Seen, Stage, clean, ref_of, see, text_of
from gateways.transport import Answer, Lost, NotSent, Trip


class Reading(Enum):
    """How an HTTP status is read before the body is looked at."""

    SUCCESS = auto()
    REFUSAL = auto()
    THROTTLED = auto()
    OPEN = auto()


STATUS_READINGS: Mapping[int, Reading] = {
    200: Reading.SUCCESS,
    201: Reading.SUCCESS,
    400: Reading.REFUSAL,
    401: Reading.REFUSAL,
    403: Reading.REFUSAL,
    404: Reading.REFUSAL,
    412: Reading.REFUSAL,
    422: Reading.REFUSAL,
    429: Reading.THROTTLED,
}
"""Pagar.me's documented statuses; every other one (409, 5xx, 3xx, ...) proves nothing."""


_REPEAT_HINT = re.compile(r"idempot", re.IGNORECASE)
_REQUEST_ID_HEADERS = ("x-request-id", "request-id")


def classify(request: ProviderRequest, trip: Trip) -> GatewayResult:
    """Return what one trip of `request` proved."""
    if isinstance(trip, NotSent):
        return GatewayResult(
            outcome=Outcome.NOT_SENT, reason=trip.reason, evidence={"exception": trip.exception}
        )
    if isinstance(trip, Lost):
        evidence: Json = {"exception": trip.exception, "status": trip.status}
        return GatewayResult(outcome=Outcome.UNKNOWN, reason=trip.reason, evidence=evidence)
    reading = STATUS_READINGS.get(trip.status, Reading.OPEN)
    body = parse_object(trip.body)
    if reading is Reading.SUCCESS:
        return _success(request, trip, body)
    if reading is Reading.REFUSAL:
        return _refusal(trip, body)
    if reading is Reading.THROTTLED:
        return _result(trip, Outcome.NOT_SENT, "rate limit: not executed")
    return _result(trip, Outcome.UNKNOWN, f"status {trip.status} proves nothing")


def parse_object(body: bytes) -> Json | None:
    """Return the JSON object in `body`, or None if it is anything else."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def answer_evidence(answer: Answer) -> Json:
    """Return what may be kept of an answer's head: status, type, request id, Retry-After."""
    evidence: Json = {"status": answer.status}
    if "content-type" in answer.headers:
        evidence["content_type"] = answer.headers["content-type"][:80]
    for name in _REQUEST_ID_HEADERS:
        if name in answer.headers:
            evidence["provider_request_id"] = answer.headers[name][:80]
    if "retry-after" in answer.headers:
        evidence["retry_after"] = answer.headers["retry-after"][:40]
    return evidence


def _refusal(answer: Answer, body: Json | None) -> GatewayResult:
    message = own_error(body)
    if message is None:
        return _result(answer, Outcome.UNKNOWN, "a refusal, but not in Pagar.me's own shape")
    if _REPEAT_HINT.search(message):
        return _result(answer, Outcome.UNKNOWN, f"refused as a repeat: {message}")
    return _result(answer, Outcome.REJECTED, message, provider_message=message)


def own_error(body: Json | None) -> str | None:
    """Return Pagar.me's message if `body` has its error shape {message, errors?}, else None."""
    if body is None:
        return None
    message = text_of(body.get("message"))
    errors = body.get("errors")
    if message is None and not (isinstance(errors, dict | list) and errors):
        return None
    detail = json.dumps(errors, ensure_ascii=False, sort_keys=True) if errors else ""
    return clean(f"{message or 'refused'} {detail}".strip())


def _success(request: ProviderRequest, answer: Answer, body: Json | None) -> GatewayResult:
    if body is None or ref_of(body.get("id")) is None:
        return _result(answer, Outcome.UNKNOWN, "a success without a readable object")
    seen = see(request, body)
    outcome, reason = _verdict(seen)
    return GatewayResult(
        outcome=outcome,
        provider_ref=seen.provider_ref,
        data=seen.data,
        evidence={**answer_evidence(answer), **seen.evidence()},
        reason=reason,
    )


def _result(answer: Answer, outcome: Outcome, reason: str, **more: JsonValue) -> GatewayResult:
    return GatewayResult(
        outcome=outcome, reason=reason, evidence={**answer_evidence(answer), **more}
    )


def _verdict(seen: Seen) -> tuple[Outcome, str | None]:
    if seen.differences:
        return Outcome.CONFLICT, "; ".join(seen.differences)
    if seen.stage is Stage.FAILED:
        return Outcome.REJECTED, seen.failure or f"the provider says {seen.word!r}"
    if seen.stage is Stage.WORKING:
        return Outcome.IN_PROGRESS, f"the provider says {seen.word!r}"
    if seen.stage is Stage.DONE:
        return Outcome.CREATED, None
    if seen.stage is Stage.UNDONE:
        return Outcome.CONFLICT, f"taken back since: the provider says {seen.word!r}"
    return Outcome.UNKNOWN, f"unknown status {seen.word!r}"
