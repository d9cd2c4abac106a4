"""What answers of the API Pix prove, as tables.

Three traps. 409 `txid_duplicado` says that something was made under the key, not whether it is
ours: only a look-up tells, and public code that takes a new txid here charges twice. A refused
refund may have been done all the same (400). And a 201 for a refund or a sent Pix says that it was
taken in, not that the money went. Source: facts, payments §1 and §7.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from domain.outcomes import GatewayResult, Operation, Outcome, ProviderRequest
from gateways import answers
from gateways.answers import Reading, from_seen, result
from gateways.pix_bcb_objects import IDS, see
from gateways.pix_bcb_profiles import PROBLEM_TYPES, Profile
from gateways.reading import Json, clean, text_of
from gateways.transport import Answer, Trip

STATUS_READINGS: Mapping[int, Reading] = {
    200: Reading.SUCCESS,
    201: Reading.SUCCESS,
    400: Reading.REFUSAL,
    401: Reading.REFUSAL,
    403: Reading.REFUSAL,
    404: Reading.REFUSAL,
    409: Reading.REFUSAL,
    422: Reading.REFUSAL,
    429: Reading.THROTTLED,
}
"""Every other status (410, 5xx, 3xx, ...) proves nothing."""

REFUND_NOT_PROVED = frozenset({400, 404})
"""Statuses by which a bank may refuse the repetition of a refund that was done."""

_REPEAT_HINT = re.compile(r"duplicad|utilizad", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class PixError:
    """An error in a shape that the bank itself speaks."""

    name: str
    message: str


def classify(profile: Profile, request: ProviderRequest, trip: Trip) -> GatewayResult:
    """Return what one trip of `request` proved."""

    def success(answer: Answer, body: Json | None) -> GatewayResult:
        if body is None or text_of(body.get(IDS[request.operation])) is None:
            return result(answer, Outcome.UNKNOWN, "a success without a readable object")
        return from_seen(answer, see(request, body))

    def refusal(answer: Answer, body: Json | None) -> GatewayResult:
        return _refusal(profile, request.operation, answer, body)

    return answers.classify(
        trip, STATUS_READINGS, success=success, refusal=refusal, throttled=_throttled
    )


def own_error(status: int, body: Json | None) -> PixError | None:
    """Return the error if `body` has a shape of the bank's own, else None.

    {nome, mensagem} is Efí's; {type, title, status} that of the specification, its status being
    that of the answer; {error, error_description} that of OAuth, for 401 and 403.
    """
    if body is None:
        return None
    name, message = text_of(body.get("nome")), text_of(body.get("mensagem"))
    if name is not None and message is not None:
        return PixError(name=name, message=clean(message))
    kind = text_of(body.get("type"))
    if kind is not None and kind.startswith(PROBLEM_TYPES) and body.get("status") == status:
        said = text_of(body.get("detail")) or text_of(body.get("title")) or kind
        return PixError(name=kind.rsplit("/", 1)[-1], message=clean(said))
    error = text_of(body.get("error"))
    if error is not None and status in (401, 403):
        return PixError(name=error, message=clean(text_of(body.get("error_description")) or error))
    return None


def is_absent(profile: Profile, operation: Operation, status: int, body: Json | None) -> bool:
    """Return whether the bank says, in its own words, that there is no such object."""
    error = own_error(status, body)
    return error is not None and (status, error.name) in profile.absent[operation]


def _refusal(
    profile: Profile, operation: Operation, answer: Answer, body: Json | None
) -> GatewayResult:
    error = own_error(answer.status, body)
    if error is None:
        return result(answer, Outcome.UNKNOWN, "a refusal, but not in the bank's own shape")
    outcome, reason = _meaning(profile, operation, answer.status, error)
    return result(
        answer, outcome, reason, provider_message=error.message, error_code=clean(error.name)
    )


def _meaning(
    profile: Profile, operation: Operation, status: int, error: PixError
) -> tuple[Outcome, str]:
    if error.name in profile.duplicate or _REPEAT_HINT.search(f"{error.name} {error.message}"):
        return Outcome.UNKNOWN, f"the key was used already: {error.message}"
    if status == 409 or error.name in profile.own_trouble:
        return Outcome.UNKNOWN, f"{error.name!r} with status {status} proves nothing"
    if operation == "refund" and status in REFUND_NOT_PROVED:
        return Outcome.UNKNOWN, f"a refused refund may have been done: {error.message}"
    return Outcome.REJECTED, error.message


def _throttled(answer: Answer, body: Json | None) -> GatewayResult:
    if own_error(answer.status, body) is None:
        return result(answer, Outcome.UNKNOWN, "a rate limit, but not in the bank's own shape")
    return result(answer, Outcome.NOT_SENT, "rate limit: not executed")
