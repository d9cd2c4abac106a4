"""English: why a tool call cannot be prepared, so that the model can ask the person."""

from collections.abc import Sequence
from datetime import date

from domain.documents import document_kind, mask_document
from domain.money import format_brl_english as money
from domain.texts.contract import QuestionTexts
from domain.texts.en_tools import full_day


class EnQuestions(QuestionTexts):
    """What is missing, ambiguous or not allowed; options are what this person may see."""

    def no_customer_link(self) -> str:
        """A public person whom no customer record knows."""
        return "I found no customer record linked to this person."

    def say_which_customer(self) -> str:
        """A member works for many customers."""
        return "Say which customer: name, CPF/CNPJ or code."

    def customer_not_found(self, asked: str) -> str:
        """None, or none that this person may see."""
        return f"I did not find the customer {asked!r}."

    def which_customer(self, asked: str, options: Sequence[str], *, more: bool) -> str:
        """Two or more: the person has to say which."""
        tail = "; and others" if more else ""
        return f"More than one customer fits {asked!r}: {'; '.join(options)}{tail}. Which one?"

    def customer_option(self, name: str, *, document: str | None, blocked: bool) -> str:
        """One of several: `João Silva (CPF ***.123.456-**)`."""
        notes = [f"{document_kind(document)} {mask_document(document)}"] if document else []
        notes += ["blocked"] if blocked else []
        return f"{name} ({', '.join(notes)})" if notes else name

    def customer_without_document(self, name: str) -> str:
        """A charge needs a payer's CPF or CNPJ."""
        return f"The record of {name} has no CPF/CNPJ, which a charge needs."

    def professional_not_found(self, asked: str, options: Sequence[str]) -> str:
        """With those that there are."""
        return f"I did not find the professional {asked!r}. There are: {'; '.join(options)}."

    def which_professional(self, asked: str, options: Sequence[str]) -> str:
        """Two or more."""
        return f"More than one professional fits {asked!r}: {'; '.join(options)}. Which one?"

    def not_a_slot(self, professional: str, free: Sequence[str]) -> str:
        """Outside hours or off the grid; with free times of that day."""
        tail = f" Free that day: {', '.join(free)}." if free else " Nothing is free that day."
        return f"{professional} has no appointments at that time.{tail}"

    def already_booked(self) -> str:
        """The same customer, professional and time stand in the agenda already."""
        return "That time is already booked for that customer."

    def booking_not_found(self, booking_id: int) -> str:
        """None, cancelled, or another person's."""
        return f"I did not find the appointment {booking_id}."

    def charge_not_found(self, asked: str) -> str:
        """None, or another person's."""
        return f"I did not find the charge {asked!r}."

    def which_charge(self, asked: str, options: Sequence[str]) -> str:
        """Two or more."""
        return f"More than one charge fits {asked!r}: {'; '.join(options)}. Which one?"

    def charge_option(self, charge_id: int, *, amount_cents: int, due: date) -> str:
        """One of several: `no. 701, R$ 150.00, due Mon 30 Nov 2026`."""
        return f"no. {charge_id}, {money(amount_cents)}, due {full_day(due)}"

    def nothing_to_refund(self, charge_id: int) -> str:
        """Refunded whole."""
        return f"Charge no. {charge_id} has already been refunded in full."

    def refund_too_high(self, rest_cents: int) -> str:
        """More than what is left."""
        return f"The refund is more than what is left of the charge: {money(rest_cents)}."

    def amount_out_of_range(self, *, least_cents: int, most_cents: int) -> str:
        """Zero, negative or beyond the limit."""
        return f"The amount must be between {money(least_cents)} and {money(most_cents)}."

    def balance_too_low(self, available_cents: int) -> str:
        """Less than what is asked for."""
        return f"The balance available to transfer is {money(available_cents)}."

    def no_recipient(self) -> str:
        """No account that money may go to."""
        return "I found no destination account that is registered and not blocked."

    def which_recipient(self, options: Sequence[str]) -> str:
        """Two or more."""
        return f"There is more than one destination account: {'; '.join(options)}. Which one?"

    def email_unchanged(self) -> str:
        """The address is the present one."""
        return "That is already the email address on record."

    def one_at_a_time(self) -> str:
        """A second effect in one answer."""
        return "Only one action at a time: this one was not proposed. Propose it after the other."

    def no_such_tool(self, name: str) -> str:
        """Unknown, or not offered to this person."""
        return f"There is no tool {name!r}."

    def bad_input(self, problems: str) -> str:
        """`problems`: the fields and what is wrong with each."""
        return f"Invalid arguments: {problems}"
