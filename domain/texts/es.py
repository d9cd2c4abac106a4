"""Spanish: what Aval itself says, and what it notes for the model.

Neutral Latin American words, with `tú`. What a press of Cancelar ends is always named, the request:
"cancelado" alone, after a request to annul an appointment, would read as if that had been done.
"""

from datetime import date, datetime

from domain.actions import CloseReason, Status, Verdict
from domain.inbound import InboundKind
from domain.money import format_brl
from domain.texts import es_tools, shared
from domain.texts.es_conversation import EsConversation
from domain.texts.es_questions import EsQuestions
from domain.texts.es_tools import EsReasons, EsTools
from domain.texts.shared import FactWords, named
from domain.texts.tabled import TabledTexts

_CLOSED: dict[CloseReason, str | None] = {
    CloseReason.CANCELLED_BY_PERSON: "De acuerdo, solicitud cancelada. No se hizo nada.",
    CloseReason.EXPIRED: (
        "Esa solicitud venció y no se hizo nada. ¿Quieres que la prepare de nuevo?"
    ),
    CloseReason.CONFIRMED_TOO_LATE: (
        "Confirmaste, pero no a tiempo; no se hizo nada. ¿Quieres que la prepare de nuevo?"
    ),
    CloseReason.SUPERSEDED: None,  # the newer prompt speaks for itself
    CloseReason.PROMPT_FAILED: None,  # nobody saw the question, so there is nothing to close
    CloseReason.EQUAL_EFFECT_LIVE: (
        "Eso ya está hecho o en curso en otra solicitud igual; no se hizo nada de nuevo."
    ),
    CloseReason.DIGEST_MISMATCH: (
        "Por seguridad esta solicitud se cerró y no se hizo nada. Pídelo de nuevo, por favor."
    ),
    CloseReason.IDENTITY_CHANGED: (
        "Tu número o tu identificación en WhatsApp cambió; "
        "por seguridad no se hizo nada. Pídelo de nuevo, por favor."
    ),
    CloseReason.ROLE_GONE: "Ya no tienes permiso para eso; no se hizo nada.",
    CloseReason.NO_LONGER_POSSIBLE: "Ya no es posible{detail}. No se hizo nada.",
    CloseReason.REJECTED: "El proveedor rechazó la solicitud{detail}. No se hizo nada.",
    CloseReason.NOT_SENT: (
        "No pude comunicarme con el proveedor y no se hizo nada. ¿Quieres que la prepare de nuevo?"
    ),
    CloseReason.CONFLICT: (
        "El proveedor tiene un registro distinto de lo que confirmaste. "
        "El equipo ya recibió el aviso; no lo pidas de nuevo hasta que lo resolvamos."
    ),
    CloseReason.SETTLED_BY_OPERATOR: "El equipo lo verificó: esta solicitud no se ejecutó{detail}.",
    CloseReason.RESTORED: (
        "Por un mantenimiento nuestro esta solicitud se cerró. "
        "Antes de pedirlo de nuevo, comprueba que no se haya hecho ya."
    ),
    CloseReason.TOOL_GONE: "Esa función ya no está disponible; no se hizo nada.",
}

_LATE_CONFIRM: dict[Status, str] = {
    Status.PENDING: "Esta solicitud todavía espera tu decisión: {what}.",
    Status.EXECUTING: "Ya está en curso: {what}. No hace falta confirmar de nuevo.",
    Status.EXECUTED: "Ya está hecho: {what}.",
    Status.FAILED: (
        "Esta solicitud no salió bien y no se hizo nada: {what}. ¿Quieres que la prepare de nuevo?"
    ),
    Status.CANCELLED: "Esta solicitud ya se canceló y no se hizo nada: {what}.",
    Status.EXPIRED: (
        "Esta solicitud venció y no se hizo nada: {what}. ¿Quieres que la prepare de nuevo?"
    ),
    Status.SUPERSEDED: "Esta solicitud se reemplazó por una más nueva: {what}.",
}

_LATE_CANCEL: dict[Status, str] = {
    Status.PENDING: "Esta solicitud todavía espera tu decisión: {what}.",
    Status.EXECUTING: "Ya está en curso, ya no se puede cancelar: {what}.",
    Status.EXECUTED: "Ya se ejecutó, ya no se puede cancelar: {what}.",
    Status.FAILED: "Esta solicitud ya estaba cerrada y no se hizo nada: {what}.",
    Status.CANCELLED: "Esta solicitud ya estaba cancelada y no se hizo nada: {what}.",
    Status.EXPIRED: "Esta solicitud ya había vencido y no se hizo nada: {what}.",
    Status.SUPERSEDED: "Esta solicitud ya se había reemplazado por una más nueva: {what}.",
}

_STATUS_WORDS: dict[Status, str] = {
    Status.PENDING: "a la espera de la decisión de la persona",
    Status.EXECUTING: "en curso, resultado todavía no conocido",
    Status.EXECUTED: "hecho",
    Status.FAILED: "no hecho",
    Status.CANCELLED: "cancelado por la persona, no hecho",
    Status.EXPIRED: "vencido sin decisión a tiempo, no hecho",
    Status.SUPERSEDED: "reemplazado por una solicitud más nueva, no hecho",
}

_MEDIA_NAMES: dict[InboundKind, str] = {
    InboundKind.AUDIO: "mensajes de audio",
    InboundKind.IMAGE: "imágenes",
    InboundKind.VIDEO: "videos",
    InboundKind.DOCUMENT: "archivos",
    InboundKind.STICKER: "stickers",
    InboundKind.LOCATION: "ubicaciones",
    InboundKind.CONTACTS: "contactos",
    InboundKind.ORDER: "pedidos del catálogo",
    InboundKind.FLOW: "formularios",
    InboundKind.LIST_REPLY: "respuestas de lista",
    InboundKind.UNSUPPORTED: "este tipo de mensaje",
    InboundKind.UNKNOWN: "este tipo de mensaje",
}

_OPERATOR_WORDS: dict[Verdict, str] = {
    Verdict.EXECUTED: "como ejecutada",
    Verdict.FAILED: "como no ejecutada",
    Verdict.RESEND: "para un nuevo envío",
}

_DEADLINE = "Válido hasta "

_FACT_WORDS = FactWords(
    head="Acciones de esta conversación según el registro del sistema:",
    deadline=_DEADLINE,
    action="accion",
    tool="herramienta",
    state="situacion",
    states=_STATUS_WORDS,
    at="cuando",
    summary="resumen",
    valid_until="valida_hasta",
    reason="causa",
    detail="detalle",
    amount="monto",
    money=format_brl,
)


class Es(EsTools, EsReasons, EsQuestions, EsConversation, TabledTexts):
    """All texts in Spanish."""

    language = "es"
    confirm_title = "Confirmar"
    cancel_title = "Cancelar"
    closings = _CLOSED
    late_confirms = _LATE_CONFIRM
    late_cancels = _LATE_CANCEL
    fact_words = _FACT_WORDS

    def money(self, cents: int) -> str:
        """`R$ 1.234,56`."""
        return format_brl(cents)

    def day_phrase(self, day: date, *, today: date) -> str:
        """`hoy`, `mañana (mar. 01/12)` or `jue. 03/12/2026`."""
        return es_tools.day_phrase(day, today=today)

    def prompt_text(self, summary: str, expires_at_local: datetime, *, today: date) -> str:
        """The summary, `Válido hasta las 14:32`, a blank line and `¿Confirmas?`."""
        date_part = "" if expires_at_local.date() == today else f" del {expires_at_local:%d/%m}"
        clock = es_tools.clock(expires_at_local)
        return f"{summary}\n{_DEADLINE}{clock}{date_part}\n\n¿Confirmas?"

    def verifying(self, *, summary: str, action_id: str) -> str:
        """Asks not to repeat: the effect may be there."""
        return (
            f"Estamos verificando el resultado: {named(summary, action_id)}. "
            "No lo pidas de nuevo; te avisamos en cuanto lo sepamos."
        )

    def processing(self, *, summary: str, action_id: str) -> str:
        """The provider has it."""
        return (
            f"El proveedor lo está procesando: {named(summary, action_id)}. "
            "Te avisamos cuando termine."
        )

    def done(self, *, summary: str, action_id: str) -> str:
        """Only what the ledger knows."""
        return f"Hecho: {named(summary, action_id)}."

    def unreadable_note(self, kind: InboundKind) -> str:
        """In round brackets: square ones are the ledger's."""
        return f"(envió {_MEDIA_NAMES.get(kind, 'algo')}, que aquí no se puede leer)"

    def model_unavailable(self) -> str:
        """No promise that somebody works on it: the person has to write again."""
        return "No pude responder ahora. Inténtalo de nuevo en unos minutos, por favor."

    def unsupported_input(self, kind: InboundKind) -> str | None:
        """For kinds that a person sends on purpose; None for the rest."""
        name = _MEDIA_NAMES.get(kind)
        return f"Todavía no puedo leer {name}. Escríbelo en texto, por favor." if name else None

    def press_the_button(self) -> str:
        """Only an act on the prompt decides."""
        return (
            "Para decidir, toca Confirmar o Cancelar en el mensaje de la solicitud. "
            "Si quieres cambiar algo, solo escribe qué cambia."
        )

    def event_confirmed(self, action_id: str) -> str:
        """The person pressed Confirm."""
        return f"[El usuario tocó Confirmar en la acción {action_id}]"

    def event_cancelled(self, action_id: str) -> str:
        """The person pressed Cancel."""
        return f"[El usuario tocó Cancelar en la acción {action_id}]"

    def event_typed_yes(self, action_id: str) -> str:
        """The person typed an exact yes."""
        return f"[El usuario confirmó por texto la acción {action_id}]"

    def event_expired(self, action_id: str) -> str:
        """Nobody decided in time."""
        return f"[La acción {action_id} venció sin ejecutarse]"

    def event_superseded(self, action_id: str) -> str:
        """A newer proposal took its place."""
        return f"[La acción {action_id} se reemplazó por una más nueva, sin ejecutarse]"

    def event_failed(self, action_id: str, *, reason: str) -> str:
        """Proved that nothing was done."""
        return f"[La acción {action_id} no se ejecutó: {shared.within_marker(reason)}]"

    def event_operator(self, action_id: str, *, verdict: Verdict) -> str:
        """An operator settled it. Raises KeyError for a verdict that is no operator's."""
        return f"[El equipo cerró la acción {action_id} {_OPERATOR_WORDS[verdict]}]"
