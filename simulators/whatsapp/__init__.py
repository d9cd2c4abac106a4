"""A stand-in for Meta's WhatsApp Cloud API, as a real HTTP process with a phone page.

It exists so that the product meets the wire as it is (signed escaped bytes, batches,
redelivery, sends without idempotency) and never a Python object in place of it. It shares
no code with the product: a mistake made twice in the same way would not be seen.
"""

from simulators.whatsapp.app import create_app
from simulators.whatsapp.config import DEMO_PERSONS, Person, SimulatorConfig

__all__ = ["DEMO_PERSONS", "Person", "SimulatorConfig", "create_app"]
