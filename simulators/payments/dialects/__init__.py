"""What a dialect has to say of itself, and which there are.

See the docstring of `simulators.payments` for how one is added.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from fastapi import FastAPI
from starlette.requests import Request

from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.provider import KeyRule, Provider
from simulators.payments.replies import Reply
from simulators.payments.state import Doc

if TYPE_CHECKING:
    from simulators.payments.serving import Desk


class Dialect(ABC):
    """One provider's wire format over the shared provider."""

    name: ClassVar[str]

    @abstractmethod
    def add_routes(self, app: FastAPI, desk: "Desk") -> None:
        """Mount the dialect's own paths; each serves through `desk.write` or `desk.read`."""

    @abstractmethod
    def authorized(self, request: Request, config: PaymentsSimulatorConfig) -> bool:
        """Return whether the request carries the provider's key as this dialect wants it."""

    @abstractmethod
    def refusal(self, status: int) -> Reply:
        """Return a general refusal with `status` in the dialect's own error shape."""

    @abstractmethod
    def key_rule(self, config: PaymentsSimulatorConfig) -> KeyRule | None:
        """Return what a repeated key means; None if the provider knows no keys."""

    @abstractmethod
    def headers(self, reply: Reply) -> dict[str, str]:
        """Return the headers that go with an answer, such as the request's id."""

    @abstractmethod
    def pay(self, provider: Provider, charge_id: str) -> Doc | None:
        """Let the customer pay a charge; None if it is no charge of this dialect.

        Raises RefusedError for one that cannot be paid.
        """


def bundled() -> list[Dialect]:
    """Return one of each dialect."""
    from simulators.payments.dialects.asaas import Asaas
    from simulators.payments.dialects.pagarme import Pagarme
    from simulators.payments.dialects.pix_bcb import PixBcb
    from simulators.payments.dialects.stripe import Stripe

    return [Pagarme(), Stripe(), PixBcb(), Asaas()]
