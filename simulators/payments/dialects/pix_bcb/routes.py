"""The paths of the API Pix as Efí has them: /oauth/token and /v2."""

from fastapi import FastAPI, Request, Response

from simulators.payments.dialects.pix_bcb import acts, shows, tokens
from simulators.payments.dialects.pix_bcb.reading import parse
from simulators.payments.provider import Act
from simulators.payments.serving import Desk

OAUTH = "/oauth/token"


def add_charges(app: FastAPI, desk: Desk) -> None:
    """Mount tokens, charges and the balance."""
    provider = desk.provider

    @app.post(OAUTH)
    async def issue(request: Request) -> Response:
        return await desk.read(request, lambda: tokens.issue(provider))

    @app.put("/v2/cob/{txid}")
    async def create_charge(request: Request, txid: str) -> Response:
        def act(_key: str | None, body: bytes) -> Act:
            return lambda twist: acts.create_charge(provider, txid, parse(body), twist)

        return await desk.write(request, act, key_in=lambda _body: txid)

    @app.get("/v2/cob/{txid}")
    async def get_charge(request: Request, txid: str) -> Response:
        return await desk.read(request, lambda: shows.charge(provider, txid))

    @app.get("/v2/gn/saldo")
    async def balance(request: Request) -> Response:
        return await desk.read(request, lambda: shows.balance(provider))


def add_pix(app: FastAPI, desk: Desk) -> None:
    """Mount received Pix, refunds and sent Pix."""
    provider = desk.provider

    @app.get("/v2/pix/{e2eid}")
    async def get_pix(request: Request, e2eid: str) -> Response:
        return await desk.read(request, lambda: shows.pix(provider, e2eid))

    @app.put("/v2/pix/{e2eid}/devolucao/{refund_id}")
    async def refund(request: Request, e2eid: str, refund_id: str) -> Response:
        def act(_key: str | None, body: bytes) -> Act:
            return lambda twist: acts.refund(provider, e2eid, refund_id, parse(body), twist)

        return await desk.write(request, act, key_in=lambda _body: refund_id)

    @app.get("/v2/pix/{e2eid}/devolucao/{refund_id}")
    async def get_refund(request: Request, e2eid: str, refund_id: str) -> Response:
        return await desk.read(request, lambda: shows.refund(provider, e2eid, refund_id))

    @app.put("/v2/gn/pix/{send_id}")
    async def send(request: Request, send_id: str) -> Response:
        def act(_key: str | None, body: bytes) -> Act:
            return lambda twist: acts.send(provider, send_id, parse(body), twist)

        return await desk.write(request, act, key_in=lambda _body: send_id)

    @app.get("/v2/gn/pix/enviados/id-envio/{send_id}")
    async def get_sent(request: Request, send_id: str) -> Response:
        return await desk.read(request, lambda: shows.sent(provider, send_id))
