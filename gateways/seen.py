"""A provider's object, compared with the frozen request: what all adapters' verdicts rest on.

The trap: under one key the provider may hold what another body made, so an answer is ours only if
every field that matters is that of the frozen request. Each difference is named for the operator.
"""

from enum import Enum, auto

from pydantic import JsonValue

from domain.outcomes import Outcome
from gateways import brcode
from gateways.reading import Json


class Stage(Enum):
    """How far an effect has come by the provider's own status word."""

    DONE = auto()
    WORKING = auto()
    FAILED = auto()
    UNDONE = auto()
    """It was made and taken back since."""


class Seen:
    """An object of the provider, compared with the frozen request."""

    def __init__(
        self, *, provider_ref: str | None, stage: Stage | None, word: str | None, data: Json
    ) -> None:
        """Take the ref, the stage (None: a word we do not know) and the word itself."""
        self.provider_ref = provider_ref
        self.stage = stage
        self.word = word
        self.data = data
        self.differences: list[str] = []
        self.failure: str | None = None

    def differs(self, field: str, *, frozen: JsonValue, found: JsonValue) -> None:
        """Record a difference in `field` if there is one; 1 and 1.0 and true do differ."""
        if type(frozen) is not type(found) or frozen != found:
            self.differences.append(f"{field}: frozen {frozen!r}, found {found!r}")

    def differs_unnamed(self, field: str, *, frozen: JsonValue, found: JsonValue) -> None:
        """The same for personal data: the field is named, its values are not."""
        if frozen != found:
            self.differences.append(f"{field} differs")

    def evidence(self) -> Json:
        """Return ids, status and differences; no personal data."""
        evidence: Json = {"provider_ref": self.provider_ref, "provider_status": self.word}
        if self.differences:
            evidence["differences"] = list(self.differences)
        return evidence


def hand_on_code(seen: Seen, code: str, *, amount_cents: int | None) -> None:
    """Put the Pix code into `seen.data["qr_code"]`, but only if it pays what was confirmed.

    Test environments answer a URL or a dummy instead of a code; that is not handed on, and it is
    no conflict, since nothing can be paid by it.
    """
    if not code.startswith(brcode.PREFIX):
        return
    try:
        pix = brcode.parse(code)
    except brcode.BrCodeError as error:
        seen.differences.append(f"Pix code: {error}")
        return
    if pix.amount_cents not in (None, amount_cents):
        seen.differs("Pix code amount", frozen=amount_cents, found=pix.amount_cents)
        return
    seen.data["qr_code"] = code


def verdict(seen: Seen) -> tuple[Outcome, str | None]:
    """Return what an answer that carries this object proves, and why."""
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
