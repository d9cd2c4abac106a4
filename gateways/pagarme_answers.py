"""What Pagar.me v5's answers prove, as tables.

Two traps. A refusal counts only in Pagar.me's own error shape: a proxy's HTML page with the same
status says nothing about what happened behind it. And 200 is not success: it may carry
`status: failed`, or replay, uncompared, what an earlier body under the same key did (facts:
payments §4, §7).
"""

import json
import re
from collections.abc import Mapping

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from gateways import answers
from gateways.answers import Reading, from_seen, result
from gateways.pagarme_objects import see
from gateways.reading import Json, clean, ref_of, text_of
from gateways.transport import Answer, Trip

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


def classify(request: ProviderRequest, trip: Trip) -> GatewayResult:
    """Return what one trip of `request` proved."""

    def success(answer: Answer, body: Json | None) -> GatewayResult:
        if body is None or ref_of(body.get("id")) is None:
            return result(answer, Outcome.UNKNOWN, "a success without a readable object")
        return from_seen(answer, see(request, body))

    return answers.classify(trip, STATUS_READINGS, success=success, refusal=_refusal)


def _refusal(answer: Answer, body: Json | None) -> GatewayResult:
    message = own_error(body)
    if message is None:
        return result(answer, Outcome.UNKNOWN, "a refusal, but not in Pagar.me's own shape")
    if _REPEAT_HINT.search(message):
        return result(answer, Outcome.UNKNOWN, f"refused as a repeat: {message}")
    return result(answer, Outcome.REJECTED, message, provider_message=message)


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
