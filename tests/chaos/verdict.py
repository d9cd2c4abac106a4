"""The figures of a run, and the promises that must hold."""

from collections import Counter
from dataclasses import dataclass, field, fields

GATED = (
    "effects without valid decision",
    "duplicates",
    "confirmed but neither executed nor told",
    "stuck but not listed",
    'false "failed"',
    "executed without effect",
    "sends without claim",
    "operators' words wrongly allowed",
)
"""Each must be nought."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A promise that did not hold."""

    what: str
    action: str
    detail: str


@dataclass
class Verdict:
    """Figures of one batch, or of several added up.

    `untold`: executed, yet no word of it arrived; each copy in doubt is repeated once, a third is
    not sent (design §7). `resent`: sends that an operator's word let through.
    """

    runs: int = 0
    proposals: int = 0
    confirmations: int = 0
    effects: int = 0
    doubled: int = 0
    untold: int = 0
    resent: int = 0
    verifying: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    stops: Counter[str] = field(default_factory=Counter)
    blows: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    broken_off: Counter[str] = field(default_factory=Counter)
    recovery_s: list[float] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)

    def add(self, other: "Verdict") -> None:
        """Add another batch's figures."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def blame(self, what: str, action: str, detail: str) -> None:
        """Add a violation of one of the promises."""
        assert what in GATED, what
        self.violations.append(Violation(what=what, action=action, detail=detail))
