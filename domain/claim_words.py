"""The words by which something is said to have been done, in the three languages that are spoken.

Patterns over text in lower case without accents (`fold`). Two kinds: a deed ("gerei", "I've sent")
is the speaker's own; a state ("foi gerado", "was sent", "Pix gerado") may also be read somewhere.
Forms that only ask, offer, promise or deny do not stand here; what surrounds a form is judged in
`domain.claims`.
"""

import re
import unicodedata

PT_PARTICIPLES = (
    "gerad|criad|enviad|mandad|cancelad|desmarcad|agendad|marcad|remarcad|reagendad|reservad"
    "|transferid|depositad|estornad|reembolsad|devolvid|atualizad|alterad|trocad|mudad|corrigid"
    "|cadastrad|registrad|excluid|removid|concluid|finalizad|realizad|efetuad|efetivad|executad"
    "|processad|emitid|resolvid|confirmad|pag|feit"
)
_PT_PART = rf"(?:{PT_PARTICIPLES})[oa]s?"
_PT_DEEDS = (
    "gerei|criei|enviei|mandei|cancelei|desmarquei|agendei|marquei|remarquei|reagendei|reservei"
    "|transferi|depositei|estornei|reembolsei|devolvi|atualizei|alterei|troquei|mudei|corrigi"
    "|cadastrei|registrei|exclui|removi|conclui|finalizei|realizei|efetuei|efetivei|executei"
    "|processei|emiti|resolvi|confirmei|paguei|cobrei|fiz"
)
_PT_INFINITIVES = (
    "gerar|criar|enviar|mandar|cancelar|desmarcar|agendar|marcar|remarcar|reagendar|reservar"
    "|transferir|estornar|reembolsar|devolver|atualizar|alterar|trocar|mudar|concluir|finalizar"
    "|realizar|efetuar|fazer|emitir|pagar"
)
_EN_PARTICIPLES = (
    "generated|created|sent|cancell?ed|booked|scheduled|rescheduled|reserved|transferred|refunded"
    "|updated|changed|completed|processed|issued|paid|made|done|confirmed|executed|moved|deleted"
)
_EN_DEEDS = f"{_EN_PARTICIPLES}|returned|finished|did|charged|registered"
_ES_PARTICIPLES = (
    "generad|cread|enviad|mandad|cancelad|agendad|reservad|reprogramad|transferid|reembolsad"
    "|devuelt|actualizad|cambiad|registrad|eliminad|completad|finalizad|realizad|efectuad"
    "|ejecutad|procesad|emitid|confirmad|pagad|hech"
)
_ES_PART = rf"(?:{_ES_PARTICIPLES})[oa]s?"
_ES_DEEDS = (
    "genere|cree|envie|mande|cancele|agende|reserve|reprograme|transferi|reembolse|devolvi"
    "|actualice|cambie|registre|elimine|complete|finalice|realice|efectue|ejecute|procese|emiti"
    "|confirme|pague|hice"
)
_ES_INFINITIVES = (
    "generar|crear|enviar|mandar|cancelar|agendar|reservar|reprogramar|transferir|reembolsar"
    "|devolver|actualizar|cambiar|completar|realizar|efectuar|hacer|emitir|pagar"
)

NOUNS = (
    "pix|cobrancas?|boletos?|pagamentos?|links?|codigos?|estornos?|reembolsos?|devolucao|devolucoes"
    "|transferencias?|depositos?|valor|dinheiro|agendamentos?|horarios?|consultas?|sessao|sessoes"
    "|reservas?|cancelamentos?|cadastros?|e-?mails?|alteracao|alteracoes|pedidos?|solicitacao"
    "|operacao|payments?|transfers?|charges?|refunds?|bookings?|appointments?|pagos?|cobros?"
    "|reembolsos?|citas?|turnos?|correos?|transaccion"
)

_INTRO = r"(?:(?:o|a|os|as|seu|sua|el|la|tu|su|your|the|esse|essa|este|esta)\s+)?"

DEEDS = [
    re.compile(rf"\b(?:{_PT_DEEDS})\b"),
    re.compile(rf"\b(?:acabei de|terminei de|consegui)\s+(?:{_PT_INFINITIVES})\b"),
    re.compile(rf"\b(?:ja|acabamos de)\s+(?:{_PT_DEEDS.replace('ei|', 'amos|')})\b"),
    re.compile(
        rf"\b(?:i|we)(?:'ve| have)?(?: just| already| now| successfully| also)*\s+(?:{_EN_DEEDS})\b"
    ),
    re.compile(rf"\bi went ahead and (?:{_EN_DEEDS})\b"),
    re.compile(rf"\b(?:he|hemos)(?: ya)?\s+{_ES_PART}"),
    re.compile(rf"\b(?:ya|listo|yo)\b[\s,]+(?:(?:te|se|lo|la|le|los|las)\s+)*(?:{_ES_DEEDS})\b"),
    re.compile(rf"\b(?:acabo de|acabamos de|logre)\s+(?:{_ES_INFINITIVES})\b"),
    re.compile(rf"^(?:{_ES_DEEDS})\s+(?:el|la|los|las|tu|su|un|una)\b"),
]
_FINITE = (
    "eh|sao|era|eram|fica|ficam|cai|caem|vale|valem|aparecem?|chegam?|sera|serao|vai|vao|podem?"
    "|precisam?|continuam?|costumam?|levam?|is|are|takes?|shows?|es|son|llegan?|puede|pueden"
)
"""After a participle these make it an adjective: "o horário marcado é às 14h"."""

STATES = [
    re.compile(rf"\b(?:foi|foram|esta|estao|ta|tao|ficou|ficaram)(?: ja| agora)?\s+{_PT_PART}\b"),
    re.compile(r"\b(?:foi|foram|esta|estao|ta)(?: ja)?\s+tudo\s+\w+d[oa]\b"),
    re.compile(r"\b(?:dinheiro|valor|pagamento|pix|estorno|devolucao)\s+(?:ja\s+)?(?:caiu|saiu)\b"),
    re.compile(rf"\bregistrad[oa]s? como {_PT_PART}\b"),
    re.compile(
        r"\b(?:was|were|is|are|has been|have been|'s|got)(?: now| already| just| successfully)*\s+"
        rf"(?:{_EN_PARTICIPLES})\b"
    ),
    re.compile(rf"\b(?:fue|fueron|esta|estan|quedo|quedaron)(?: ya)?\s+{_ES_PART}\b"),
    re.compile(rf"\bse (?:ha|han)\s+{_ES_PART}\b"),
    re.compile(
        r"\bse (?:genero|creo|envio|mando|cancelo|agendo|reservo|transfirio|reembolso|actualizo"
        r"|cambio|realizo|efectuo|ejecuto|proceso|hizo|emitio|confirmo|pago)\b"
    ),
    re.compile(
        rf"^{_INTRO}(?:{NOUNS})\b(?:\s+(?:pix|de|do|da|no|na|r\$|[\d.,]+|reais|valor)\b)*\s+"
        rf"(?:ja\s+)?(?:{_PT_PART}|{_ES_PART}|{_EN_PARTICIPLES}|received)\b(?!.*\b(?:{_FINITE})\b)"
    ),
    re.compile(rf"^(?:{_PT_PART}|{_ES_PART}|done|booked|sent|cancell?ed)$"),
]
"""The last two: "Pix gerado", "Feito": without an auxiliary, only at a clause's beginning."""

FAMILIES = {
    "charge": r"\bpix\b|cobr|boleto|\bcodigo|\blink\b|charge|\bpag|payment|paid",
    "refund": r"estorn|reembols|devol|refund|devuel",
    "transfer": r"transf|deposit",
    "cancel": r"cancel|desmar",
    "booking": r"agend|\bmarc|remarc|\bmarqu|remarqu|reserv|horario|consulta|sessa|sesso|book"
    r"|appoint|schedul|session|\bcita|turno|reprogram",
    "customer": r"e-?mail|cadastr|correo",
}
"""What a claim is about, by words in it."""


def fold(text: str) -> str:
    """Lower case, without accents and invisible signs, one apostrophe; the verb "é" as `eh`, since
    without its accent it would be an "and"."""
    composed = unicodedata.normalize("NFKC", text.replace("\u2019", "'"))
    parts = unicodedata.normalize("NFKD", re.sub(r"\b[éÉ]\b", "eh", composed))
    seen = (char for char in parts if unicodedata.category(char) not in {"Mn", "Cf"})
    return "".join(seen).lower()
