"""Spanish: why a tool call cannot be prepared, so that the model can ask the person."""

from collections.abc import Sequence
from datetime import date

from domain.documents import document_kind, mask_document
from domain.money import format_brl
from domain.texts.contract import QuestionTexts
from domain.texts.es_tools import full_day


class EsQuestions(QuestionTexts):
    """What is missing, ambiguous or not allowed; options are what this person may see."""

    def no_customer_link(self) -> str:
        """A public person whom no customer record knows."""
        return "No encontré un registro de cliente vinculado a esta persona."

    def say_which_customer(self) -> str:
        """A member works for many customers."""
        return "Falta decir el cliente: nombre, CPF/CNPJ o código."

    def customer_not_found(self, asked: str) -> str:
        """None, or none that this person may see."""
        return f"No encontré al cliente {asked!r}."

    def which_customer(self, asked: str, options: Sequence[str], *, more: bool) -> str:
        """Two or more: the person has to say which."""
        tail = "; y otros" if more else ""
        return f"Hay más de un cliente para {asked!r}: {'; '.join(options)}{tail}. ¿Cuál de ellos?"

    def customer_option(self, name: str, *, document: str | None, blocked: bool) -> str:
        """One of several: `João Silva (CPF ***.123.456-**)`."""
        notes = [f"{document_kind(document)} {mask_document(document)}"] if document else []
        notes += ["bloqueado"] if blocked else []
        return f"{name} ({', '.join(notes)})" if notes else name

    def customer_without_document(self, name: str) -> str:
        """A charge needs a payer's CPF or CNPJ."""
        return f"El registro de {name} no tiene CPF/CNPJ, necesario para el cobro."

    def professional_not_found(self, asked: str, options: Sequence[str]) -> str:
        """With those that there are."""
        return f"No encontré al profesional {asked!r}. Hay: {'; '.join(options)}."

    def which_professional(self, asked: str, options: Sequence[str]) -> str:
        """Two or more."""
        return f"Hay más de un profesional para {asked!r}: {'; '.join(options)}. ¿Cuál de ellos?"

    def not_a_slot(self, professional: str, free: Sequence[str]) -> str:
        """Outside hours or off the grid; with free times of that day."""
        tail = f" Libres ese día: {', '.join(free)}." if free else " No hay libres ese día."
        return f"{professional} no atiende en ese horario.{tail}"

    def already_booked(self) -> str:
        """The same customer, professional and time stand in the agenda already."""
        return "Ese horario ya está agendado para ese cliente."

    def booking_not_found(self, booking_id: int) -> str:
        """None, cancelled, or another person's."""
        return f"No encontré la cita {booking_id}."

    def charge_not_found(self, asked: str) -> str:
        """None, or another person's."""
        return f"No encontré el cobro {asked!r}."

    def which_charge(self, asked: str, options: Sequence[str]) -> str:
        """Two or more."""
        return f"Hay más de un cobro para {asked!r}: {'; '.join(options)}. ¿Cuál de ellos?"

    def charge_option(self, charge_id: int, *, amount_cents: int, due: date) -> str:
        """One of several: `n.º 701, R$ 150,00, vence el lun. 30/11/2026`."""
        return f"n.º {charge_id}, {format_brl(amount_cents)}, vence el {full_day(due)}"

    def nothing_to_refund(self, charge_id: int) -> str:
        """Refunded whole."""
        return f"El cobro n.º {charge_id} ya se reembolsó por completo."

    def refund_too_high(self, rest_cents: int) -> str:
        """More than what is left."""
        return f"El reembolso supera lo que queda del cobro: {format_brl(rest_cents)}."

    def amount_out_of_range(self, *, least_cents: int, most_cents: int) -> str:
        """Zero, negative or beyond the limit."""
        return f"El monto debe estar entre {format_brl(least_cents)} y {format_brl(most_cents)}."

    def balance_too_low(self, available_cents: int) -> str:
        """Less than what is asked for."""
        return f"El saldo disponible para transferir es de {format_brl(available_cents)}."

    def no_recipient(self) -> str:
        """No account that money may go to."""
        return "No encontré una cuenta de destino registrada y habilitada."

    def which_recipient(self, options: Sequence[str]) -> str:
        """Two or more."""
        return f"Hay más de una cuenta de destino: {'; '.join(options)}. ¿Cuál de ellas?"

    def email_unchanged(self) -> str:
        """The address is the present one."""
        return "Ese ya es el correo registrado."

    def one_at_a_time(self) -> str:
        """A second effect in one answer."""
        return "Solo una acción a la vez: esta no se propuso. Proponla después de la otra."

    def no_such_tool(self, name: str) -> str:
        """Unknown, or not offered to this person."""
        return f"No existe la herramienta {name!r}."

    def bad_input(self, problems: str) -> str:
        """`problems`: the fields and what is wrong with each."""
        return f"Argumentos no válidos: {problems}"
