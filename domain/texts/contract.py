"""What every language must be able to say.

Texts about actions are functions of the frozen payload and result, so that what is said is what
runs; the model writes no word of them (design §7). Times and days arrive in the account's zone.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar

from domain.actions import CloseReason, Status, Verdict
from domain.inbound import InboundKind
from domain.payload import Frozen

REFERENCE_CHARS = 6
"""Enough to tell a conversation's actions apart (1 in 16 million), short enough to read aloud."""


def short_reference(action_id: str) -> str:
    """Return how texts name an action: the first six hex of its id."""
    return action_id[:REFERENCE_CHARS]


@dataclass(frozen=True, kw_only=True)
class ActionFact:
    """What the ledger knows of one action, for the model. `at` and `expires_at` are local times."""

    action_id: str
    tool: str
    summary: str
    status: Status
    at: datetime
    expires_at: datetime | None = None
    close_reason: CloseReason | None = None
    detail: str | None = None
    payload: Frozen
    result: Frozen | None = None


class ToolTexts(ABC):
    """The bundled tools: a summary to confirm, and the feedback once it is done.

    Summaries are without deadline and question. Each feedback item is one message.
    """

    @abstractmethod
    def charge_summary(self, payload: Frozen, *, today: date) -> str: ...
    @abstractmethod
    def charge_done(self, payload: Frozen, result: Frozen) -> list[str]: ...
    @abstractmethod
    def charge_default_description(self) -> str: ...
    @abstractmethod
    def refund_summary(self, payload: Frozen) -> str: ...
    @abstractmethod
    def refund_done(self, payload: Frozen) -> list[str]: ...
    @abstractmethod
    def transfer_summary(self, payload: Frozen) -> str: ...
    @abstractmethod
    def transfer_done(self, payload: Frozen) -> list[str]: ...
    @abstractmethod
    def booking_summary(self, payload: Frozen, *, today: date) -> str: ...
    @abstractmethod
    def booking_done(self, payload: Frozen) -> list[str]: ...
    @abstractmethod
    def reschedule_summary(self, payload: Frozen, *, today: date) -> str: ...
    @abstractmethod
    def reschedule_done(self, payload: Frozen) -> list[str]: ...
    @abstractmethod
    def cancel_booking_summary(self, payload: Frozen, *, today: date) -> str: ...
    @abstractmethod
    def cancel_booking_done(self, payload: Frozen) -> list[str]: ...
    @abstractmethod
    def email_summary(self, payload: Frozen) -> str: ...
    @abstractmethod
    def email_done(self, payload: Frozen) -> list[str]: ...


class ReasonTexts(ABC):
    """Why something is no longer possible: one line, without a full stop, to follow a colon."""

    @abstractmethod
    def customer_gone(self) -> str: ...
    @abstractmethod
    def customer_blocked(self) -> str: ...
    @abstractmethod
    def customer_changed(self) -> str: ...
    @abstractmethod
    def email_changed(self) -> str: ...
    @abstractmethod
    def slot_taken(self) -> str: ...
    @abstractmethod
    def slot_past(self) -> str: ...
    @abstractmethod
    def professional_changed(self) -> str: ...
    @abstractmethod
    def booking_changed(self) -> str: ...
    @abstractmethod
    def due_date_past(self) -> str: ...
    @abstractmethod
    def charge_changed(self) -> str: ...
    @abstractmethod
    def balance_short(self) -> str: ...
    @abstractmethod
    def recipient_changed(self) -> str: ...


class QuestionTexts(ABC):
    """Why a tool call cannot be prepared, for the model, which asks the person in these words."""

    @abstractmethod
    def no_customer_link(self) -> str: ...
    @abstractmethod
    def say_which_customer(self) -> str: ...
    @abstractmethod
    def customer_not_found(self, asked: str) -> str: ...
    @abstractmethod
    def which_customer(self, asked: str, options: Sequence[str], *, more: bool) -> str: ...
    @abstractmethod
    def customer_option(self, name: str, *, document: str | None, blocked: bool) -> str: ...
    @abstractmethod
    def customer_without_document(self, name: str) -> str: ...
    @abstractmethod
    def professional_not_found(self, asked: str, options: Sequence[str]) -> str: ...
    @abstractmethod
    def which_professional(self, asked: str, options: Sequence[str]) -> str: ...
    @abstractmethod
    def not_a_slot(self, professional: str, free: Sequence[str]) -> str: ...
    @abstractmethod
    def already_booked(self) -> str: ...
    @abstractmethod
    def booking_not_found(self, booking_id: int) -> str: ...
    @abstractmethod
    def charge_not_found(self, asked: str) -> str: ...
    @abstractmethod
    def which_charge(self, asked: str, options: Sequence[str]) -> str: ...
    @abstractmethod
    def charge_option(self, charge_id: int, *, amount_cents: int, due: date) -> str: ...
    @abstractmethod
    def nothing_to_refund(self, charge_id: int) -> str: ...
    @abstractmethod
    def refund_too_high(self, rest_cents: int) -> str: ...
    @abstractmethod
    def amount_out_of_range(self, *, least_cents: int, most_cents: int) -> str: ...
    @abstractmethod
    def balance_too_low(self, available_cents: int) -> str: ...
    @abstractmethod
    def no_recipient(self) -> str: ...
    @abstractmethod
    def which_recipient(self, options: Sequence[str]) -> str: ...
    @abstractmethod
    def email_unchanged(self) -> str: ...
    @abstractmethod
    def one_at_a_time(self) -> str: ...
    @abstractmethod
    def no_such_tool(self, name: str) -> str: ...
    @abstractmethod
    def bad_input(self, problems: str) -> str: ...


class ConversationTexts(ABC):
    """Handing a conversation over to a human, and asking for which account a member works."""

    @abstractmethod
    def nothing_known(self) -> str:
        """The truth in place of a claim, where the conversation has no action at all."""

    @abstractmethod
    def hand_over_summary(self) -> str: ...
    @abstractmethod
    def human_coming(self) -> str: ...
    @abstractmethod
    def which_account(self, names: Sequence[str]) -> str: ...
    @abstractmethod
    def account_chosen(self, name: str) -> str: ...
    @abstractmethod
    def account_line(self, name: str) -> str: ...
    @abstractmethod
    def change_account_words(self) -> str: ...


class Texts(ToolTexts, ReasonTexts, QuestionTexts, ConversationTexts):
    """All that Aval itself says to a person or notes for the model, in one language."""

    language: ClassVar[str]
    confirm_title: ClassVar[str]
    cancel_title: ClassVar[str]

    @abstractmethod
    def money(self, cents: int) -> str:
        """An amount, always in reais; only the marks are the language's: `R$ 1.234,56`."""

    @abstractmethod
    def day_phrase(self, day: date, *, today: date) -> str:
        """How a day is named in a question: `hoje`, `amanhã (ter., 01/12)`, `qui., 03/12/2026`."""

    @abstractmethod
    def prompt_text(self, summary: str, expires_at_local: datetime, *, today: date) -> str:
        """Summary, deadline (with its date if that is not today), blank line, question."""

    @abstractmethod
    def with_reference(self, text: str, *, action_id: str) -> str:
        """The text and the action's short reference, for what may arrive twice."""

    @abstractmethod
    def closed(self, reason: CloseReason, *, detail: str | None = None) -> str | None:
        """What a person hears when an action ended without its effect; None: nothing.

        `detail`: a reason in his language, or the provider's own words.
        """

    @abstractmethod
    def late_confirm(self, status: Status, *, summary: str, action_id: str) -> str:
        """The answer to Confirm on an action that is pending no more."""

    @abstractmethod
    def late_cancel(self, status: Status, *, summary: str, action_id: str) -> str:
        """The answer to Cancel on an action that is pending no more."""

    @abstractmethod
    def verifying(self, *, summary: str, action_id: str) -> str:
        """The outcome is unknown; said once."""

    @abstractmethod
    def processing(self, *, summary: str, action_id: str) -> str:
        """The provider has it and is not finished."""

    @abstractmethod
    def done(self, *, summary: str, action_id: str) -> str:
        """The effect is proved, and the tool has no words of its own for it."""

    @abstractmethod
    def unreadable_note(self, kind: InboundKind) -> str:
        """What stands in the model's history for a message that it cannot read."""

    @abstractmethod
    def model_unavailable(self) -> str:
        """No answer could be thought."""

    @abstractmethod
    def unsupported_input(self, kind: InboundKind) -> str | None:
        """The answer to input that cannot be read; None where there is nothing to answer."""

    @abstractmethod
    def press_the_button(self) -> str:
        """The reminder, once per action, that only the buttons (or an exact yes) decide."""

    @abstractmethod
    def event_confirmed(self, action_id: str) -> str: ...
    @abstractmethod
    def event_cancelled(self, action_id: str) -> str: ...
    @abstractmethod
    def event_typed_yes(self, action_id: str) -> str: ...
    @abstractmethod
    def event_expired(self, action_id: str) -> str: ...
    @abstractmethod
    def event_superseded(self, action_id: str) -> str: ...
    @abstractmethod
    def event_failed(self, action_id: str, *, reason: str) -> str: ...
    @abstractmethod
    def event_operator(self, action_id: str, *, verdict: Verdict) -> str: ...
    @abstractmethod
    def facts_text(self, facts: Sequence[ActionFact]) -> str:
        """The ledger's facts for the model: one JSON object a line, data only, no instruction.

        Empty without facts.
        """
