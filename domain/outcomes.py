"""What a provider's answer proves, in one vocabulary for all providers.

A raw HTTP status means something else at each provider, and the difference between "refused" and
"nobody knows" is the difference between one payment and two. So nothing above the gateways ever
sees a status: it sees an outcome class. The trap this closes is reading a failure as "not done".
"""

import hashlib
import json
import re
from enum import StrEnum, auto
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

Operation = Literal["charge", "refund", "transfer"]

KEY_PATTERN = re.compile(r"[0-9a-f]{32}")
"""The one key format that fits every provider (design §5): 32 lower-case hex characters."""

_PATH = re.compile(r"/(?!/)[!-~]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_HEADER_VALUE = re.compile(r"[ -~]{0,512}")
_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "access-token"})


class Outcome(StrEnum):
    """What one send proved."""

    CREATED = auto()
    """The effect is there and was compared with the frozen request."""
    REJECTED = auto()
    """Provably not done: the provider itself said no."""
    NOT_SENT = auto()
    """Provably without effect before the provider acted; the same key may go again."""
    IN_PROGRESS = auto()
    """The provider works on this key; look it up."""
    CONFLICT = auto()
    """Something exists under the key that differs from what was confirmed; a human's case."""
    UNKNOWN = auto()
    """May or may not have been done; only a look-up may follow."""


class Presence(StrEnum):
    """What one look-up by key proved about the effect."""

    FOUND = auto()
    ABSENT = auto()
    UNCERTAIN = auto()
    """The look-up failed, or its answer does not allow a conclusion."""


class ProviderRequest(BaseModel):
    """A provider's HTTP request, rendered when the action is proposed and stored as JSON.

    The body is sent byte for byte as UTF-8: rendering it anew could give another expiry or
    description under the same key. Credentials are added when it is sent and never stored.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    operation: Operation
    method: Literal["POST", "PUT", "DELETE", "PATCH"]
    path: str
    """Path and query on the provider's host, ASCII, starting with one slash."""
    headers: dict[str, str] = Field(default_factory=dict)
    body: str
    expect: dict[str, JsonValue] = Field(default_factory=dict)
    """Facts frozen with the request for comparing a later look-up; never sent."""

    @field_validator("path")
    @classmethod
    def _path_stays_on_the_host(cls, path: str) -> str:
        if not _PATH.fullmatch(path):
            raise ValueError(f"path must be printable ASCII and start with one '/': {path!r}")
        return path

    @field_validator("headers")
    @classmethod
    def _headers_are_plain_and_without_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise ValueError(f"header {name!r} has a name or value that cannot be sent")
            if name.lower() in _SECRET_HEADERS:
                raise ValueError(f"header {name!r} carries a secret and must not be stored")
        return headers

    def sha256(self) -> str:
        """Return the hex SHA-256 over all fields in canonical JSON (sorted keys, UTF-8)."""
        canonical = json.dumps(
            self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


class GatewayResult(BaseModel):
    """What one send proved, with what proves it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Outcome
    provider_ref: str | None = None
    """The provider's own id of the effect (a charge's id is what a refund takes)."""
    data: dict[str, JsonValue] = Field(default_factory=dict)
    """What a success text may use: ids, status, amounts in cents, the Pix code."""
    evidence: dict[str, JsonValue] = Field(default_factory=dict)
    """Status code, provider request id, answer fields, exception class; never credentials."""
    reason: str | None = None
    """One line for operators; None only for CREATED."""


class LookupResult(BaseModel):
    """What one read-only look-up by our key proved.

    `final` says that a later look cannot differ. FOUND and not final: the provider still works
    on it. ABSENT and final: the provider holds a record that the effect failed, so nothing can
    still turn up; ABSENT and not final: merely not seen, and look-ups may lag.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    presence: Presence
    final: bool
    equal: bool
    """True only if found and every compared field is as in the frozen request."""
    differences: list[str] = Field(default_factory=list)
    provider_ref: str | None = None
    data: dict[str, JsonValue] = Field(default_factory=dict)
    evidence: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _verdict_agrees_with_itself(self) -> Self:
        if self.equal and (self.presence is not Presence.FOUND or self.differences):
            raise ValueError(
                f"equal needs FOUND without differences: {self.presence!r} {self.differences!r}"
            )
        if self.final and self.presence is Presence.UNCERTAIN:
            raise ValueError("an uncertain look-up is never final")
        return self
