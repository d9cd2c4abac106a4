"""The provider's pages under /core/v5, and the app that serves them."""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import segno
from fastapi import FastAPI, Query, Request, Response
from starlette.types import Receive, Scope, Send

from simulators.payments import acts, admin
from simulators.payments.breaking import RAW_SEND
from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.provider import MAX_PAGE, Act, Provider
from simulators.payments.reading import parse
from simulators.payments.serving import Desk
from simulators.payments.state import State

Page = Annotated[int, Query(ge=1)]
Size = Annotated[int, Query(ge=1, le=1000)]


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
    desk = Desk(Provider(config, state))
    _add_orders(app, desk)
    _add_charges(app, desk)
    _add_recipients(app, desk)
    admin.add_routes(app, desk)
    return app


def _add_orders(app: FastAPI, desk: Desk) -> None:
    provider = desk.provider

    @app.post("/core/v5/orders")
    async def create_order(request: Request) -> Response:
        def act(key: str | None, body: bytes) -> Act:
            return lambda twist: acts.create_order(provider, key, parse(body), twist)

        return await desk.write(request, act)

    @app.get("/core/v5/orders")
    async def list_orders(
        request: Request, code: str | None = None, page: Page = 1, size: Size = MAX_PAGE
    ) -> Response:
        return await desk.read(request, lambda: provider.orders(code=code, page=page, size=size))

    @app.get("/core/v5/orders/{order_id}")
    async def get_order(request: Request, order_id: str) -> Response:
        return await desk.read(request, lambda: provider.order(order_id))


def _add_charges(app: FastAPI, desk: Desk) -> None:
    provider = desk.provider

    @app.get("/core/v5/charges/{charge_id}")
    async def get_charge(request: Request, charge_id: str) -> Response:
        return await desk.read(request, lambda: provider.charge(charge_id))

    @app.delete("/core/v5/charges/{charge_id}")
    async def cancel_charge(request: Request, charge_id: str) -> Response:
        def act(key: str | None, body: bytes) -> Act:
            doc = parse(body) if body else {}
            return lambda twist: acts.cancel_charge(provider, key, charge_id, doc, twist)

        return await desk.write(request, act)

    @app.get("/core/v5/transactions/{transaction_id}/qrcode")
    async def qr_code(transaction_id: str) -> Response:
        code = provider.pix_code(transaction_id)
        if code is None:
            return Response(status_code=404)
        image = io.BytesIO()
        segno.make_qr(code).save(image, kind="png", scale=5)
        return Response(image.getvalue(), media_type="image/png")


def _add_recipients(app: FastAPI, desk: Desk) -> None:
    provider = desk.provider

    @app.post("/core/v5/recipients/{recipient_id}/withdrawals")
    async def withdraw(request: Request, recipient_id: str) -> Response:
        def act(key: str | None, body: bytes) -> Act:
            return lambda twist: acts.withdraw(provider, key, recipient_id, parse(body), twist)

        return await desk.write(request, act)

    @app.get("/core/v5/recipients/{recipient_id}/withdrawals")
    async def list_withdrawals(
        request: Request, recipient_id: str, page: Page = 1, size: Size = MAX_PAGE
    ) -> Response:
        return await desk.read(
            request, lambda: provider.withdrawals(recipient_id, page=page, size=size)
        )

    @app.get("/core/v5/recipients/{recipient_id}/balance")
    async def balance(request: Request, recipient_id: str) -> Response:
        return await desk.read(request, lambda: provider.balance(recipient_id))
