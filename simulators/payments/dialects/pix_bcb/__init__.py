"""The Central Bank's API Pix as Efí serves it, written from the specification and Efí's pages.

A key is the id in the path and is taken for good; a repeat is refused (409), whatever its body.
What is not there is 400 in Efí's own error shape, but 404 as the specification has it for sent Pix.
Refunds and sent Pix are taken in first and settled later. Client certificates are not asked for:
the simulator speaks plain HTTP.
"""

import secrets

from fastapi import FastAPI
from starlette.requests import Request

from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.dialects import Dialect
from simulators.payments.dialects.pix_bcb import acts, routes, tokens
from simulators.payments.dialects.pix_bcb.errors import general
from simulators.payments.provider import KeyRule, Provider
from simulators.payments.replies import Reply
from simulators.payments.serving import Desk
from simulators.payments.state import Doc


class PixBcb(Dialect):
    """Efí's API Pix under /oauth and /v2."""

    name = "pix_bcb"

    def __init__(self) -> None:
        """Start without a provider; `add_routes` brings it."""
        self._provider: Provider | None = None

    def add_routes(self, app: FastAPI, desk: Desk) -> None:
        """Mount /oauth/token and /v2."""
        self._provider = desk.provider
        routes.add_charges(app, desk)
        routes.add_pix(app, desk)

    def authorized(self, request: Request, config: PaymentsSimulatorConfig) -> bool:
        """The secret for a token, a token for everything else."""
        header = request.headers.get("authorization", "")
        if request.url.path == routes.OAUTH:
            return tokens.is_client(header, config.api_key)
        return self._provider is not None and tokens.is_valid(header, self._provider)

    def refusal(self, status: int) -> Reply:
        """Return {nome, mensagem}, a problem for 403 and 503, OAuth's shape for 401."""
        return general(status)

    def key_rule(self, config: PaymentsSimulatorConfig) -> KeyRule | None:
        """None: the repeat is refused in its own act."""
        return None

    def headers(self, reply: Reply) -> dict[str, str]:
        """Return the request's id."""
        return {"X-Request-Id": secrets.token_hex(8)}

    def pay(self, provider: Provider, charge_id: str) -> Doc | None:
        """Pay a charge, named by its txid."""
        return acts.pay(provider, charge_id)
