"""Spanish: the bundled tools' summaries, feedback and reasons.

Words that are read alike from Mexico to Argentina, with `tú`. The traps: below a button "Cancelar"
nothing may be called cancelling, so an appointment is annulled; and one o'clock is `la`, every
other hour `las`.
"""

from datetime import date, datetime

from domain.documents import document_kind, mask_document
from domain.money import format_brl
from domain.payload import Frozen, int_at, text_at, text_or_none_at
from domain.texts.contract import ReasonTexts, ToolTexts
from domain.texts.shared import local_time

_WEEKDAYS = ("lun.", "mar.", "mié.", "jue.", "vie.", "sáb.", "dom.")


def full_day(day: date) -> str:
    """`jue. 03/12/2026`: what does not change its meaning tomorrow."""
    return f"{_WEEKDAYS[day.weekday()]} {day:%d/%m/%Y}"


def day_phrase(day: date, *, today: date) -> str:
    """`hoy`, `mañana (mar. 01/12)` or `jue. 03/12/2026`."""
    days_ahead = (day - today).days
    if days_ahead == 0:
        return "hoy"
    if days_ahead == 1:
        return f"mañana ({_WEEKDAYS[day.weekday()]} {day:%d/%m})"
    return full_day(day)


def clock(local: datetime) -> str:
    """`las 14:00`, `la 01:30`."""
    return f"{'la' if local.hour == 1 else 'las'} {local:%H:%M}"


def _asked_time(payload: Frozen, key: str, today: date) -> str:
    local = local_time(payload, key)
    return f"{day_phrase(local.date(), today=today)} a {clock(local)}"


def _stated_time(payload: Frozen, key: str) -> str:
    local = local_time(payload, key)
    return f"{full_day(local.date())} a {clock(local)}"


def _customer(payload: Frozen) -> str:
    name = text_at(payload, "customer_name")
    document = text_or_none_at(payload, "document")
    if document is None:
        return f"Cliente: {name}"
    return f"Cliente: {name} ({document_kind(document)} {mask_document(document)})"


class EsTools(ToolTexts):
    """Summaries to confirm and feedback once done."""

    def charge_summary(self, payload: Frozen, *, today: date) -> str:
        """The amount before the free text."""
        due = date.fromisoformat(text_at(payload, "due_date"))
        lines = [
            "Generar cobro Pix",
            _customer(payload),
            f"Monto: {format_brl(int_at(payload, 'amount_cents'))}",
            f"Vencimiento: {day_phrase(due, today=today)}",
        ]
        description = text_or_none_at(payload, "description")
        return "\n".join([*lines, f"Descripción: {description}"] if description else lines)

    def charge_done(self, payload: Frozen, result: Frozen) -> list[str]:
        """The feedback, then the Pix code alone: a message that can be copied whole."""
        amount = format_brl(int_at(payload, "amount_cents"))
        done = f"Cobro de {amount} generado para {text_at(payload, 'customer_name')}."
        code = text_or_none_at(result, "pix_code")
        if not code:
            return [f"{done} El proveedor todavía no devolvió el código Pix."]
        return [f"{done} Este es el código Pix para copiar y pegar:", code]

    def charge_default_description(self) -> str:
        """What the provider prints when nobody described the charge."""
        return "Cobro"

    def refund_summary(self, payload: Frozen) -> str:
        """Which charge, how much of how much, whose."""
        whole = format_brl(int_at(payload, "charge_amount_cents"))
        lines = [
            "Reembolsar cobro",
            f"Cobro: n.º {int_at(payload, 'charge_id')}, de {whole}",
            f"Monto del reembolso: {format_brl(int_at(payload, 'amount_cents'))}",
        ]
        before = int_at(payload, "refunded_before_cents")
        if before:
            lines.append(f"Ya reembolsado antes: {format_brl(before)}")
        return "\n".join([*lines, _customer(payload)])

    def refund_done(self, payload: Frozen) -> list[str]:
        """One line with amount, charge and customer."""
        amount = format_brl(int_at(payload, "amount_cents"))
        charge, name = int_at(payload, "charge_id"), text_at(payload, "customer_name")
        return [f"Reembolso de {amount} del cobro n.º {charge} hecho. Cliente: {name}."]

    def transfer_summary(self, payload: Frozen) -> str:
        """How much, and to which registered account."""
        amount = format_brl(int_at(payload, "amount_cents"))
        return f"Transferir saldo\nMonto: {amount}\nDestino: {self._destination(payload)}"

    def transfer_done(self, payload: Frozen) -> list[str]:
        """One line with amount and destination."""
        amount = format_brl(int_at(payload, "amount_cents"))
        return [f"Transferencia de {amount} hecha. Destino: {self._destination(payload)}."]

    def _destination(self, payload: Frozen) -> str:
        return f"{text_at(payload, 'recipient_name')} (cuenta registrada)"

    def booking_summary(self, payload: Frozen, *, today: date) -> str:
        """Who, with whom, when, how long."""
        return "\n".join(
            [
                "Agendar cita",
                _customer(payload),
                f"Con: {text_at(payload, 'professional_name')}",
                f"Cuándo: {_asked_time(payload, 'starts_at', today)}",
                f"Duración: {int_at(payload, 'minutes')} min",
            ]
        )

    def booking_done(self, payload: Frozen) -> list[str]:
        """The day in full: this message is read again tomorrow."""
        return [f"Cita agendada: {self._appointment(payload)}"]

    def reschedule_summary(self, payload: Frozen, *, today: date) -> str:
        """From when to when."""
        return "\n".join(
            [
                "Reprogramar cita",
                _customer(payload),
                f"Con: {text_at(payload, 'professional_name')}",
                f"Fecha actual: {_asked_time(payload, 'old_starts_at', today)}",
                f"Fecha nueva: {_asked_time(payload, 'starts_at', today)}",
                f"Duración: {int_at(payload, 'minutes')} min",
            ]
        )

    def reschedule_done(self, payload: Frozen) -> list[str]:
        """The new time, in full."""
        return [f"Cita reprogramada: {self._appointment(payload)}"]

    def cancel_booking_summary(self, payload: Frozen, *, today: date) -> str:
        """Which booking goes."""
        return "\n".join(
            [
                "Anular cita",
                _customer(payload),
                f"Con: {text_at(payload, 'professional_name')}",
                f"Cuándo: {_asked_time(payload, 'starts_at', today)}",
            ]
        )

    def cancel_booking_done(self, payload: Frozen) -> list[str]:
        """Which booking is gone, in full."""
        return [f"Cita anulada: {self._appointment(payload)}"]

    def _appointment(self, payload: Frozen) -> str:
        when, name = _stated_time(payload, "starts_at"), text_at(payload, "professional_name")
        return f"{when}, con {name}. Cliente: {text_at(payload, 'customer_name')}."

    def email_summary(self, payload: Frozen) -> str:
        """The address before, if there is one, and the new one."""
        old = text_or_none_at(payload, "old_email")
        lines = ["Actualizar correo electrónico", _customer(payload)]
        if old:
            lines.append(f"Correo actual: {old}")
        return "\n".join([*lines, f"Correo nuevo: {text_at(payload, 'email')}"])

    def email_done(self, payload: Frozen) -> list[str]:
        """The address that now stands."""
        email, name = text_at(payload, "email"), text_at(payload, "customer_name")
        return [f"Correo actualizado a {email}. Cliente: {name}."]


class EsReasons(ReasonTexts):
    """Why something is no longer possible."""

    def customer_gone(self) -> str:
        """No such customer any more, or no longer this person's."""
        return "no se encontró el registro del cliente"

    def customer_blocked(self) -> str:
        """Blocked since the question."""
        return "el cliente está bloqueado"

    def customer_changed(self) -> str:
        """A printed name or document changed."""
        return "los datos del cliente cambiaron después de la solicitud"

    def email_changed(self) -> str:
        """The address that the prompt called the present one changed."""
        return "el correo del cliente cambió después de la solicitud"

    def slot_taken(self) -> str:
        """Somebody else was faster."""
        return "ese horario se acaba de ocupar"

    def slot_past(self) -> str:
        """The time came while the question stood."""
        return "ese horario ya pasó"

    def professional_changed(self) -> str:
        """Renamed, gone, or with other hours."""
        return "los datos o el horario del profesional cambiaron después de la solicitud"

    def booking_changed(self) -> str:
        """Moved or cancelled meanwhile."""
        return "esa cita cambió o se anuló después de la solicitud"

    def due_date_past(self) -> str:
        """Midnight passed."""
        return "la fecha de vencimiento ya pasó"

    def charge_changed(self) -> str:
        """Refunded, or otherwise changed, meanwhile."""
        return "el cobro cambió después de la solicitud (puede que ya se haya reembolsado)"

    def balance_short(self) -> str:
        """The balance does not cover it any more."""
        return "el saldo disponible ya no cubre ese monto"

    def recipient_changed(self) -> str:
        """The registered account changed."""
        return "la cuenta de destino cambió después de la solicitud"
