"""What a bank can be asked to do by the API Pix: charge, give back, send.

A key is the id in the path and is refused the second time (Efí: 409). With the fault `ignore_key`
a second PUT alters the open charge instead, as the specification allows. Each act records its
effect in the transaction that makes it.
"""

from simulators.payments import brcode
from simulators.payments.dialects.pix_bcb import reading, views
from simulators.payments.dialects.pix_bcb.errors import refuse
from simulators.payments.provider import Provider
from simulators.payments.replies import Reply, Twist
from simulators.payments.state import Doc

CHARGE, PIX, SENT = "pix_bcb_cob", "pix_bcb_pix", "pix_bcb_sent"
_ONE_REAL = 100
_REFUSED_REFUND_CENTS = 1
"""Efí's sandbox takes a refund of R$ 0.01 in and then does not carry it out."""


def create_charge(provider: Provider, txid: str, body: Doc, twist: Twist) -> Reply:
    """Create an immediate charge."""
    reading.check_id(reading.TXID, txid, "txid")
    known = provider.state.get(CHARGE, f"cob:{txid}")
    if known is not None and not twist.ignore_key:
        raise refuse(
            409, "txid_duplicado", "Campo txid informado já foi utilizado em outra cobrança"
        )
    charge = _charge(provider, txid, body, alter=twist.alter)
    if twist.fail or twist.precondition:
        raise refuse(400, "documento_bloqueado", "O documento desta conta tem bloqueios")
    if known is not None:
        return _altered(provider, known, charge)
    state = provider.state
    state.put(CHARGE, charge, visible_at=state.now() + twist.lookup_lag)
    debtor = charge["devedor"]
    provider.charged(
        txid,
        payer=debtor.get("cpf") or debtor["cnpj"],
        description=charge.get("solicitacaoPagador", ""),
        amount_cents=reading.cents(charge["valor"], "original"),
        ref=txid,
    )
    return Reply(201, views.show_charge(charge, None, state.now()), acted=True)


def _altered(provider: Provider, known: Doc, charge: Doc) -> Reply:
    if known["status"] != "ATIVA":
        raise refuse(400, "status_cobranca_invalido", "A cobrança não está mais com o status ATIVA")
    changed = {**charge, "revisao": known["revisao"] + 1}
    provider.state.change(changed)
    return Reply(201, views.show_charge(changed, None, provider.state.now()), acted=True)


def _charge(provider: Provider, txid: str, body: Doc, *, alter: bool) -> Doc:
    amount = reading.cents(reading.inner(body, "valor"), "original") + (_ONE_REAL if alter else 0)
    expires_in = reading.inner(body, "calendario").get("expiracao")
    if isinstance(expires_in, bool) or not isinstance(expires_in, int) or expires_in < 1:
        raise reading.wrong("calendario.expiracao")
    if body.get("chave") != provider.config.pix_key:
        raise refuse(400, "chave_invalida", "A chave informada não faz referência à conta")
    debtor = reading.inner(body, "devedor")
    reading.text(debtor, "nome", limit=200)
    if not isinstance(debtor.get("cpf") or debtor.get("cnpj"), str):
        raise reading.wrong("devedor")
    now = provider.state.now()
    location = f"pix.simulador.example/v2/{txid}"
    charge: Doc = {
        "id": f"cob:{txid}",
        "calendario": {"criacao": views.iso(now), "expiracao": expires_in},
        "txid": txid,
        "revisao": 0,
        "loc": {
            "id": 1,
            "txid": txid,
            "location": location,
            "tipoCob": "cob",
            "criacao": views.iso(now),
        },
        "location": location,
        "status": "ATIVA",
        "devedor": debtor,
        "valor": {"original": views.money(amount)},
        "chave": body["chave"],
        "pixCopiaECola": brcode.render(
            url=location,
            amount_cents=amount,
            name=provider.config.merchant_name,
            city=provider.config.merchant_city,
        ),
        "_expires_at": now + expires_in,
    }
    if "solicitacaoPagador" in body:
        charge["solicitacaoPagador"] = reading.text(body, "solicitacaoPagador", limit=140)
    return charge


def refund(provider: Provider, e2eid: str, refund_id: str, body: Doc, twist: Twist) -> Reply:
    """Give a received Pix back, wholly or in part."""
    reading.check_id(reading.SHORT_ID, refund_id, "id")
    pix = provider.state.get(PIX, f"pix:{e2eid}")
    if pix is None:
        raise refuse(400, "pix_nao_encontrado", "Nenhum pix encontrado para o identificador")
    if any(one["id"] == refund_id for one in pix["_refunds"]):
        raise refuse(
            409, "devolucao_id_duplicado", "O id informado já foi utilizado em outra devolução"
        )
    amount = reading.cents(body, "valor")
    if amount > pix["_cents"] - sum(one["_cents"] for one in pix["_refunds"]):
        raise refuse(400, "valor_invalido", "O valor é maior que o valor do Pix")
    if twist.precondition:
        raise refuse(400, "documento_bloqueado", "O documento desta conta tem bloqueios")
    amount += _ONE_REAL if twist.alter else 0
    failed = twist.fail or amount == _REFUSED_REFUND_CENTS
    now = provider.state.now()
    made: Doc = {
        "id": refund_id,
        "rtrId": views.end_to_end("D", now),
        "valor": views.money(amount),
        "horario": {"solicitacao": views.iso(now)},
        "_cents": 0 if failed else amount,
        "_failed": failed,
        "_settle_at": now + twist.settle_after,
        "_visible_at": now + twist.lookup_lag,
    }
    pix["_refunds"].append(made)
    provider.state.change(pix)
    if not failed:
        provider.refunded(refund_id, charge_ref=pix["txid"], amount_cents=amount, was_paid=True)
    return Reply(201, views.show_refund(made, now, just_made=True), acted=not failed)


def send(provider: Provider, send_id: str, body: Doc, twist: Twist) -> Reply:
    """Send a Pix to another key."""
    reading.check_id(reading.SHORT_ID, send_id, "idEnvio")
    state = provider.state
    if state.get(SENT, f"sent:{send_id}") is not None:
        raise refuse(
            409, "id_envio_duplicado", "O id de envio informado já foi utilizado em outro pagamento"
        )
    amount = reading.cents(body, "valor")
    payer = reading.text(reading.inner(body, "pagador"), "chave", limit=77)
    payee = reading.text(reading.inner(body, "favorecido"), "chave", limit=77)
    if payer != provider.config.pix_key:
        raise refuse(400, "chave_invalida", "A chave informada não faz referência à conta")
    if twist.precondition or amount > provider.available():
        raise refuse(422, "pagamento_negado", "Pagamento negado por análises")
    amount += _ONE_REAL if twist.alter else 0
    now = state.now()
    sent: Doc = {
        "id": f"sent:{send_id}",
        "endToEndId": views.end_to_end("E", now),
        "idEnvio": send_id,
        "valor": views.money(amount),
        "chave": payer,
        "horario": {"solicitacao": views.iso(now)},
        "favorecido": {"chave": payee},
        "_failed": twist.fail,
        "_settle_at": now + twist.settle_after,
    }
    state.put(SENT, sent, visible_at=now + twist.lookup_lag)
    if not twist.fail:
        provider.transferred(send_id, account=payee, amount_cents=amount, ref=send_id)
    answer = {name: sent[name] for name in ("idEnvio", "valor", "horario")}
    answer |= {"e2eId": sent["endToEndId"], "status": "EM_PROCESSAMENTO"}
    return Reply(201, answer, acted=not twist.fail)


def pay(provider: Provider, txid: str) -> Doc | None:
    """Let the customer pay a charge; None if there is none. Raises RefusedError 409."""
    state = provider.state
    with state.transaction():
        charge = state.get(CHARGE, f"cob:{txid}")
        if charge is None:
            return None
        if charge["status"] != "ATIVA" or charge["_expires_at"] <= state.now():
            raise refuse(409, "status_cobranca_invalido", "A cobrança não pode ser paga")
        cents = reading.cents(charge["valor"], "original")
        e2eid = views.end_to_end("E", state.now())
        pix: Doc = {
            "id": f"pix:{e2eid}",
            "endToEndId": e2eid,
            "txid": txid,
            "valor": charge["valor"]["original"],
            "chave": charge["chave"],
            "horario": views.iso(state.now()),
            "_cents": cents,
            "_refunds": [],
        }
        state.put(PIX, pix)
        charge |= {"status": "CONCLUIDA", "_e2eid": e2eid}
        state.change(charge)
        provider.paid(amount_cents=cents)
    return views.show_charge(charge, pix, state.now())
