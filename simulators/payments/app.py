"""The app that serves all dialects over one provider."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from simulators.payments import admin, dialects
from simulators.payments.breaking import RAW_SEND
from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.provider import Provider
from simulators.payments.serving import Bank, Desk
from simulators.payments.state import State


class SimulatorApp(FastAPI):
    """Passes uvicorn's own `send` on, so that a fault can close the socket."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        scope[RAW_SEND] = send
        await super().__call__(scope, receive, send)


def create_app(config: PaymentsSimulatorConfig) -> SimulatorApp:
    """Return the simulated provider as an ASGI app; its state opens now."""
    state = State(config.state)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        state.close()

    app = SimulatorApp(title="payments simulator", lifespan=lifespan)
    bank = Bank(Provider(config, state))
    spoken = dialects.bundled()
    for dialect in spoken:
        dialect.add_routes(app, Desk(bank, dialect))
    admin.add_routes(app, bank, spoken)
    return app
