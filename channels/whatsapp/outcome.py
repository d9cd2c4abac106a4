"""What became of one send. The whole point: *not sent* is claimed only when it is certain."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class SendOutcome(StrEnum):
    """Only the two NOT_SENT values promise that no message left."""

    ACCEPTED = "accepted"
    """Meta took it and gave an id; delivered or failed comes later, as a status."""
    NOT_SENT_RETRY = "not_sent_retry"
    """Certainly not sent; may go again after `retry_after`."""
    NOT_SENT_FINAL = "not_sent_final"
    """Certainly refused; sending the same again is useless. `reason` says whose turn it is."""
    UNKNOWN = "unknown"
    """May have been sent: wait for a status that carries our callback data."""


class Refusal(StrEnum):
    """Why a send was refused for good, by who must act."""

    WINDOW = "window"
    """The 24-hour service window is closed: a template, or wait for the person to write."""
    RECIPIENT = "recipient"
    """This person cannot be reached this way."""
    AUTH = "auth"
    """Token, permission, payment or number set-up: page an operator, stop this sender."""
    BUG = "bug"
    """We built a wrong message."""
    LONG_WAIT = "long_wait"
    """Meta holds this back for a day or more; no automatic retry."""
    UNLISTED = "unlisted"
    """A code that our table does not know, with a 4xx: refused, and somebody should look."""


class SendResult(BaseModel):
    """The outcome of one call. `retry_after` is in seconds; `detail` holds no text, name or phone.

    `wamid` only with ACCEPTED, `reason` only with NOT_SENT_FINAL, `error_code` is Meta's own.
    """

    model_config = ConfigDict(frozen=True)

    outcome: SendOutcome
    wamid: str | None = None
    error_code: int | None = None
    retry_after: float | None = None
    reason: Refusal | None = None
    detail: str = ""
