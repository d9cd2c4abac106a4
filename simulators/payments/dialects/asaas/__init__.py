"""Asaas API v3, written from its public description.

It knows no key: the same request twice is two objects, and `externalReference` finds both. A charge
needs a customer that was made before. Transfers and refunds are taken in first (PENDING) and
settled later. With the withdrawal validation on, a transfer waits until the account's own server
said APPROVED; anything else, or three failed calls, cancels it.
"""

import hmac
import secrets

from fastapi import FastAPI
from starlette.requests import Request

from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.dialects import Dialect
from simulators.payments.dialects.asaas import acts, routes
from simulators.payments.dialects.asaas.errors import general
from simulators.payments.dialects.asaas.validation import Validation, add_admin
from simulators.payments.provider import KeyRule, Provider
from simulators.payments.replies import Reply
from simulators.payments.serving import Desk
from simulators.payments.state import Doc


class Asaas(Dialect):
    """Asaas under /v3."""

    name = "asaas"

    def add_routes(self, app: FastAPI, desk: Desk) -> None:
        """Mount /v3, and /admin/asaas for the withdrawal validation."""
        validation = Validation(desk.provider)
        routes.add_customers(app, desk)
        routes.add_payments(app, desk)
        routes.add_transfers(app, desk, validation)
        add_admin(app, validation)

    def authorized(self, request: Request, config: PaymentsSimulatorConfig) -> bool:
        """The header access_token with the secret key."""
        given = request.headers.get("access_token", "")
        return hmac.compare_digest(given.encode(), config.api_key.encode())

    def refusal(self, status: int) -> Reply:
        """Return {errors: [{code, description}]}."""
        return general(status)

    def key_rule(self, config: PaymentsSimulatorConfig) -> KeyRule | None:
        """None: there are no keys."""
        return None

    def headers(self, reply: Reply) -> dict[str, str]:
        """Return the request's id."""
        return {"X-Request-Id": secrets.token_hex(8)}

    def pay(self, provider: Provider, charge_id: str) -> Doc | None:
        """Pay a charge `pay_…` of this dialect."""
        return acts.pay(provider, charge_id)
