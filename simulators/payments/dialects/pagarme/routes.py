"""The paths of Pagar.me v5 under /core/v5."""

from typing import Annotated

from fastapi import FastAPI, Query, Request, Response

from simulators.payments.brcode import as_png
from simulators.payments.dialects.pagarme import acts, shows
from simulators.payments.dialects.pagarme.reading import parse
from simulators.payments.dialects.pagarme.shows import MAX_PAGE
from simulators.payments.provider import Act
from simulators.payments.serving import Desk

Page = Annotated[int, Query(ge=1)]
Size = Annotated[int, Query(ge=1, le=1000)]


def add_orders(app: FastAPI, desk: Desk) -> None:
    """Mount orders."""
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
        return await desk.read(
            request, lambda: shows.orders(provider, code=code, page=page, size=size)
        )

    @app.get("/core/v5/orders/{order_id}")
    async def get_order(request: Request, order_id: str) -> Response:
        return await desk.read(request, lambda: shows.order(provider, order_id))


def add_charges(app: FastAPI, desk: Desk) -> None:
    """Mount charges and the images of their codes."""
    provider = desk.provider

    @app.get("/core/v5/charges/{charge_id}")
    async def get_charge(request: Request, charge_id: str) -> Response:
        return await desk.read(request, lambda: shows.charge(provider, charge_id))

    @app.delete("/core/v5/charges/{charge_id}")
    async def cancel_charge(request: Request, charge_id: str) -> Response:
        def act(key: str | None, body: bytes) -> Act:
            doc = parse(body) if body else {}
            return lambda twist: acts.cancel_charge(provider, key, charge_id, doc, twist)

        return await desk.write(request, act)

    @app.get("/core/v5/transactions/{transaction_id}/qrcode")
    async def qr_code(transaction_id: str) -> Response:
        code = shows.pix_code(provider, transaction_id)
        if code is None:
            return Response(status_code=404)
        return Response(as_png(code), media_type="image/png")


def add_recipients(app: FastAPI, desk: Desk) -> None:
    """Mount withdrawals and the balance."""
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
            request, lambda: shows.withdrawals(provider, recipient_id, page=page, size=size)
        )

    @app.get("/core/v5/recipients/{recipient_id}/balance")
    async def balance(request: Request, recipient_id: str) -> Response:
        return await desk.read(request, lambda: shows.balance(provider, recipient_id))
