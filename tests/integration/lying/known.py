"""What the liar knows of the world, and how it makes what was never said before."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any


@dataclass
class Known:
    """What a liar may name: ways to say a customer (by name, by id, and who gets bookings and
    addresses), ids of its own, newest last, and `foreign` ones, of another account or person."""

    customers: list[str]
    professionals: list[str]
    first_day: date
    foreign: dict[str, Any]
    charges: list[int] = field(default_factory=list)
    bookings: list[int] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    n: int = 0

    def fresh(self) -> int:
        """A number that no answer had before."""
        self.n += 1
        return self.n

    def cents(self) -> int:
        """An amount of its own, of five digits."""
        return 10_000 + 7 * self.fresh()

    def email(self) -> str:
        """An address of its own."""
        return f"novo.{self.fresh()}@exemplo.com.br"

    def start(self) -> str:
        """A time of its own on a working day: each hour of the days to come once."""
        day, hour = divmod(self.fresh(), 8)
        return f"{self.first_day + timedelta(days=day):%Y-%m-%d}T{9 + hour:02d}:00"

    def action(self) -> str:
        """The newest action's id, or one that is nobody's."""
        return self.actions[-1] if self.actions else "0" * 32

    def charge_no(self) -> int:
        """A charge of its own, or one that is nobody's."""
        return self.charges[-1] if self.charges else 1

    def booking_no(self) -> int:
        """A booking of its own, or one that is nobody's."""
        return self.bookings[-1] if self.bookings else 1
