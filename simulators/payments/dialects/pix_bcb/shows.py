"""What a bank shows by the API Pix: charges, received and sent Pix, refunds, the balance."""

from simulators.payments.dialects.pix_bcb import views
from simulators.payments.dialects.pix_bcb.acts import CHARGE, PIX, SENT
from simulators.payments.dialects.pix_bcb.errors import problem, refuse
from simulators.payments.provider import Provider
from simulators.payments.replies import Reply
from simulators.payments.state import Doc


def charge(provider: Provider, txid: str) -> Reply:
    """Return a charge. Efí says 400 for one that is not there."""
    state = provider.state
    found = state.get(CHARGE, f"cob:{txid}", lagging=True)
    if found is None:
        raise refuse(
            400, "cobranca_nao_encontrada", "Nenhuma cobrança encontrada para o txid informado"
        )
    pix = state.get(PIX, f"pix:{found['_e2eid']}") if "_e2eid" in found else None
    return Reply(200, views.show_charge(found, pix, state.now()))


def pix(provider: Provider, e2eid: str) -> Reply:
    """Return a received Pix."""
    return Reply(200, views.show_pix(_pix(provider, e2eid), provider.state.now()))


def refund(provider: Provider, e2eid: str, refund_id: str) -> Reply:
    """Return a refund."""
    now = provider.state.now()
    for one in _pix(provider, e2eid)["_refunds"]:
        if one["id"] == refund_id and one["_visible_at"] <= now:
            return Reply(200, views.show_refund(one, now))
    raise refuse(
        400,
        "devolucao_nao_encontrada",
        "Nenhuma devolução encontrada para o identificador informado",
    )


def sent(provider: Provider, send_id: str) -> Reply:
    """Return a sent Pix. Efí says 404, as the specification does, for one that is not there."""
    found = provider.state.get(SENT, f"sent:{send_id}", lagging=True)
    if found is None:
        raise problem(
            404,
            "PixEnviadoNaoEncontrado",
            "Não Encontrado",
            "Pix enviado não encontrado para o idEnvio informado.",
        )
    return Reply(200, views.show_sent(found, provider.state.now()))


def balance(provider: Provider) -> Reply:
    """Return the balance."""
    return Reply(200, {"saldo": views.money(provider.available())})


def _pix(provider: Provider, e2eid: str) -> Doc:
    found = provider.state.get(PIX, f"pix:{e2eid}")
    if found is None:
        raise refuse(400, "pix_nao_encontrado", "Nenhum pix encontrado para o identificador")
    return found
