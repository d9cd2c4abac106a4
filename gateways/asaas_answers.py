"""What Asaas' answers prove, as tables.

The trap: nothing recognises a repeat here, so what is wrongly called "not done" is done twice. A
refusal, and also a rate limit, counts only in Asaas' own error shape; everything else is unknown
and looked up (facts: payments §2, §7).
"""

from collections.abc import Mapping

from domain.outcomes import GatewayResult, Outcome, ProviderRequest
from gateways import answers
from gateways.answers import Reading, result
from gateways.asaas_objects import see
from gateways.reading import Json, clean, objects_of, text_of
from gateways.seen import Seen
from gateways.transport import Answer, Trip

STATUS_READINGS: Mapping[int, Reading] = {
    200: Reading.SUCCESS,
    400: Reading.REFUSAL,
    401: Reading.REFUSAL,
    402: Reading.REFUSAL,
    403: Reading.REFUSAL,
    404: Reading.REFUSAL,
    412: Reading.REFUSAL,
    422: Reading.REFUSAL,
    429: Reading.THROTTLED,
}
"""Every other status (409, 5xx, 3xx, ...) proves nothing."""


def classify(
    request: ProviderRequest, trip: Trip, *, customer: str | None = None
) -> tuple[GatewayResult, Seen | None]:
    """Return what one trip of `request` proved, and the object if the answer carries one.

    `customer`: the id that went with a charge.
    """
    found: list[Seen] = []

    def success(answer: Answer, body: Json | None) -> GatewayResult:
        if body is None or text_of(body.get("id")) is None:
            return result(answer, Outcome.UNKNOWN, "a success without a readable object")
        seen = see(request, body)
        if customer is not None:
            seen.differs("customer", frozen=customer, found=body.get("customer"))
        found.append(seen)
        return answers.from_seen(answer, seen)

    proved = answers.classify(
        trip, STATUS_READINGS, success=success, refusal=_refusal, throttled=_throttled
    )
    return proved, found[0] if found else None


def own_error(body: Json | None) -> str | None:
    """Return the words of an error if `body` has Asaas' shape {errors: [{code, description}]},
    else None."""
    errors = objects_of(body.get("errors")) if body is not None else None
    if not errors:
        return None
    said = [text_of(error.get("description")) or text_of(error.get("code")) for error in errors]
    return clean("; ".join(word for word in said if word)) or None


def _refusal(answer: Answer, body: Json | None) -> GatewayResult:
    message = own_error(body)
    if message is None:
        return result(answer, Outcome.UNKNOWN, "a refusal, but not in Asaas' own shape")
    return result(answer, Outcome.REJECTED, message, provider_message=message)


def _throttled(answer: Answer, body: Json | None) -> GatewayResult:
    if own_error(body) is None:
        return result(answer, Outcome.UNKNOWN, "a rate limit, but not in Asaas' own shape")
    return result(answer, Outcome.NOT_SENT, "rate limit: not executed")
