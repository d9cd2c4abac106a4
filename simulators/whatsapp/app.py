"""The application factory: Graph API, admin API and phone page around one Simulator."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from simulators.whatsapp.admin_api import admin_router
from simulators.whatsapp.chats import UnknownPersonError
from simulators.whatsapp.cloud_api import TRANSPORT_KEY, cloud_router
from simulators.whatsapp.config import SimulatorConfig
from simulators.whatsapp.engine import Simulator
from simulators.whatsapp.phone_api import phone_router


class _App(FastAPI):
    """Hands the connection to the handlers, since a fault may be to close it unanswered.

    Only uvicorn's own `send` knows its transport; in-process callers have none.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cycle = getattr(send, "__self__", None)
        scope[TRANSPORT_KEY] = getattr(cycle, "transport", None)
        await super().__call__(scope, receive, send)


def create_app(
    config: SimulatorConfig, *, webhook_transport: httpx.AsyncBaseTransport | None = None
) -> FastAPI:
    """Return the simulator as an ASGI application; its engine is `app.state.simulator`.

    `webhook_transport` replaces the network towards the product (an `ASGITransport` for
    example). In-process use without lifespan is fine; then call `simulator.close()` at the end.
    """
    simulator = Simulator(config, transport=webhook_transport)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        simulator.start()
        yield
        await simulator.close()

    app = _App(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.simulator = simulator
    app.include_router(cloud_router(simulator))
    app.include_router(admin_router(simulator))
    app.include_router(phone_router(simulator))

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.exception_handler(UnknownPersonError)
    async def unknown_person(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status_code=404)

    return app
