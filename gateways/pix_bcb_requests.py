"""Renders requests of the API Pix: pure, and the same bytes for the same arguments.

The trap: by the specification a second PUT under a txid may silently alter the charge, so the body
is frozen, not the values (facts: payments §1). Our key is the id in the path: txid of a charge, id
of a refund, idEnvio of a sent Pix.
"""

import re

from pydantic import JsonValue

from domain.outcomes import ProviderRequest
from gateways.contract import Customer, RenderError
from gateways.money import decimal_text
from gateways.pix_bcb_profiles import Profile
from gateways.rendering import check, is_person, json_body, one_line

MAX_NAME = 200
MAX_DESCRIPTION = 140
MAX_EXPIRY_SECONDS = 30 * 24 * 3600
PIX_OF_CHARGE = ":e2eid"
"""Stands in a refund's path for the Pix that paid its charge; it is known once the charge is paid,
and read before the fence. A charge takes one Pix only, so it cannot name another later."""

_TXID = re.compile(r"[A-Za-z0-9]{26,35}")
_E2EID = re.compile(r"E[0-9]{8}[A-Za-z0-9]{1,55}")
_PIX_KEY = re.compile(r"[!#-\[\]-~]{1,77}")


def render_charge(
    profile: Profile,
    *,
    key: str,
    amount_cents: int,
    description: str,
    customer: Customer,
    expires_in_seconds: int,
    pix_key: str,
) -> ProviderRequest:
    """Return the immediate charge. Raises RenderError."""
    check(key, amount_cents)
    if not 1 <= expires_in_seconds <= MAX_EXPIRY_SECONDS:
        raise RenderError(f"a Pix charge cannot expire in {expires_in_seconds!r} seconds")
    document = "cpf" if is_person(customer.document) else "cnpj"
    body: dict[str, JsonValue] = {
        "calendario": {"expiracao": expires_in_seconds},
        "chave": pix_key,
        "devedor": {
            document: customer.document,
            "nome": one_line(customer.name, MAX_NAME, "customer name"),
        },
        "solicitacaoPagador": one_line(description, MAX_DESCRIPTION, "description"),
        "valor": {"original": decimal_text(amount_cents)},
    }
    return ProviderRequest(
        operation="charge",
        method="PUT",
        path=f"{profile.charges}{key}",
        headers=_headers(),
        body=json_body(body),
    )


def render_refund(
    profile: Profile, *, key: str, charge_ref: str, amount_cents: int
) -> ProviderRequest:
    """Return the devolução of a charge (its txid) or of a received Pix (its e2eid). Raises
    RenderError."""
    check(key, amount_cents)
    pix = charge_ref if is_e2eid(charge_ref) else PIX_OF_CHARGE
    return ProviderRequest(
        operation="refund",
        method="PUT",
        path=f"{profile.received}{pix}/devolucao/{key}",
        headers=_headers(),
        body=json_body({"valor": decimal_text(amount_cents)}),
        expect={"charge": check_ref(charge_ref)},
    )


def render_transfer(
    profile: Profile, *, key: str, amount_cents: int, pix_key: str, to_pix_key: str
) -> ProviderRequest:
    """Return the Pix to the own account elsewhere. Raises RenderError."""
    check(key, amount_cents)
    body: dict[str, JsonValue] = {
        "favorecido": {"chave": to_pix_key},
        "pagador": {"chave": pix_key},
        "valor": decimal_text(amount_cents),
    }
    return ProviderRequest(
        operation="transfer",
        method="PUT",
        path=f"{profile.sends}{key}",
        headers=_headers(),
        body=json_body(body),
    )


def is_ours(profile: Profile, key: str, request: ProviderRequest) -> bool:
    """Return whether the request bears `key` where this bank has it."""
    if request.method != "PUT":
        return False
    if request.operation == "refund":
        charge = request.expect.get("charge")
        pix = charge if isinstance(charge, str) and is_e2eid(charge) else PIX_OF_CHARGE
        return request.path == f"{profile.received}{pix}/devolucao/{key}"
    start = profile.charges if request.operation == "charge" else profile.sends
    return request.path == f"{start}{key}"


def charge_to_resolve(request: ProviderRequest) -> str | None:
    """Return the txid whose Pix a refund still has to learn, None if nothing is open."""
    charge = request.expect.get("charge")
    return charge if PIX_OF_CHARGE in request.path and isinstance(charge, str) else None


def is_e2eid(ref: str) -> bool:
    """Return whether `ref` is the id of a Pix, not that of a charge."""
    return _E2EID.fullmatch(ref) is not None


def check_ref(ref: str) -> str:
    """Return a txid or e2eid that is safe inside a path. Raises RenderError."""
    if not _TXID.fullmatch(ref) and not is_e2eid(ref):
        raise RenderError(f"{ref!r} is neither the txid of a charge nor the e2eid of a Pix")
    return ref


def check_pix_key(pix_key: str) -> str:
    """Return a Pix key (DICT). Raises ValueError, without the key: it may be a CPF."""
    if not _PIX_KEY.fullmatch(pix_key):
        raise ValueError("a Pix key is 1 to 77 printable ASCII characters without spaces or quotes")
    return pix_key


def _headers() -> dict[str, str]:
    return {"Content-Type": "application/json; charset=utf-8"}
