"""English: what Aval itself says, and what it notes for the model.

The trap: "cancelled" alone, after a request to call an appointment off, would read as if that had
been done. So what a press of Cancel ends is always named: the request.
"""

from datetime import date, datetime

from domain.actions import CloseReason, Status, Verdict
from domain.inbound import InboundKind
from domain.money import format_brl_english
from domain.texts import en_tools, shared
from domain.texts.en_conversation import EnConversation
from domain.texts.en_questions import EnQuestions
from domain.texts.en_tools import EnReasons, EnTools
from domain.texts.shared import FactWords, named
from domain.texts.tabled import TabledTexts

_CLOSED: dict[CloseReason, str | None] = {
    CloseReason.CANCELLED_BY_PERSON: "Okay, request cancelled. Nothing was done.",
    CloseReason.EXPIRED: "That request expired and nothing was done. Shall I prepare it again?",
    CloseReason.CONFIRMED_TOO_LATE: (
        "You confirmed, but not in time; nothing was done. Shall I prepare it again?"
    ),
    CloseReason.SUPERSEDED: None,  # the newer prompt speaks for itself
    CloseReason.PROMPT_FAILED: None,  # nobody saw the question, so there is nothing to close
    CloseReason.EQUAL_EFFECT_LIVE: (
        "This is already done or in progress under another equal request; "
        "nothing was done a second time."
    ),
    CloseReason.DIGEST_MISMATCH: (
        "For safety this request was closed and nothing was done. Please ask again."
    ),
    CloseReason.IDENTITY_CHANGED: (
        "Your number or your identity on WhatsApp changed; "
        "for safety nothing was done. Please ask again."
    ),
    CloseReason.ROLE_GONE: "You no longer have permission for this; nothing was done.",
    CloseReason.NO_LONGER_POSSIBLE: "This is no longer possible{detail}. Nothing was done.",
    CloseReason.REJECTED: "The provider refused the request{detail}. Nothing was done.",
    CloseReason.NOT_SENT: (
        "I could not reach the provider and nothing was done. Shall I prepare it again?"
    ),
    CloseReason.CONFLICT: (
        "The provider has a record that differs from what you confirmed. "
        "Our team has been told; please don't ask again until we have resolved it."
    ),
    CloseReason.SETTLED_BY_OPERATOR: "Our team checked: this request was not executed{detail}.",
    CloseReason.RESTORED: (
        "This request was closed because of maintenance on our side. "
        "Before you ask again, check that it has not been done already."
    ),
    CloseReason.TOOL_GONE: "This function is no longer available; nothing was done.",
}

_LATE_CONFIRM: dict[Status, str] = {
    Status.PENDING: "This request is still waiting for your decision: {what}.",
    Status.EXECUTING: "Already in progress: {what}. No need to confirm again.",
    Status.EXECUTED: "Already done: {what}.",
    Status.FAILED: (
        "This request did not go through and nothing was done: {what}. Shall I prepare it again?"
    ),
    Status.CANCELLED: "This request was already cancelled and nothing was done: {what}.",
    Status.EXPIRED: "This request expired and nothing was done: {what}. Shall I prepare it again?",
    Status.SUPERSEDED: "This request was replaced by a newer one: {what}.",
}

_LATE_CANCEL: dict[Status, str] = {
    Status.PENDING: "This request is still waiting for your decision: {what}.",
    Status.EXECUTING: "Already in progress, it can no longer be cancelled: {what}.",
    Status.EXECUTED: "Already executed, it can no longer be cancelled: {what}.",
    Status.FAILED: "This request was already closed and nothing was done: {what}.",
    Status.CANCELLED: "This request was already cancelled and nothing was done: {what}.",
    Status.EXPIRED: "This request had already expired and nothing was done: {what}.",
    Status.SUPERSEDED: "This request had already been replaced by a newer one: {what}.",
}

_STATUS_WORDS: dict[Status, str] = {
    Status.PENDING: "waiting for the person's decision",
    Status.EXECUTING: "in progress, outcome not known yet",
    Status.EXECUTED: "done",
    Status.FAILED: "not done",
    Status.CANCELLED: "cancelled by the person, not done",
    Status.EXPIRED: "expired without a decision in time, not done",
    Status.SUPERSEDED: "replaced by a newer request, not done",
}

_MEDIA_NAMES: dict[InboundKind, str] = {
    InboundKind.AUDIO: "audio messages",
    InboundKind.IMAGE: "pictures",
    InboundKind.VIDEO: "videos",
    InboundKind.DOCUMENT: "documents",
    InboundKind.STICKER: "stickers",
    InboundKind.LOCATION: "locations",
    InboundKind.CONTACTS: "contacts",
    InboundKind.ORDER: "catalog orders",
    InboundKind.FLOW: "forms",
    InboundKind.LIST_REPLY: "list replies",
    InboundKind.UNSUPPORTED: "this kind of message",
    InboundKind.UNKNOWN: "this kind of message",
}

_OPERATOR_WORDS: dict[Verdict, str] = {
    Verdict.EXECUTED: "as executed",
    Verdict.FAILED: "as not executed",
    Verdict.RESEND: "to be sent again",
}

_DEADLINE = "Valid until "

_FACT_WORDS = FactWords(
    head="Actions of this conversation according to the system's ledger:",
    deadline=_DEADLINE,
    action="action",
    tool="tool",
    state="state",
    states=_STATUS_WORDS,
    at="at",
    summary="summary",
    valid_until="valid_until",
    reason="reason",
    detail="detail",
    amount="amount",
    money=format_brl_english,
)


class En(EnTools, EnReasons, EnQuestions, EnConversation, TabledTexts):
    """All texts in English."""

    language = "en"
    confirm_title = "Confirm"
    cancel_title = "Cancel"
    closings = _CLOSED
    late_confirms = _LATE_CONFIRM
    late_cancels = _LATE_CANCEL
    fact_words = _FACT_WORDS

    def money(self, cents: int) -> str:
        """`R$ 1,234.56`."""
        return format_brl_english(cents)

    def day_phrase(self, day: date, *, today: date) -> str:
        """`today`, `tomorrow (Tue 1 Dec)` or `Thu 3 Dec 2026`."""
        return en_tools.day_phrase(day, today=today)

    def prompt_text(self, summary: str, expires_at_local: datetime, *, today: date) -> str:
        """The summary, `Valid until 14:32`, a blank line and `Do you confirm?`."""
        day = expires_at_local.date()
        date_part = "" if day == today else f" on {en_tools.short_day(day)}"
        return f"{summary}\n{_DEADLINE}{expires_at_local:%H:%M}{date_part}\n\nDo you confirm?"

    def verifying(self, *, summary: str, action_id: str) -> str:
        """Asks not to repeat: the effect may be there."""
        return (
            f"We are checking the outcome: {named(summary, action_id)}. "
            "Please don't ask again; we will tell you as soon as we know."
        )

    def processing(self, *, summary: str, action_id: str) -> str:
        """The provider has it."""
        return (
            f"The provider is processing it: {named(summary, action_id)}. "
            "We will tell you when it is finished."
        )

    def done(self, *, summary: str, action_id: str) -> str:
        """Only what the ledger knows."""
        return f"Done: {named(summary, action_id)}."

    def unreadable_note(self, kind: InboundKind) -> str:
        """In round brackets: square ones are the ledger's."""
        return f"(sent {_MEDIA_NAMES.get(kind, 'something')}, which cannot be read here)"

    def model_unavailable(self) -> str:
        """No promise that somebody works on it: the person has to write again."""
        return "I could not answer just now. Please try again in a few minutes."

    def unsupported_input(self, kind: InboundKind) -> str | None:
        """For kinds that a person sends on purpose; None for the rest."""
        name = _MEDIA_NAMES.get(kind)
        return f"I can't read {name} yet. Please write it as text." if name else None

    def press_the_button(self) -> str:
        """Only an act on the prompt decides."""
        return (
            "To decide, tap Confirm or Cancel on the message with the request. "
            "If you want to change something, just write what should change."
        )

    def event_confirmed(self, action_id: str) -> str:
        """The person pressed Confirm."""
        return f"[User pressed Confirm on action {action_id}]"

    def event_cancelled(self, action_id: str) -> str:
        """The person pressed Cancel."""
        return f"[User pressed Cancel on action {action_id}]"

    def event_typed_yes(self, action_id: str) -> str:
        """The person typed an exact yes."""
        return f"[User confirmed action {action_id} by text]"

    def event_expired(self, action_id: str) -> str:
        """Nobody decided in time."""
        return f"[Action {action_id} expired without being executed]"

    def event_superseded(self, action_id: str) -> str:
        """A newer proposal took its place."""
        return f"[Action {action_id} was replaced by a newer one, without being executed]"

    def event_failed(self, action_id: str, *, reason: str) -> str:
        """Proved that nothing was done."""
        return f"[Action {action_id} was not executed: {shared.within_marker(reason)}]"

    def event_operator(self, action_id: str, *, verdict: Verdict) -> str:
        """An operator settled it. Raises KeyError for a verdict that is no operator's."""
        return f"[The team settled action {action_id} {_OPERATOR_WORDS[verdict]}]"
