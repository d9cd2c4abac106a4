"""What Asaas shows: customers, charges with code and refunds, transfers, the balance."""

import base64

from simulators.payments.brcode import as_png
from simulators.payments.dialects.asaas import acts, views
from simulators.payments.dialects.asaas.acts import CUSTOMER, PAYMENT, TRANSFER
from simulators.payments.dialects.asaas.errors import refuse
from simulators.payments.provider import Provider
from simulators.payments.replies import Reply
from simulators.payments.state import Doc

MAX_LIMIT = 100


def customers(provider: Provider, *, document: str | None, limit: int, offset: int) -> Reply:
    """Return a page of customers."""
    return _listed(provider, CUSTOMER, document, limit, offset)


def customer(provider: Provider, identity: str) -> Reply:
    """Return one customer."""
    return Reply(200, views.public(_found(provider, CUSTOMER, identity)))


def payments(provider: Provider, *, reference: str | None, limit: int, offset: int) -> Reply:
    """Return a page of charges."""
    return _listed(provider, PAYMENT, reference, limit, offset)


def payment(provider: Provider, identity: str) -> Reply:
    """Return one charge."""
    return Reply(200, _shown(provider, _found(provider, PAYMENT, identity)))


def refunds(provider: Provider, identity: str) -> Reply:
    """Return the refunds of a charge."""
    shown = views.show_refunds(provider.state, _found(provider, PAYMENT, identity))
    return Reply(200, views.listed(shown, len(shown), limit=MAX_LIMIT, offset=0))


def pix_code(provider: Provider, identity: str) -> Reply:
    """Return the code of a charge that can be paid."""
    found = _found(provider, PAYMENT, identity)
    if found["status"] not in views.PIX_PAYABLE:
        raise refuse(400, "invalid_action", "A cobrança não pode ser paga.")
    code = acts.pix_code(provider, found)
    image = base64.b64encode(as_png(code)).decode("ascii")
    return Reply(200, {"success": True, "encodedImage": image, "payload": code})


def transfers(provider: Provider, *, reference: str | None, limit: int, offset: int) -> Reply:
    """Return a page of transfers."""
    return _listed(provider, TRANSFER, reference, limit, offset)


def transfer(provider: Provider, identity: str) -> Reply:
    """Return one transfer."""
    return Reply(200, _shown(provider, _found(provider, TRANSFER, identity)))


def balance(provider: Provider) -> Reply:
    """Return the balance."""
    return Reply(200, {"balance": views.money(provider.available())})


def _found(provider: Provider, kind: str, identity: str) -> Doc:
    # What a look-up cannot see yet is seen under its own id: whoever knows that was told of it.
    found = provider.state.get(kind, identity)
    if found is None:
        raise refuse(404, "not_found", "Recurso não encontrado.")
    return found


def _listed(provider: Provider, kind: str, code: str | None, limit: int, offset: int) -> Reply:
    limit = min(limit, MAX_LIMIT)
    page = offset // limit + 1
    total, docs = provider.state.listed(kind, code=code, page=page, size=limit)
    shown = [_shown(provider, doc) for doc in docs]
    return Reply(200, views.listed(shown, total, limit=limit, offset=offset))


def _shown(provider: Provider, doc: Doc) -> Doc:
    if doc["object"] == "payment":
        return views.show_payment(provider.state, doc)
    if doc["object"] == "transfer":
        return views.show_transfer(provider.state, doc)
    return views.public(doc)
