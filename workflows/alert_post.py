"""The POST of an alert to the operators' own address, in the form that Slack's incoming webhooks
take: `text`, and beside it the same as fields for other receivers.

Ids and counts only (design §8). The address carries a token: it stands in no log and no error.
"""

import asyncio
from types import TracebackType
from typing import Self

import httpx

from store.alerts import Alert, Kind

POST_WITHIN_S = 5.0  # the whole call; a receiver that is slower is tried again later


class NotDeliveredError(Exception):
    """The receiver did not answer 2xx in time. The message holds a type or a status, no address."""


class AlertPost:
    """Posts alerts to one address."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._http = httpx.AsyncClient(
            timeout=POST_WITHIN_S, trust_env=False, follow_redirects=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def send(self, alert: Alert) -> None:
        """Post it. Raises NotDeliveredError."""
        try:
            async with (
                asyncio.timeout(POST_WITHIN_S),
                self._http.stream("POST", self._url, json=body(alert)) as response,
            ):
                status = response.status_code  # the body is not read: nothing in it matters
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise NotDeliveredError(type(error).__name__) from None
        if not 200 <= status < 300:
            raise NotDeliveredError(f"HTTP {status}")


def body(alert: Alert) -> dict[str, str | int]:
    """What is posted."""
    return {"text": _text(alert), **fields(alert)}


def fields(alert: Alert) -> dict[str, str | int]:
    """The alert as flat fields, for the POST and for the log."""
    return {
        "kind": alert.kind.value,
        "action_id": alert.action_id,
        "tool": alert.tool,
        "account": alert.account_id,
        "age_seconds": alert.age_s,
        "sends": alert.sends,
        "alert": alert.number,
    }


def _text(alert: Alert) -> str:
    what = f"{alert.tool} of account {alert.account_id}"
    says = {
        Kind.UNKNOWN: f"outcome unknown for {_age(alert.age_s)}, sends in doubt: {alert.sends}"
        f" (alert {alert.number})",
        Kind.CONTRADICTION: "CONTRADICTION: it was closed without effect, and the provider acted",
        Kind.MIRROR_FAILED: "it was executed, but the tool's own tables could not be written",
        Kind.HUMAN_WANTED: "a person asks for a human and waits; the agent is quiet until then",
    }[alert.kind]
    return f"Aval: {what}: {says}. See: aval actions show {alert.action_id}"


def _age(seconds: int) -> str:
    if seconds < 3600:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
