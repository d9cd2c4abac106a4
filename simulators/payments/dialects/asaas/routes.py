"""The paths of Asaas under /v3."""

from typing import Annotated

from fastapi import FastAPI, Query, Request, Response

from simulators.payments.dialects.asaas import acts, shows
from simulators.payments.dialects.asaas.reading import parse, reference
from simulators.payments.dialects.asaas.validation import Validation
from simulators.payments.provider import Act
from simulators.payments.replies import Reply, Twist
from simulators.payments.serving import Desk

Limit = Annotated[int, Query(ge=1, le=100)]
Offset = Annotated[int, Query(ge=0)]
Reference = Annotated[str | None, Query(alias="externalReference")]
Document = Annotated[str | None, Query(alias="cpfCnpj")]


def add_customers(app: FastAPI, desk: Desk) -> None:
    """Mount customers and the balance."""
    provider = desk.provider

    @app.post("/v3/customers")
    async def create_customer(request: Request) -> Response:
        def act(_key: str | None, body: bytes) -> Act:
            return lambda _twist: acts.create_customer(provider, parse(body))

        return await desk.write(request, act, key_in=lambda _body: None)

    @app.get("/v3/customers")
    async def list_customers(
        request: Request, document: Document = None, limit: Limit = 10, offset: Offset = 0
    ) -> Response:
        return await desk.read(
            request,
            lambda: shows.customers(provider, document=document, limit=limit, offset=offset),
        )

    @app.get("/v3/customers/{identity}")
    async def get_customer(request: Request, identity: str) -> Response:
        return await desk.read(request, lambda: shows.customer(provider, identity))

    @app.get("/v3/finance/balance")
    async def balance(request: Request) -> Response:
        return await desk.read(request, lambda: shows.balance(provider))


def add_payments(app: FastAPI, desk: Desk) -> None:
    """Mount charges, their codes and their refunds."""
    provider = desk.provider

    @app.post("/v3/payments")
    async def create_payment(request: Request) -> Response:
        def act(_key: str | None, body: bytes) -> Act:
            return lambda twist: acts.create_payment(provider, parse(body), twist)

        return await desk.write(
            request, act, key_in=lambda body: reference(body, "externalReference")
        )

    @app.get("/v3/payments")
    async def list_payments(
        request: Request, found_by: Reference = None, limit: Limit = 10, offset: Offset = 0
    ) -> Response:
        return await desk.read(
            request,
            lambda: shows.payments(provider, reference=found_by, limit=limit, offset=offset),
        )

    @app.get("/v3/payments/{identity}")
    async def get_payment(request: Request, identity: str) -> Response:
        return await desk.read(request, lambda: shows.payment(provider, identity))

    @app.get("/v3/payments/{identity}/pixQrCode")
    async def get_code(request: Request, identity: str) -> Response:
        return await desk.read(request, lambda: shows.pix_code(provider, identity))

    @app.post("/v3/payments/{identity}/refund")
    async def refund(request: Request, identity: str) -> Response:
        def act(_key: str | None, body: bytes) -> Act:
            return lambda twist: acts.refund(provider, identity, parse(body), twist)

        return await desk.write(request, act, key_in=lambda body: reference(body, "description"))

    @app.get("/v3/payments/{identity}/refunds")
    async def list_refunds(request: Request, identity: str) -> Response:
        return await desk.read(request, lambda: shows.refunds(provider, identity))


def add_transfers(app: FastAPI, desk: Desk, validation: Validation) -> None:
    """Mount transfers; with the validation on, each is asked about after its answer."""
    provider = desk.provider

    @app.post("/v3/transfers")
    async def create_transfer(request: Request) -> Response:
        made: list[Reply] = []

        def act(_key: str | None, body: bytes) -> Act:
            def run(twist: Twist) -> Reply:
                made.append(acts.transfer(provider, parse(body), twist, validated=validation.on))
                return made[-1]

            return run

        response = await desk.write(
            request, act, key_in=lambda body: reference(body, "externalReference")
        )
        for reply in made:
            validation.ask(reply.doc)
        return response

    @app.get("/v3/transfers")
    async def list_transfers(
        request: Request, found_by: Reference = None, limit: Limit = 10, offset: Offset = 0
    ) -> Response:
        return await desk.read(
            request,
            lambda: shows.transfers(provider, reference=found_by, limit=limit, offset=offset),
        )

    @app.get("/v3/transfers/{identity}")
    async def get_transfer(request: Request, identity: str) -> Response:
        return await desk.read(request, lambda: shows.transfer(provider, identity))
