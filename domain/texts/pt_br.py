"""Portuguese (Brazil): what Aval itself says, and what it notes for the model."""

from datetime import date, datetime

from domain.actions import CloseReason, Status, Verdict
from domain.inbound import InboundKind
from domain.money import format_brl
from domain.texts import pt_br_tools, shared
from domain.texts.pt_br_conversation import PtBrConversation
from domain.texts.pt_br_questions import PtBrQuestions
from domain.texts.pt_br_tools import PtBrReasons, PtBrTools
from domain.texts.shared import FactWords, named
from domain.texts.tabled import TabledTexts

_CLOSED: dict[CloseReason, str | None] = {
    CloseReason.CANCELLED_BY_PERSON: "Certo, cancelado. Nada foi feito.",
    CloseReason.EXPIRED: "Esse pedido expirou e nada foi feito. Quer que eu refaça?",
    CloseReason.CONFIRMED_TOO_LATE: (
        "Você confirmou, mas não a tempo; nada foi feito. Quer que eu refaça?"
    ),
    CloseReason.SUPERSEDED: None,  # the newer prompt speaks for itself
    CloseReason.PROMPT_FAILED: None,  # nobody saw the question, so there is nothing to close
    CloseReason.EQUAL_EFFECT_LIVE: (
        "Isso já está feito ou em andamento em outro pedido igual; nada foi feito de novo."
    ),
    CloseReason.DIGEST_MISMATCH: (
        "Por segurança esse pedido foi encerrado e nada foi feito. Peça de novo, por favor."
    ),
    CloseReason.IDENTITY_CHANGED: (
        "O seu número ou a sua identificação no WhatsApp mudou; "
        "por segurança nada foi feito. Peça de novo, por favor."
    ),
    CloseReason.ROLE_GONE: "Você não tem mais permissão para isso; nada foi feito.",
    CloseReason.NO_LONGER_POSSIBLE: "Não é mais possível{detail}. Nada foi feito.",
    CloseReason.REJECTED: "O provedor recusou o pedido{detail}. Nada foi feito.",
    CloseReason.NOT_SENT: (
        "Não consegui falar com o provedor e nada foi feito. Quer que eu tente de novo?"
    ),
    CloseReason.CONFLICT: (
        "O provedor tem um registro diferente do que você confirmou. "
        "A equipe foi avisada; não peça de novo até resolvermos."
    ),
    CloseReason.SETTLED_BY_OPERATOR: "A equipe verificou: esse pedido não foi executado{detail}.",
    CloseReason.RESTORED: (
        "Por uma manutenção nossa esse pedido foi encerrado. "
        "Antes de pedir de novo, confira se ele já não foi feito."
    ),
    CloseReason.TOOL_GONE: "Essa função não está mais disponível; nada foi feito.",
}

_LATE_CONFIRM: dict[Status, str] = {
    Status.PENDING: "Esse pedido ainda espera a sua decisão: {what}.",
    Status.EXECUTING: "Já está em andamento: {what}. Não precisa confirmar de novo.",
    Status.EXECUTED: "Já está feito: {what}.",
    Status.FAILED: "Esse pedido não deu certo e nada foi feito: {what}. Quer que eu refaça?",
    Status.CANCELLED: "Esse pedido já foi cancelado e nada foi feito: {what}.",
    Status.EXPIRED: "Esse pedido expirou e nada foi feito: {what}. Quer que eu refaça?",
    Status.SUPERSEDED: "Esse pedido foi substituído por um mais novo: {what}.",
}

_LATE_CANCEL: dict[Status, str] = {
    Status.PENDING: "Esse pedido ainda espera a sua decisão: {what}.",
    Status.EXECUTING: "Já está em andamento, não dá mais para cancelar: {what}.",
    Status.EXECUTED: "Já foi executado, não dá mais para cancelar: {what}.",
    Status.FAILED: "Esse pedido já estava encerrado e nada foi feito: {what}.",
    Status.CANCELLED: "Esse pedido já estava cancelado e nada foi feito: {what}.",
    Status.EXPIRED: "Esse pedido já tinha expirado e nada foi feito: {what}.",
    Status.SUPERSEDED: "Esse pedido já tinha sido substituído por um mais novo: {what}.",
}

_STATUS_WORDS: dict[Status, str] = {
    Status.PENDING: "aguardando a decisão da pessoa",
    Status.EXECUTING: "em andamento, resultado ainda não conhecido",
    Status.EXECUTED: "feito",
    Status.FAILED: "não feito",
    Status.CANCELLED: "cancelado pela pessoa, não feito",
    Status.EXPIRED: "expirado sem decisão a tempo, não feito",
    Status.SUPERSEDED: "substituído por um pedido mais novo, não feito",
}

_MEDIA_NAMES: dict[InboundKind, str] = {
    InboundKind.AUDIO: "áudios",
    InboundKind.IMAGE: "imagens",
    InboundKind.VIDEO: "vídeos",
    InboundKind.DOCUMENT: "documentos",
    InboundKind.STICKER: "figurinhas",
    InboundKind.LOCATION: "localizações",
    InboundKind.CONTACTS: "contatos",
    InboundKind.ORDER: "pedidos do catálogo",
    InboundKind.FLOW: "formulários",
    InboundKind.LIST_REPLY: "respostas de lista",
    InboundKind.UNSUPPORTED: "esse tipo de mensagem",
    InboundKind.UNKNOWN: "esse tipo de mensagem",
}

_OPERATOR_WORDS: dict[Verdict, str] = {
    Verdict.EXECUTED: "como executada",
    Verdict.FAILED: "como não executada",
    Verdict.RESEND: "para novo envio",
}

_DEADLINE = "Válido até "

_FACT_WORDS = FactWords(
    head="Ações desta conversa segundo o registro do sistema:",
    deadline=_DEADLINE,
    action="acao",
    tool="ferramenta",
    state="situacao",
    states=_STATUS_WORDS,
    at="quando",
    summary="resumo",
    valid_until="valida_ate",
    reason="motivo",
    detail="detalhe",
    amount="valor",
    money=format_brl,
)


class PtBr(PtBrTools, PtBrReasons, PtBrQuestions, PtBrConversation, TabledTexts):
    """All texts in Portuguese (Brazil)."""

    language = "pt-BR"
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
        """`hoje`, `amanhã (ter., 01/12)` or `qui., 03/12/2026`."""
        return pt_br_tools.day_phrase(day, today=today)

    def prompt_text(self, summary: str, expires_at_local: datetime, *, today: date) -> str:
        """The summary, `Válido até 14:32`, a blank line and `Confirma?`."""
        date_part = "" if expires_at_local.date() == today else f" de {expires_at_local:%d/%m}"
        return f"{summary}\n{_DEADLINE}{expires_at_local:%H:%M}{date_part}\n\nConfirma?"

    def verifying(self, *, summary: str, action_id: str) -> str:
        """Asks not to repeat: the effect may be there."""
        return (
            f"Estamos verificando o resultado: {named(summary, action_id)}. "
            "Não peça de novo; avisamos assim que soubermos."
        )

    def processing(self, *, summary: str, action_id: str) -> str:
        """The provider has it."""
        return (
            f"Em processamento no provedor: {named(summary, action_id)}. Avisamos quando terminar."
        )

    def done(self, *, summary: str, action_id: str) -> str:
        """Only what the ledger knows."""
        return f"Feito: {named(summary, action_id)}."

    def unreadable_note(self, kind: InboundKind) -> str:
        """In round brackets: square ones are the ledger's."""
        return f"(enviou {_MEDIA_NAMES.get(kind, 'algo')}, que não pode ser lido aqui)"

    def model_unavailable(self) -> str:
        """No promise that somebody works on it: the person has to write again."""
        return "Não consegui responder agora. Tente de novo em alguns minutos, por favor."

    def unsupported_input(self, kind: InboundKind) -> str | None:
        """For kinds that a person sends on purpose; None for the rest."""
        name = _MEDIA_NAMES.get(kind)
        return f"Ainda não consigo ler {name}. Escreva em texto, por favor." if name else None

    def press_the_button(self) -> str:
        """Only an act on the prompt decides."""
        return (
            "Para decidir, toque em Confirmar ou Cancelar na mensagem do pedido. "
            "Se quiser mudar algo, é só escrever o que muda."
        )

    def event_confirmed(self, action_id: str) -> str:
        """The person pressed Confirm."""
        return f"[Usuário clicou em Confirmar na ação {action_id}]"

    def event_cancelled(self, action_id: str) -> str:
        """The person pressed Cancel."""
        return f"[Usuário clicou em Cancelar na ação {action_id}]"

    def event_typed_yes(self, action_id: str) -> str:
        """The person typed an exact yes."""
        return f"[Usuário confirmou por texto a ação {action_id}]"

    def event_expired(self, action_id: str) -> str:
        """Nobody decided in time."""
        return f"[A ação {action_id} expirou sem execução]"

    def event_superseded(self, action_id: str) -> str:
        """A newer proposal took its place."""
        return f"[A ação {action_id} foi substituída por uma mais nova, sem execução]"

    def event_failed(self, action_id: str, *, reason: str) -> str:
        """Proved that nothing was done."""
        return f"[A ação {action_id} não foi executada: {shared.within_marker(reason)}]"

    def event_operator(self, action_id: str, *, verdict: Verdict) -> str:
        """An operator settled it. Raises KeyError for a verdict that is no operator's."""
        return f"[A equipe encerrou a ação {action_id} {_OPERATOR_WORDS[verdict]}]"
