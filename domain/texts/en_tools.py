"""English: the bundled tools' summaries, feedback and reasons.

The traps: `01/12` is a day in January to some readers and in December to others, so a day is named
with its month in letters; and below a button "Cancel" nothing may be called cancelling, so an
appointment is called off.
"""

from datetime import date

from domain.documents import document_kind, mask_document
from domain.money import format_brl_english as money
from domain.payload import Frozen, int_at, text_at, text_or_none_at
from domain.texts.contract import ReasonTexts, ToolTexts
from domain.texts.shared import local_time

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


def short_day(day: date) -> str:
    """`Tue 1 Dec`."""
    return f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}"


def full_day(day: date) -> str:
    """`Thu 3 Dec 2026`: what does not change its meaning tomorrow."""
    return f"{short_day(day)} {day.year}"


def day_phrase(day: date, *, today: date) -> str:
    """`today`, `tomorrow (Tue 1 Dec)` or `Thu 3 Dec 2026`."""
    days_ahead = (day - today).days
    if days_ahead == 0:
        return "today"
    return f"tomorrow ({short_day(day)})" if days_ahead == 1 else full_day(day)


def _asked_time(payload: Frozen, key: str, today: date) -> str:
    local = local_time(payload, key)
    return f"{day_phrase(local.date(), today=today)} at {local:%H:%M}"


def _stated_time(payload: Frozen, key: str) -> str:
    local = local_time(payload, key)
    return f"{full_day(local.date())} at {local:%H:%M}"


def _customer(payload: Frozen) -> str:
    name = text_at(payload, "customer_name")
    document = text_or_none_at(payload, "document")
    if document is None:
        return f"Customer: {name}"
    return f"Customer: {name} ({document_kind(document)} {mask_document(document)})"


class EnTools(ToolTexts):
    """Summaries to confirm and feedback once done."""

    def charge_summary(self, payload: Frozen, *, today: date) -> str:
        """The amount before the free text."""
        due = date.fromisoformat(text_at(payload, "due_date"))
        lines = [
            "Create Pix charge",
            _customer(payload),
            f"Amount: {money(int_at(payload, 'amount_cents'))}",
            f"Due: {day_phrase(due, today=today)}",
        ]
        description = text_or_none_at(payload, "description")
        return "\n".join([*lines, f"Description: {description}"] if description else lines)

    def charge_done(self, payload: Frozen, result: Frozen) -> list[str]:
        """The feedback, then the Pix code alone: a message that can be copied whole."""
        amount = money(int_at(payload, "amount_cents"))
        done = f"Charge of {amount} created for {text_at(payload, 'customer_name')}."
        code = text_or_none_at(result, "pix_code")
        if not code:
            return [f"{done} The provider has not returned the Pix code yet."]
        return [f"{done} Here is the Pix code to copy and paste:", code]

    def charge_default_description(self) -> str:
        """What the provider prints when nobody described the charge."""
        return "Charge"

    def refund_summary(self, payload: Frozen) -> str:
        """Which charge, how much of how much, whose."""
        whole = money(int_at(payload, "charge_amount_cents"))
        lines = [
            "Refund charge",
            f"Charge: no. {int_at(payload, 'charge_id')}, of {whole}",
            f"Amount to refund: {money(int_at(payload, 'amount_cents'))}",
        ]
        before = int_at(payload, "refunded_before_cents")
        if before:
            lines.append(f"Refunded before: {money(before)}")
        return "\n".join([*lines, _customer(payload)])

    def refund_done(self, payload: Frozen) -> list[str]:
        """One line with amount, charge and customer."""
        amount = money(int_at(payload, "amount_cents"))
        charge, name = int_at(payload, "charge_id"), text_at(payload, "customer_name")
        return [f"Refunded {amount} of charge no. {charge}. Customer: {name}."]

    def transfer_summary(self, payload: Frozen) -> str:
        """How much, and to which registered account."""
        amount = money(int_at(payload, "amount_cents"))
        return f"Transfer balance\nAmount: {amount}\nTo: {self._destination(payload)}"

    def transfer_done(self, payload: Frozen) -> list[str]:
        """One line with amount and destination."""
        amount = money(int_at(payload, "amount_cents"))
        return [f"Transferred {amount}. To: {self._destination(payload)}."]

    def _destination(self, payload: Frozen) -> str:
        return f"{text_at(payload, 'recipient_name')} (registered account)"

    def booking_summary(self, payload: Frozen, *, today: date) -> str:
        """Who, with whom, when, how long."""
        return "\n".join(
            [
                "Book appointment",
                _customer(payload),
                f"With: {text_at(payload, 'professional_name')}",
                f"When: {_asked_time(payload, 'starts_at', today)}",
                f"Length: {int_at(payload, 'minutes')} min",
            ]
        )

    def booking_done(self, payload: Frozen) -> list[str]:
        """The day in full: this message is read again tomorrow."""
        return [f"Appointment booked: {self._appointment(payload)}"]

    def reschedule_summary(self, payload: Frozen, *, today: date) -> str:
        """From when to when."""
        return "\n".join(
            [
                "Reschedule appointment",
                _customer(payload),
                f"With: {text_at(payload, 'professional_name')}",
                f"From: {_asked_time(payload, 'old_starts_at', today)}",
                f"To: {_asked_time(payload, 'starts_at', today)}",
                f"Length: {int_at(payload, 'minutes')} min",
            ]
        )

    def reschedule_done(self, payload: Frozen) -> list[str]:
        """The new time, in full."""
        return [f"Appointment rescheduled: {self._appointment(payload)}"]

    def cancel_booking_summary(self, payload: Frozen, *, today: date) -> str:
        """Which booking goes."""
        return "\n".join(
            [
                "Call off appointment",
                _customer(payload),
                f"With: {text_at(payload, 'professional_name')}",
                f"When: {_asked_time(payload, 'starts_at', today)}",
            ]
        )

    def cancel_booking_done(self, payload: Frozen) -> list[str]:
        """Which booking is gone, in full."""
        return [f"Appointment called off: {self._appointment(payload)}"]

    def _appointment(self, payload: Frozen) -> str:
        when, name = _stated_time(payload, "starts_at"), text_at(payload, "professional_name")
        return f"{when}, with {name}. Customer: {text_at(payload, 'customer_name')}."

    def email_summary(self, payload: Frozen) -> str:
        """The address before, if there is one, and the new one."""
        old = text_or_none_at(payload, "old_email")
        lines = ["Update email address", _customer(payload)]
        if old:
            lines.append(f"Current email: {old}")
        return "\n".join([*lines, f"New email: {text_at(payload, 'email')}"])

    def email_done(self, payload: Frozen) -> list[str]:
        """The address that now stands."""
        email, name = text_at(payload, "email"), text_at(payload, "customer_name")
        return [f"Email address updated to {email}. Customer: {name}."]


class EnReasons(ReasonTexts):
    """Why something is no longer possible."""

    def customer_gone(self) -> str:
        """No such customer any more, or no longer this person's."""
        return "the customer record was not found"

    def customer_blocked(self) -> str:
        """Blocked since the question."""
        return "the customer is blocked"

    def customer_changed(self) -> str:
        """A printed name or document changed."""
        return "the customer's details changed after the request"

    def email_changed(self) -> str:
        """The address that the prompt called the present one changed."""
        return "the customer's email address changed after the request"

    def slot_taken(self) -> str:
        """Somebody else was faster."""
        return "that time has just been taken"

    def slot_past(self) -> str:
        """The time came while the question stood."""
        return "that time has already passed"

    def professional_changed(self) -> str:
        """Renamed, gone, or with other hours."""
        return "the professional's details or working hours changed after the request"

    def booking_changed(self) -> str:
        """Moved or cancelled meanwhile."""
        return "that appointment was changed or called off after the request"

    def due_date_past(self) -> str:
        """Midnight passed."""
        return "the due date has already passed"

    def charge_changed(self) -> str:
        """Refunded, or otherwise changed, meanwhile."""
        return "the charge changed after the request (it may already have been refunded)"

    def balance_short(self) -> str:
        """The balance does not cover it any more."""
        return "the available balance no longer covers that amount"

    def recipient_changed(self) -> str:
        """The registered account changed."""
        return "the destination account changed after the request"
