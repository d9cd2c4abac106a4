"""Meta's answer to a send, judged. Pure: HTTP status, header and bytes in, `SendResult` out.

Asymmetric on purpose: ACCEPTED needs an id and NOT_SENT needs Meta's own error shape (or a 429);
a proxy's page, a cut body or a 200 without an id is UNKNOWN.
"""

import json
import math
from collections.abc import Mapping

from channels.whatsapp.error_codes import AMBIGUOUS, HTTP_429_SECONDS, REFUSALS, RETRY_SECONDS
from channels.whatsapp.items import usable_id
from channels.whatsapp.outcome import Refusal, SendOutcome, SendResult

MAX_RETRY_AFTER = 3600.0
"""Seconds; a longer wish of the other side is cut to this."""


def judge(status: int, body: bytes, *, retry_after: str | None) -> SendResult:
    """What `body` with HTTP `status` says about the send. Never raises."""
    answer = _object(body)
    error = answer.get("error")
    told = error if isinstance(error, dict) else {}
    code, subcode = _number(told.get("code")), _number(told.get("error_subcode"))
    if code is not None:
        detail = f"HTTP {status}, code {code}, subcode {subcode}"
        return _judge_code(status, code, detail, _seconds(retry_after))
    wamid = _wamid(answer)
    if 200 <= status < 300 and wamid is not None and error is None:
        return SendResult(outcome=SendOutcome.ACCEPTED, wamid=wamid)
    if status == 429:
        return SendResult(
            outcome=SendOutcome.NOT_SENT_RETRY,
            retry_after=max(HTTP_429_SECONDS, _seconds(retry_after)),
            detail="HTTP 429",
        )
    return SendResult(
        outcome=SendOutcome.UNKNOWN, detail=f"HTTP {status} without Meta's id or error"
    )


def judge_receipt(status: int, body: bytes, *, retry_after: str | None) -> SendResult:
    """The same for a read receipt, which is accepted with `success` and has no id."""
    if 200 <= status < 300 and _object(body).get("success") is True:
        return SendResult(outcome=SendOutcome.ACCEPTED)
    return judge(status, body, retry_after=retry_after)


def _judge_code(status: int, code: int, detail: str, wished: float) -> SendResult:
    if code in AMBIGUOUS:
        return SendResult(outcome=SendOutcome.UNKNOWN, error_code=code, detail=detail)
    if code in RETRY_SECONDS or (code not in REFUSALS and status == 429):
        return SendResult(
            outcome=SendOutcome.NOT_SENT_RETRY,
            error_code=code,
            retry_after=max(RETRY_SECONDS.get(code, HTTP_429_SECONDS), wished),
            detail=detail,
        )
    if code not in REFUSALS and not 400 <= status < 500:
        return SendResult(outcome=SendOutcome.UNKNOWN, error_code=code, detail=detail)
    return SendResult(
        outcome=SendOutcome.NOT_SENT_FINAL,
        error_code=code,
        reason=REFUSALS.get(code, Refusal.UNLISTED),
        detail=detail,
    )


def _object(body: bytes) -> dict[str, object]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _wamid(answer: Mapping[str, object]) -> str | None:
    messages = answer.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    return usable_id(first.get("id")) if isinstance(first, dict) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(header: str | None) -> float:
    try:
        seconds = float(header or 0)
    except ValueError:
        return 0.0  # the form with a date; our own delays are the floor anyway
    return min(max(seconds, 0.0), MAX_RETRY_AFTER) if math.isfinite(seconds) else 0.0
