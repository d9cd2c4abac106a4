"""What the provider answers, before it has a dialect's wire around it."""

from dataclasses import dataclass, field

from simulators.payments.state import Doc


@dataclass(frozen=True)
class Reply:
    """A status with its JSON."""

    status: int
    doc: Doc
    headers: dict[str, str] = field(default_factory=dict)
    acted: bool = False
    replayed: bool = False


@dataclass(frozen=True, kw_only=True)
class Twist:
    """What a fault changes in the provider's act itself. Times in seconds."""

    fail: bool = False
    precondition: bool = False
    crash: bool = False
    """It acts, and then answers 500; a dialect may keep that 500 under the key."""
    alter: bool = False
    ignore_key: bool = False
    lookup_lag: float = 0.0
    settle_after: float = 0.0


class RefusedError(Exception):
    """The provider says no. `kept`: execution had begun, so the answer is replayed."""

    def __init__(self, reply: Reply, message: str, *, kept: bool = False) -> None:
        """Take the answer in the dialect's own error shape, and its message in words."""
        super().__init__(message)
        self.kept = kept
        self.reply = reply
