"""Portuguese (Brazil): why a tool call cannot be prepared, so that the model can ask the person."""

from collections.abc import Sequence
from datetime import date

from domain.documents import document_kind, mask_document
from domain.money import format_brl
from domain.texts.contract import QuestionTexts


class PtBrQuestions(QuestionTexts):
    """What is missing, ambiguous or not allowed; options are what this person may see."""

    def no_customer_link(self) -> str:
        """A public person whom no customer record knows."""
        return "Não encontrei um cadastro de cliente ligado a esta pessoa."

    def say_which_customer(self) -> str:
        """A member works for many customers."""
        return "Falta dizer o cliente: nome, CPF/CNPJ ou código."

    def customer_not_found(self, asked: str) -> str:
        """None, or none that this person may see."""
        return f"Não encontrei o cliente {asked!r}."

    def which_customer(self, asked: str, options: Sequence[str], *, more: bool) -> str:
        """Two or more: the person has to say which."""
        tail = "; e outros" if more else ""
        return f"Há mais de um cliente para {asked!r}: {'; '.join(options)}{tail}. Qual deles?"

    def customer_option(self, name: str, *, document: str | None, blocked: bool) -> str:
        """One of several: `João Silva (CPF ***.123.456-**)`."""
        notes = [f"{document_kind(document)} {mask_document(document)}"] if document else []
        notes += ["bloqueado"] if blocked else []
        return f"{name} ({', '.join(notes)})" if notes else name

    def customer_without_document(self, name: str) -> str:
        """A charge needs a payer's CPF or CNPJ."""
        return f"O cadastro de {name} não tem CPF/CNPJ, necessário para a cobrança."

    def professional_not_found(self, asked: str, options: Sequence[str]) -> str:
        """With those that there are."""
        return f"Não encontrei o profissional {asked!r}. Há: {'; '.join(options)}."

    def which_professional(self, asked: str, options: Sequence[str]) -> str:
        """Two or more."""
        return f"Há mais de um profissional para {asked!r}: {'; '.join(options)}. Qual deles?"

    def not_a_slot(self, professional: str, free: Sequence[str]) -> str:
        """Outside hours or off the grid; with free times of that day."""
        tail = f" Livres nesse dia: {', '.join(free)}." if free else " Não há livres nesse dia."
        return f"{professional} não atende nesse horário.{tail}"

    def already_booked(self) -> str:
        """The same customer, professional and time stand in the agenda already."""
        return "Esse horário já está marcado para esse cliente."

    def booking_not_found(self, booking_id: int) -> str:
        """None, cancelled, or another person's."""
        return f"Não encontrei o agendamento {booking_id}."

    def charge_not_found(self, asked: str) -> str:
        """None, or another person's."""
        return f"Não encontrei a cobrança {asked!r}."

    def which_charge(self, asked: str, options: Sequence[str]) -> str:
        """Two or more."""
        return f"Há mais de uma cobrança para {asked!r}: {'; '.join(options)}. Qual delas?"

    def charge_option(self, charge_id: int, *, amount_cents: int, due: date) -> str:
        """One of several: `nº 701, R$ 150,00, vence 30/11/2026`."""
        return f"nº {charge_id}, {format_brl(amount_cents)}, vence {due:%d/%m/%Y}"

    def nothing_to_refund(self, charge_id: int) -> str:
        """Refunded whole."""
        return f"A cobrança nº {charge_id} já foi estornada por inteiro."

    def refund_too_high(self, rest_cents: int) -> str:
        """More than what is left."""
        return f"O estorno passa do que resta da cobrança: {format_brl(rest_cents)}."

    def amount_out_of_range(self, *, least_cents: int, most_cents: int) -> str:
        """Zero, negative or beyond the limit."""
        return f"O valor deve ficar entre {format_brl(least_cents)} e {format_brl(most_cents)}."

    def balance_too_low(self, available_cents: int) -> str:
        """Less than what is asked for."""
        return f"O saldo disponível para transferir é de {format_brl(available_cents)}."

    def no_recipient(self) -> str:
        """No account that money may go to."""
        return "Não encontrei uma conta de destino cadastrada e liberada."

    def which_recipient(self, options: Sequence[str]) -> str:
        """Two or more."""
        return f"Há mais de uma conta de destino: {'; '.join(options)}. Qual delas?"

    def email_unchanged(self) -> str:
        """The address is the present one."""
        return "Esse já é o e-mail do cadastro."

    def one_at_a_time(self) -> str:
        """A second effect in one answer."""
        return "Apenas uma ação por vez: esta não foi proposta. Proponha-a depois da outra."

    def no_such_tool(self, name: str) -> str:
        """Unknown, or not offered to this person."""
        return f"Não existe a ferramenta {name!r}."

    def bad_input(self, problems: str) -> str:
        """`problems`: the fields and what is wrong with each."""
        return f"Argumentos inválidos: {problems}"
