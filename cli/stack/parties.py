"""Which outside parties are real and which are simulated: credentials alone decide.

A simulated channel never stands beside a real money gateway: whoever reaches the phone page could
confirm with somebody else's money (design §9).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from cli.stack.errors import StackError

CLAUDE_KEY = "ANTHROPIC_API_KEY"
WHATSAPP_KEY = "AVAL_WHATSAPP_TOKEN"
PAYMENTS_KEY = "AVAL_PAGARME_API_KEY"
_TEMPORAL = ("TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE")
DATABASE = "AVAL_DATABASE_URL"


@dataclass(frozen=True, kw_only=True)
class Parties:
    """True where the party is simulated, or the server embedded."""

    whatsapp: bool
    claude: bool
    payments: bool
    temporal: bool
    database: bool

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Decide. Raises StackError for a simulated channel beside a real gateway."""
        real_payments = _has(environment, PAYMENTS_KEY)
        if real_payments and not _has(environment, WHATSAPP_KEY):
            raise StackError(
                f"{PAYMENTS_KEY} is set but {WHATSAPP_KEY} is not: a simulated channel never "
                "starts beside a real money gateway; set both, or neither"
            )
        return cls(
            whatsapp=not _has(environment, WHATSAPP_KEY),
            claude=not _has(environment, CLAUDE_KEY),
            payments=not real_payments,
            temporal=not any(_has(environment, name) for name in _TEMPORAL),
            database=not _has(environment, DATABASE),
        )

    def describe(self) -> list[tuple[str, str]]:
        """Each outside party and, in words, whether it is real."""
        return [
            ("WhatsApp", _words(self.whatsapp, WHATSAPP_KEY)),
            ("Claude", _words(self.claude, CLAUDE_KEY)),
            ("Payments", _words(self.payments, PAYMENTS_KEY)),
        ]


def _has(environment: Mapping[str, str], name: str) -> bool:
    return bool(environment.get(name, "").strip())


def _words(simulated: bool, key: str) -> str:
    return f"simulated ({key} is not set)" if simulated else f"REAL ({key} is set)"
