"""A payment provider that speaks Pagar.me v5's dialect, as a real HTTP process.

It shares no code with the product: the two agree over the wire or not at all.
"""

from simulators.payments.app import create_app
from simulators.payments.client import PaymentsSimulatorClient
from simulators.payments.config import PaymentsSimulatorConfig

__all__ = ["PaymentsSimulatorClient", "PaymentsSimulatorConfig", "create_app"]
