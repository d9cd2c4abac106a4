"""Pagar.me v5, written from its public description.

A key is kept for 24 hours with whatever the first execution gave, failures included, and a repeat
is answered from that, without comparing the body. Refusals of malformed requests are not kept.
"""

import base64
import hmac
import secrets

from fastapi import FastAPI
from starlette.requests import Request

from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.dialects import Dialect
from simulators.payments.dialects.pagarme import acts, routes
from simulators.payments.dialects.pagarme.errors import MESSAGES, error_doc
from simulators.payments.provider import KeyRule, Provider
from simulators.payments.replies import Reply
from simulators.payments.serving import Desk
from simulators.payments.state import Doc


class Pagarme(Dialect):
    """Pagar.me v5 under /core/v5."""

    name = "pagarme"

    def add_routes(self, app: FastAPI, desk: Desk) -> None:
        """Mount /core/v5."""
        routes.add_orders(app, desk)
        routes.add_charges(app, desk)
        routes.add_recipients(app, desk)

    def authorized(self, request: Request, config: PaymentsSimulatorConfig) -> bool:
        """HTTP Basic with the secret key as the user."""
        pair = base64.b64encode(f"{config.api_key}:".encode()).decode("ascii")
        given = request.headers.get("authorization", "")
        return hmac.compare_digest(given.encode(), f"Basic {pair}".encode())

    def refusal(self, status: int) -> Reply:
        """Return {message}."""
        return Reply(status, error_doc(MESSAGES.get(status, f"Status {status}.")))

    def key_rule(self, config: PaymentsSimulatorConfig) -> KeyRule:
        """Replayed uncompared."""
        return KeyRule(retention_seconds=config.key_retention_seconds)

    def headers(self, reply: Reply) -> dict[str, str]:
        """Return the request's id."""
        return {"X-Request-Id": secrets.token_hex(8)}

    def pay(self, provider: Provider, charge_id: str) -> Doc | None:
        """Pay a charge `ch_…`."""
        return acts.pay(provider, charge_id)
