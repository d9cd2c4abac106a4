"""The paths of Stripe's API v1."""

from collections.abc import Callable

from fastapi import FastAPI, Request, Response

from simulators.payments.brcode import as_png
from simulators.payments.dialects.stripe import acts, shows
from simulators.payments.dialects.stripe.form import Form, read
from simulators.payments.provider import Act, Provider
from simulators.payments.replies import Reply, Twist
from simulators.payments.serving import Desk

Make = Callable[[Provider, str | None, Form, Twist], Reply]


def add_writes(app: FastAPI, desk: Desk) -> None:
    """Mount what has an effect."""

    async def write(request: Request, make: Make, known: frozenset[str]) -> Response:
        def act(key: str | None, body: bytes) -> Act:
            return lambda twist: make(desk.provider, key, read(body, known=known), twist)

        return await desk.write(request, act)

    @app.post("/v1/payment_intents")
    async def create_intent(request: Request) -> Response:
        return await write(request, acts.create_intent, acts.INTENT_FIELDS)

    @app.post("/v1/refunds")
    async def create_refund(request: Request) -> Response:
        return await write(request, acts.refund, acts.REFUND_FIELDS)

    @app.post("/v1/payouts")
    async def create_payout(request: Request) -> Response:
        return await write(request, acts.pay_out, acts.PAYOUT_FIELDS)


def add_reads(app: FastAPI, desk: Desk) -> None:
    """Mount lists, the search and the balance."""
    provider = desk.provider

    @app.get("/v1/payment_intents")
    async def list_intents(request: Request) -> Response:
        return await desk.read(
            request, lambda: shows.intents(provider, _query(request, shows.INTENT_QUERY))
        )

    @app.get("/v1/payment_intents/search")
    async def search_intents(request: Request) -> Response:
        return await desk.read(
            request, lambda: shows.search(provider, _query(request, shows.SEARCH_QUERY))
        )

    @app.get("/v1/refunds")
    async def list_refunds(request: Request) -> Response:
        return await desk.read(
            request, lambda: shows.refunds(provider, _query(request, shows.REFUND_QUERY))
        )

    @app.get("/v1/payouts")
    async def list_payouts(request: Request) -> Response:
        return await desk.read(
            request, lambda: shows.payouts(provider, _query(request, shows.INTENT_QUERY))
        )

    @app.get("/v1/balance")
    async def balance(request: Request) -> Response:
        return await desk.read(request, lambda: shows.balance(provider))


def add_objects(app: FastAPI, desk: Desk) -> None:
    """Mount single objects and the images of their codes."""
    provider = desk.provider

    @app.get("/v1/payment_intents/{intent_id}")
    async def get_intent(request: Request, intent_id: str) -> Response:
        known = frozenset({"expand[]"})
        return await desk.read(
            request, lambda: shows.intent(provider, intent_id, _query(request, known))
        )

    @app.get("/v1/charges/{charge_id}")
    async def get_charge(request: Request, charge_id: str) -> Response:
        return await desk.read(request, lambda: shows.charge(provider, charge_id))

    @app.get("/stripe/pix/{intent_id}.png")
    async def qr_code(intent_id: str) -> Response:
        code = shows.code_of(provider, intent_id)
        if code is None:
            return Response(status_code=404)
        return Response(as_png(code), media_type="image/png")


def _query(request: Request, known: frozenset[str]) -> Form:
    return Form(request.query_params.multi_items(), known=known)
