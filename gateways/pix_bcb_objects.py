"""Objects of the API Pix, compared field by field with the request that was confirmed.

The trap: a charge that is still open may be altered under its txid, by a PATCH or, at some banks,
by a second PUT. It then has another `revisao`; so has one that was altered twice, back and forth
(facts: payments §1). And `modalidadeAlteracao` 1 lets the payer choose the amount.
"""

import json
import re
from collections.abc import Mapping

from pydantic import JsonValue

from domain.outcomes import Operation, ProviderRequest
from gateways import brcode
from gateways.money import cents_of_text
from gateways.reading import Json, clean, object_of, text_of
from gateways.seen import Seen, Stage, hand_on_code

IDS: Mapping[Operation, str] = {"charge": "txid", "refund": "id", "transfer": "idEnvio"}
"""Where an object of each operation bears our key."""

STAGES: Mapping[Operation, Mapping[str, Stage]] = {
    "charge": {
        "ATIVA": Stage.DONE,
        "CONCLUIDA": Stage.DONE,
        "REMOVIDA_PELO_USUARIO_RECEBEDOR": Stage.UNDONE,
        "REMOVIDA_PELO_PSP": Stage.UNDONE,
    },
    "refund": {
        "EM_PROCESSAMENTO": Stage.WORKING,
        "DEVOLVIDO": Stage.DONE,
        "NAO_REALIZADO": Stage.FAILED,
    },
    "transfer": {
        "EM_PROCESSAMENTO": Stage.WORKING,
        "REALIZADO": Stage.DONE,
        "NAO_REALIZADO": Stage.FAILED,
    },
}


def see(request: ProviderRequest, found: Json) -> Seen:
    """Return `found` compared with `request`, by the operation's own rule."""
    frozen = object_of(json.loads(request.body))
    seen = _seen(request, found)
    key = request.path.rsplit("/", 1)[-1]
    seen.differs(IDS[request.operation], frozen=key, found=found.get(IDS[request.operation]))
    if request.operation == "charge":
        _compare_charge(seen, frozen, found)
        _check_code(seen, found)
        return seen
    seen.differs("valor", frozen=frozen.get("valor"), found=found.get("valor"))
    if request.operation == "transfer":
        _compare_keys(seen, frozen, found)
    return seen


def _seen(request: ProviderRequest, found: Json) -> Seen:
    word = text_of(found.get("status"))
    ref = text_of(found.get(IDS[request.operation]))
    charged = object_of(found.get("valor")).get("original")
    amount = charged if request.operation == "charge" else found.get("valor")
    data: Json = {"status": word, "amount_cents": cents_of_text(amount)}
    if request.operation == "charge":
        data["charge_id"] = ref
    elif request.operation == "transfer":
        data["transfer_id"] = ref
        data["e2eid"] = text_of(found.get("e2eId")) or text_of(found.get("endToEndId"))
    else:
        data["rtr_id"] = text_of(found.get("rtrId"))
    seen = Seen(
        provider_ref=ref, stage=STAGES[request.operation].get(word or ""), word=word, data=data
    )
    seen.failure = clean(text_of(found.get("motivo")) or "") or None
    return seen


def _compare_charge(seen: Seen, frozen: Json, found: Json) -> None:
    seen.differs("revisao", frozen=0, found=found.get("revisao"))
    amount = object_of(found.get("valor"))
    seen.differs(
        "valor.original",
        frozen=object_of(frozen.get("valor")).get("original"),
        found=amount.get("original"),
    )
    if amount.get("modalidadeAlteracao") not in (None, 0):
        seen.differences.append("valor.modalidadeAlteracao: the payer may choose the amount")
    if amount.get("retirada") is not None:
        seen.differences.append("valor.retirada: cash is handed out with it")
    seen.differs_unnamed("chave", frozen=frozen.get("chave"), found=found.get("chave"))
    debtor = object_of(found.get("devedor"))
    asked = object_of(frozen.get("devedor"))
    for name in ("cpf", "cnpj"):
        seen.differs_unnamed(
            f"devedor.{name}", frozen=asked.get(name), found=_document(debtor.get(name))
        )
    seen.differs(
        "calendario.expiracao",
        frozen=object_of(frozen.get("calendario")).get("expiracao"),
        found=_seconds(object_of(found.get("calendario")).get("expiracao")),
    )


def _check_code(seen: Seen, found: Json) -> None:
    code = text_of(found.get("pixCopiaECola"))
    if seen.stage is not Stage.DONE:
        return
    if code is None:
        if seen.word == "ATIVA":
            seen.stage = Stage.WORKING
        return
    if not code.startswith(brcode.PREFIX):
        seen.differences.append("Pix code: not a BR Code")
        return
    hand_on_code(seen, code, amount_cents=cents_of_text(object_of(found["valor"]).get("original")))
    location = text_of(found.get("location"))
    if "qr_code" in seen.data and location is not None:
        url = brcode.parse(code).url
        if url != re.sub(r"^https?://", "", location):
            del seen.data["qr_code"]
            seen.differs("Pix code url", frozen=location, found=url)


def _compare_keys(seen: Seen, frozen: Json, found: Json) -> None:
    """The answer of the send names neither key, the look-up both; a masked one is no key."""
    payer = text_of(found.get("chave"))
    if payer is not None:
        seen.differs_unnamed(
            "chave", frozen=object_of(frozen.get("pagador")).get("chave"), found=payer
        )
    payee = text_of(object_of(found.get("favorecido")).get("chave"))
    if payee is not None:
        seen.differs_unnamed(
            "favorecido.chave", frozen=object_of(frozen.get("favorecido")).get("chave"), found=payee
        )


def _document(value: JsonValue) -> str | None:
    text = text_of(value)
    return re.sub(r"[^0-9A-Z]", "", text.upper()) if text is not None else None


def _seconds(value: JsonValue) -> JsonValue:
    """Efí answers a charge's expiry as a number, and a looked-up one's sometimes as a text."""
    text = text_of(value)
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,9}", text) else value
