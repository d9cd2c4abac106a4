"""The plan of faults: what shall go wrong with which of the next calls.

Every fault may name a part of the last user text (`contains`), so that tests that run side by
side do not take each other's faults.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FaultKind = Literal[
    "rate_limit",
    "spend_limit",
    "workspace_spend_limit",
    "overloaded",
    "server_error",
    "unauthorized",
    "payment_required",
    "too_large",
    "status",
    "timeout",
    "drop",
    "html",
    "empty_json",
    "no_stop_reason",
    "cut_input",
    "refusal",
    "two_tools",
    "text_beside_tool",
    "empty_end_turn",
    "say",
    "vary",
]


class Fault(BaseModel):
    """One planned fault.

    `contains`: part of the last user text, case ignored; None matches every call. `skip`: how
    many matching calls pass first. `times`: how many calls it then takes. `seconds`: how long
    `timeout` waits. `retry_after`: seconds in the header of `rate_limit`, `overloaded`, `status`.
    `content` and `stop_reason`: the scripted answer of `say` (and the base of the faults that
    change an answer; without it they change the brain's). `text`: what stands beside the tool.
    `status`, `error_type`, `message`: the answer of `status`. `only_repeats`: `vary` applies only
    to a prompt seen before. `content_type`: of `html`; with `application/json` the SDK fails to
    parse it, with `text/html` it hands out the page as a plain string.
    """

    model_config = ConfigDict(extra="forbid")

    kind: FaultKind
    contains: str | None = Field(default=None, min_length=1)
    skip: int = Field(default=0, ge=0)
    times: int = Field(default=1, ge=1)
    seconds: float = Field(default=60.0, ge=0, le=600)
    retry_after: float | None = Field(default=None, ge=0)
    content: list[dict[str, Any]] | None = None
    stop_reason: str | None = None
    text: str = "Pronto, já fiz isso!"
    status: int = Field(default=500, ge=400, le=599)
    error_type: str = "api_error"
    message: str = "Internal server error"
    only_repeats: bool = True
    content_type: str = "text/html"

    def matches(self, last_user_text: str) -> bool:
        """Return whether this fault is meant for a call with that last user text."""
        return self.contains is None or self.contains.casefold() in last_user_text.casefold()


class FaultPlan:
    """The queue of faults; the first one that matches a call and has nothing to skip takes it."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def add(self, faults: list[Fault]) -> None:
        """Put `faults` at the end of the queue."""
        self._faults += [fault.model_copy() for fault in faults]

    def clear(self, contains: str | None = None) -> None:
        """Drop the faults with that very filter, or all of them."""
        self._faults = [f for f in self._faults if contains is not None and f.contains != contains]

    def left(self) -> list[Fault]:
        """Return the faults not yet used up."""
        return [fault.model_copy() for fault in self._faults]

    def take(self, last_user_text: str) -> Fault | None:
        """Return the fault for this call, counted down, or None."""
        for fault in self._faults:
            if not fault.matches(last_user_text):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            if not fault.times:
                self._faults.remove(fault)
            return fault.model_copy()
        return None
