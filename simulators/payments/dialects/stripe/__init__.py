"""Stripe's API v1, written from its public description: Pix by payment intents, refunds, payouts.

A key is kept for 24 hours with what its first execution gave, a 500 included, and is replayed with
`Idempotent-Replayed: true`. Other parameters under it are refused (400 `idempotency_error`), a
request while the first is under way too (409). Refusals before execution began are not kept.
Lists are current; the search lags.
"""

import base64
import hmac
import secrets

from fastapi import FastAPI
from starlette.requests import Request

from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.dialects import Dialect
from simulators.payments.dialects.stripe import acts, routes
from simulators.payments.dialects.stripe.errors import error_doc, general
from simulators.payments.provider import KeyRule, Provider
from simulators.payments.replies import Reply
from simulators.payments.serving import Desk
from simulators.payments.state import Doc

_OTHER_PARAMETERS = (
    "Keys for idempotent requests can only be used with the same parameters they were first used "
    "with."
)


class Stripe(Dialect):
    """Stripe v1 under /v1."""

    name = "stripe"

    def add_routes(self, app: FastAPI, desk: Desk) -> None:
        """Mount /v1."""
        routes.add_writes(app, desk)
        routes.add_reads(app, desk)
        routes.add_objects(app, desk)

    def authorized(self, request: Request, config: PaymentsSimulatorConfig) -> bool:
        """Bearer, or HTTP Basic with the secret key as the user."""
        given = request.headers.get("authorization", "").encode()
        pair = base64.b64encode(f"{config.api_key}:".encode()).decode("ascii")
        wanted = (f"Bearer {config.api_key}", f"Basic {pair}")
        return any(hmac.compare_digest(given, one.encode()) for one in wanted)

    def refusal(self, status: int) -> Reply:
        """Return {error: {...}}."""
        return general(status)

    def key_rule(self, config: PaymentsSimulatorConfig) -> KeyRule:
        """Compared, replayed, 500 included; one at a time."""
        return KeyRule(
            retention_seconds=config.key_retention_seconds,
            mismatch=Reply(400, error_doc(_OTHER_PARAMETERS, kind="idempotency_error")),
            busy=general(409),
            crashed=general(500),
        )

    def headers(self, reply: Reply) -> dict[str, str]:
        """Return the request's id, and whether the answer is an earlier one."""
        headers = {"Request-Id": f"req_{secrets.token_hex(7)}"}
        if reply.replayed:
            headers["Idempotent-Replayed"] = "true"
            headers["Original-Request"] = f"req_{secrets.token_hex(7)}"
        return headers

    def pay(self, provider: Provider, charge_id: str) -> Doc | None:
        """Pay an intent `pi_…`."""
        return acts.pay(provider, charge_id)
